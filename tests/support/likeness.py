"""What a comparison of two faces, or of two voices, gives by the default profile."""

from __future__ import annotations

from palprep.rules import SAME_PERSON, SAME_VOICE, Check, load_profile


def judge_likeness(
    first: str, second: str, similarity: float | None, files: tuple[str, ...] = ()
) -> Check:
    """The check of two files whose faces are so similar; None where one shows no face. ``files``
    holds the SHA-256 of both."""
    limits = load_profile().pairs[SAME_PERSON.id]
    check = SAME_PERSON.judge(first, second, similarity, limits)
    return check.model_copy(update={"files": files})


def judge_voices(first: str, second: str, similarity: float | None) -> Check:
    """The check of two files whose voices are so similar; None where nobody speaks in one."""
    return SAME_VOICE.judge(first, second, similarity, load_profile().pairs[SAME_VOICE.id])

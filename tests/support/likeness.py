"""What a comparison of two faces gives, by the default profile."""

from __future__ import annotations

from palprep.rules import SAME_PERSON, Check, judge_pair, load_profile


def judge_likeness(first: str, second: str, similarity: float | None) -> Check:
    """The check of two files whose faces are so similar; None where one shows no face."""
    return judge_pair(first, second, similarity, load_profile().pairs[SAME_PERSON.id])

"""Was the required consent statement spoken, word by word?"""

from __future__ import annotations

from pathlib import Path

from palprep.consent.facts import ConsentFacts
from palprep.consent.listeners import Listeners
from palprep.consent.opening import OPENING_S, read_opening
from palprep.media.source import Source
from palprep.rules.consent_grading import grade_statement
from palprep.rules.profile import Profile, load_profile
from palprep.vocabulary import DEFAULT_PROFILE, FileInput


def verify_consent(
    path: FileInput | Source,
    *,
    full_name: str,
    statement: str | None = None,
    language: str = "en",
    model: Listeners | str | Path | None = None,
    window_s: float = OPENING_S,
    profile: str | Path | Profile = DEFAULT_PROFILE,
) -> ConsentFacts:
    """Verify the consent statement in the opening of a recording or video.

    ``statement`` is the service's own text, ``{full_name}`` or the very name in it; without it
    palprep's template for the profile and language is used. ``model`` are loaded models, or the
    directory of a CTranslate2 Whisper model that listens first; without it the installed default
    (English only) does. The statement must begin within the first ``window_s`` seconds. The limits
    of ``profile`` grade what was heard.

    The outcome is ``unknown``, with the command that helps among the reasons, when the default
    model is not installed or does not know the language. Raises MediaError for a file that
    cannot be read, ToolMissing for a named model that is missing, ToolFailed for a damaged model,
    ProfileError for a profile that cannot be read, and UsageError for a language without a
    statement, or a statement without the name.
    """
    limits = profile if isinstance(profile, Profile) else load_profile(profile)
    source = Source.of(path)
    reading = read_opening(
        source,
        full_name=full_name,
        statement=statement,
        language=language,
        model=model,
        window_s=window_s,
        profile=limits.name,
    )
    graded = grade_statement(reading, limits.consent)
    return graded.model_copy(update={"path": source.shown})

"""Was the required consent statement spoken, word by word; and its wording, whoever spoke it?"""

from __future__ import annotations

from pathlib import Path

from palprep import consent
from palprep.media import Source
from palprep.rules import Profile, grade_statement, load_profile
from palprep.values import Outcome, typed
from palprep.vocabulary import DEFAULT_PROFILE, FileInput

_STAND_IN = "Somebody Else"
"""A name to listen with before the real one is known. The words around it show where it stands."""

_MOST_NAME_WORDS = 8
"""Where more words are heard in the name's place, they are not a name alone."""


@typed("full_name", "spoken_as", "statement", "language", "whisper_model", "code")
def verify_consent(
    path: FileInput | Source,
    *,
    full_name: str,
    spoken_as: str | None = None,
    statement: str | None = None,
    language: str = "en",
    whisper_model: consent.Whisper | str | Path | None = None,
    code: consent.AskedCode | None = None,
    profile: str | Path | Profile = DEFAULT_PROFILE,
) -> consent.ConsentFacts:
    """Verify the consent statement in the opening of a recording or video.

    ``spoken_as`` is how the name sounds, in Latin letters. Give it if the spelling does not show
    that; it is listened for instead of the name. ``statement`` is the service's own text, with
    ``{full_name}`` in it. Without it palprep's template for the language is used.
    ``whisper_model`` is the folder of a Whisper model that listens first, or a loaded one.
    Without it the installed default listens, which knows English only. The statement must begin in
    the first 30 seconds. The limits of ``profile`` grade what was heard. ``code`` is listened for
    after the statement (:func:`palprep.journal.asked_code`).

    The outcome is ``unknown``, with the command that helps among the reasons, when the default
    model is not installed or does not know the language. Raises MediaError for a file that
    cannot be read, ToolMissing for a named model that is missing, ToolFailed for a damaged model,
    ProfileError for a profile that cannot be read, and UsageError for a language without a
    statement, or a statement without the name.
    """
    limits = load_profile(profile)
    source = Source.of(path)
    required = consent.statement_for(full_name, statement, language=language, spoken_as=spoken_as)
    required = required._replace(code=code)
    reading = consent.model_for(required, whisper_model)
    if isinstance(reading, consent.Whisper):
        samples = consent.decode_opening(source, required)
        reading = consent.read_samples(samples, required, reading)
    graded = grade_statement(reading, limits.consent)
    return graded.model_copy(update={"path": source.shown})


def verify_wording(
    path: FileInput | Source,
    *,
    statement: str,
    language: str = "en",
    model: consent.Whisper | str | Path | None = None,
) -> consent.ConsentFacts:
    """Verify the statement as :func:`~palprep.verify_consent` does, with any name in it.

    ``statement`` holds ``{full_name}`` where the name is said. It is listened to twice: to hear
    which name stands there, and with that name, which is the ``full_name`` of the result. Where no
    name is heard, or words that negate in its place, the outcome is ``fail``.

    Raises as ``verify_consent`` does.
    """
    source = Source.of(path)
    limits = load_profile()
    unnamed = consent.statement_for(_STAND_IN, statement, language=language)
    listener = consent.model_for(unnamed, model)
    if isinstance(listener, consent.StatementReading):
        return grade_statement(listener, limits.consent)
    samples = consent.decode_opening(source, unnamed)

    def read(full_name: str) -> consent.StatementReading:
        required = consent.statement_for(full_name, statement, language=language)
        return consent.read_samples(samples, required, listener)

    first = read(_STAND_IN)
    graded = grade_statement(first, limits.consent)
    if not any(part.aligned for part in first.parts):
        return graded
    name = next((part.name.heard for part in first.parts if part.name is not None), "")
    wrong = _why_no_name(name)
    if wrong is not None:
        return graded.model_copy(update={"outcome": Outcome.FAIL, "reasons": (wrong,)})
    return grade_statement(read(name.strip(" .,;:!?")), limits.consent)


def _why_no_name(heard: str) -> str | None:
    """Why what was heard in the name's place cannot be a name; None when it can."""
    words = consent.split_words(heard)
    if not any(character.isalpha() for character in heard):
        return "No name is heard where the full name must be said."
    if len(words) > _MOST_NAME_WORDS or any(consent.negates(word, ()) for word in words):
        return f"“{heard}” is heard where the full name must be said."
    return None

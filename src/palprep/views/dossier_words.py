"""What a consent dossier says, in words, the same on every surface."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import NamedTuple

from palprep.dossier import Dossier, Entry, ExaminedDossier, Flaw
from palprep.rules import consent_spoken
from palprep.values import Outcome
from palprep.views.format import stamp
from palprep.views.marked_words import headline


class Standing(NamedTuple):
    """Whether a consent holds: one word and a sentence, how it looks, and why in sentences."""

    word: str
    outcome: Outcome
    sentence: str
    reasons: tuple[str, ...]


def standing(examined: ExaminedDossier, now: dt.datetime) -> Standing:
    """How the consent stands at this moment. One that holds passes only without any doubt.
    A doubt about the statement itself leaves it open."""
    doubts = tuple(dict.fromkeys(_doubts(examined.dossier)))
    if examined.flaws:
        found = "FLAWED", Outcome.FAIL, "this dossier did not prove what it says."
    elif examined.dossier.is_open(now):
        said = "it was open whether this consent is given: a person must listen, and decide."
        found = "OPEN", Outcome.WARN, said
    elif not examined.dossier.in_force(now):
        found = "VOID", Outcome.FAIL, "this consent did not hold."
    elif doubts:
        found = "HOLDS", Outcome.WARN, "this consent held, with doubts."
    else:
        found = "HOLDS", Outcome.PASS, "nothing in this dossier spoke against this consent."
    word, outcome, said = found
    reasons = (*_broken(examined), *_ended(examined, now), *doubts)
    return Standing(word, outcome, f"On {stamp(now)} {said}", reasons)


def entry_words(entry: Entry) -> str:
    """What an entry records, in sentences."""
    match entry.kind:
        case "evidence":
            return " ".join(("What was heard was put on record.", *_made_of(entry)))
        case "expiry":
            what = f"The consent was given an end: {_moment(entry.expires_at)}."
        case "revocation":
            what = f"The person took the consent back: {_moment(entry.revoked_at)}."
        case "waiver":
            return f"Consent was waived: the work went on without it. {entry.note or ''}".rstrip()
    return f"{what} Note: {entry.note}" if entry.note else what


def _moment(at: dt.datetime | None) -> str:
    return stamp(at) if at else "no time is recorded"


def _made_of(entry: Entry) -> Iterator[str]:
    output, source = entry.output, entry.source
    if output is None or source is None:
        return
    if output.sha256 == source.sha256:
        yield f"The prepared video {output.name} is the original, byte for byte."
    else:
        yield f"The prepared video {output.name} was made of the original {source.name}."


def flaw_words(flaw: Flaw) -> str:
    """A flaw, and the entry that has it."""
    return flaw.problem if flaw.entry is None else f"entry {flaw.entry}: {flaw.problem}"


def _broken(examined: ExaminedDossier) -> Iterator[str]:
    for flaw in examined.flaws:
        said = flaw_words(flaw)
        yield f"{said[:1].upper()}{said[1:]}."


def _ended(examined: ExaminedDossier, now: dt.datetime) -> Iterator[str]:
    dossier = examined.dossier
    consent = dossier.evidence.consent
    yield headline(consent) if consent else "The dossier holds no reading of the statement."
    if dossier.revoked_at is not None:
        tense = "took the consent back" if dossier.revoked_at <= now else "takes the consent back"
        yield f"The person {tense} on {stamp(dossier.revoked_at)}."
    if dossier.expires_at is not None:
        tense = "expired" if dossier.expires_at <= now else "expires"
        yield f"The consent {tense} on {stamp(dossier.expires_at)}."


def _doubts(dossier: Dossier) -> Iterator[str]:
    """What speaks for a closer look: at the words, and at who is seen while they are spoken."""
    consent = dossier.evidence.consent
    if consent is None:
        return
    if consent.outcome is not Outcome.PASS:
        yield from consent.reasons
    # Where nothing was heard, there is no one to look at.
    for check in dossier.evidence.checks if consent.outcome.passed else ():
        if check.id != consent_spoken.id and check.outcome != Outcome.PASS:
            yield check.sentence

"""What a consent dossier says, in words, the same on every surface."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import NamedTuple

from palprep.dossier.chain import Entry, Flaw
from palprep.dossier.files import ExaminedDossier
from palprep.values import Outcome
from palprep.views.format import stamp
from palprep.views.marked_words import headline


class Standing(NamedTuple):
    """Whether a consent holds: one word, how it looks, and why in sentences."""

    word: str
    outcome: Outcome
    reasons: tuple[str, ...]


def standing(examined: ExaminedDossier, now: dt.datetime) -> Standing:
    """How the consent stands at this moment."""
    reasons = (*_broken(examined), *_ended(examined, now))
    if examined.flaws:
        return Standing("FLAWED", Outcome.FAIL, reasons)
    if not examined.dossier.in_force(now):
        return Standing("VOID", Outcome.FAIL, reasons)
    return Standing("HOLDS", Outcome.PASS, reasons)


def entry_words(entry: Entry) -> str:
    """What an entry records."""
    match entry.kind:
        case "evidence":
            heard = entry.consent.outcome if entry.consent else "missing"
            files = " from ".join(proof.name for proof in (entry.output, entry.source) if proof)
            return f"evidence: statement {heard}; {files}"
        case "expiry":
            what = f"expires {stamp(entry.expires_at) if entry.expires_at else 'never'}"
        case "revocation":
            what = f"revoked {stamp(entry.revoked_at) if entry.revoked_at else 'never'}"
        case "waiver":
            what = "gone on without consent"
    return f"{what}: {entry.note}" if entry.note else what


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

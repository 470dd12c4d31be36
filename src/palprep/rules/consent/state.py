"""Whether consent holds: the evidence, a person's decision, and the state that follows from both.

Pure values and functions. A run, ``make_replica``, the dossier, ``palprep status`` and the page all
ask :func:`consent_state`.
"""

from __future__ import annotations

import datetime as dt
from typing import Literal

from palprep.rules.texts.words import stamp
from palprep.values import Role, Span, Value


class ConsentFile(Value):
    """A prepared video that holds the consent or is trained on it; or a recording, which must hold
    the same voice."""

    role: Role | None
    path: str
    """Relative to the journal's folder if it lies below it."""
    sha256: str
    """Of the prepared file, in hex; of the source where nothing was prepared, or empty."""
    source_sha256: str | None


class ConsentDoubt(Value):
    """A doubt about a consent that a person must decide. Nothing of the consent is missing."""

    check: str
    """The id of the check that leaves the doubt."""
    sentence: str
    """What it found. The same finding is the same doubt."""
    words: str
    """The file, what was found, what to do, and the seconds to listen to or to watch."""
    stretch: Span | None
    """Those seconds, of the prepared file; None where the statement has no times."""


class ConsentEvidence(Value):
    """What the checks found of a person's consent, in sentences."""

    files: tuple[ConsentFile, ...] = ()
    against: tuple[str, ...] = ()
    """Which files are of different people. No decision and no waiver passes over it."""
    missing: tuple[str, ...] = ()
    """Empty when the statement was heard and matches. Only a waiver passes over it."""
    ended: tuple[str, ...] = ()
    """Why it lasts no more: it was taken back, or has expired. Only a new statement helps."""
    refused: tuple[str, ...] = ()
    """That somebody refused this take, also in another file. Only a later decision, or a new
    statement, passes over it."""
    doubts: tuple[ConsentDoubt, ...] = ()
    """What a person's decision, or a waiver, passes over."""

    def is_about(self, other: ConsentEvidence) -> bool:
        """Whether all files of the other evidence, unchanged, are among its own."""
        return {each.sha256 for each in self.files}.issuperset(each.sha256 for each in other.files)

    @property
    def waivable(self) -> tuple[str, ...]:
        """What a waiver passes over."""
        return self.missing or tuple(each.words for each in self.doubts)


class ConsentDecision(Value):
    """What a person decided about doubts, and on which evidence.

    ``by`` is the name that the person gave. Nothing proves it.
    """

    accepted: bool
    by: str
    because: str
    decided_at: dt.datetime
    evidence: ConsentEvidence

    def covers(self, evidence: ConsentEvidence) -> bool:
        """Whether it was taken on all of these files, unchanged, and on all of these doubts. False
        for no files. A refusal covers its take in whatever file."""
        if evidence.refused and not self.accepted:
            return True
        doubts = {each.sentence for each in self.evidence.doubts}
        return bool(evidence.files and self.evidence.is_about(evidence)) and doubts.issuperset(
            each.sentence for each in evidence.doubts
        )

    @property
    def words(self) -> str:
        """Who decided what, when and why, as a sentence."""
        verb = "accepted" if self.accepted else "refused"
        told = f"The consent was {verb} on {stamp(self.decided_at)}, by somebody named"
        return f"{told} “{self.by}”: “{self.because}”."


class ConsentState(Value):
    """Whether consent holds, with the reasons in sentences."""

    state: Literal["holds", "open", "refused", "ended", "fails"]
    """``open``: a person must decide. ``refused``: a person did. Otherwise there is no choice."""
    reasons: tuple[str, ...] = ()
    """Why it does not hold; or by which decision it does."""
    evidence: ConsentEvidence = ConsentEvidence()
    decided: str | None = None
    """What was decided last, and whether it counts, in sentences."""

    def waived(self) -> ConsentState:
        """The state under a waiver, which passes over what is missing and over doubts, but not over
        a refusal, the end of a consent, or files of different people."""
        waivable = self.state not in {"refused", "ended"} and not self.evidence.against
        return ConsentState(state="holds", evidence=self.evidence) if waivable else self


def consent_state(evidence: ConsentEvidence, decision: ConsentDecision | None) -> ConsentState:
    """The state of a consent by the evidence and the last ``decision`` about the person.

    Consent holds if it has not ended, nothing is missing, and all doubts were accepted. A decision
    counts no more once there is a file or a doubt that it was not taken on; a refusal, only once
    there is another take. No decision replaces what is missing, and a refusal stands even then.
    """
    state: Literal["holds", "open", "refused", "ended", "fails"]
    counts = decision is not None and decision.covers(evidence)
    decided = () if decision is None else (f"{decision.words}{'' if counts else _FALLEN}",)
    missing = (*evidence.against, *evidence.missing, *evidence.ended)
    accepted = decision is not None and counts and decision.accepted
    if refused := () if accepted else evidence.refused or (decided if counts else ()):
        state, reasons = "refused", (*missing, *refused)
    elif missing:
        state, reasons = "ended" if evidence.ended else "fails", missing
    elif counts:
        state, reasons = "holds", decided
    elif evidence.doubts:
        state, reasons = "open", (*(each.words for each in evidence.doubts), *decided)
    else:
        state, reasons = "holds", ()
    told = next(iter(decided), None)
    return ConsentState(state=state, reasons=reasons, evidence=evidence, decided=told)


_FALLEN = (
    " That counts no more: a file has changed since, or there is a doubt that it was not taken on."
)

"""A consent in words, the same on every surface: each word of the statement, and the dossier.

Signs repeat what colours show. They are those of ``wdiff`` and ``git diff --word-diff``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import PurePath
from typing import NamedTuple, Self

from palprep.consent import ConsentFacts, WordRecord
from palprep.consent.wording import CodeReading
from palprep.dossier import Dossier, Entry, ExaminedDossier, Flaw
from palprep.rules.consent import ConsentDecision, code_doubts, consent_spoken
from palprep.rules.texts import stamp
from palprep.values import Outcome
from palprep.views.format import position

_STAMP_EVERY_S = 3.0


class Mark(StrEnum):
    """Whether a word was required, and whether it was heard."""

    meaning: str
    """The mark in words."""
    signs: str
    """A format with signs for the required words and the heard ones."""

    HEARD = "heard", "heard", "{0}"
    UNCERTAIN = "uncertain", "heard, but uncertain", "{0}(?)"
    MISSING = "missing", "required, not heard", "[-{0}-]"
    CHANGED = "changed", "required, heard as something else", "[-{0}-]{{+{1}+}}"
    ADDED = "added", "heard, not required", "{{+{1}+}}"
    UNREAD = "unread", "not verified", "{0}(?)"

    def __new__(cls, name: str, meaning: str, signs: str) -> Self:
        mark = str.__new__(cls, name)
        mark._value_, mark.meaning, mark.signs = name, meaning, signs
        return mark


_HEADLINES: Mapping[Outcome, str] = {
    Outcome.PASS: "Every word of the statement was heard.",
    Outcome.WARN: "The statement was heard, but some of it is uncertain.",
    Outcome.FAIL: "The statement was not heard as required.",
    Outcome.UNKNOWN: "It is not known whether the statement was spoken.",
}


_MARKS = {Outcome.PASS: Mark.HEARD, Outcome.WARN: Mark.UNCERTAIN, Outcome.UNKNOWN: Mark.UNREAD}


class MarkedWords(WordRecord):
    """Neighbouring words with one mark. ``expected`` is None for added words, ``heard`` for
    missing ones; ``probability`` is the lowest of the words'."""

    @property
    def mark(self) -> Mark:
        if self.expected is None:
            return Mark.ADDED
        if self.outcome is Outcome.FAIL:
            return Mark.MISSING if self.heard is None else Mark.CHANGED
        return _MARKS[self.outcome]

    @property
    def signed(self) -> str:
        """The words with signs that need no colour."""
        return self.mark.signs.format(self.expected or "", self.heard or "")


def marked_words(facts: ConsentFacts) -> tuple[MarkedWords, ...]:
    """The words of a statement with their marks. Neighbours that were heard as one other word stand
    together: ``Ann Lee``, heard as ``Emily``."""
    found: list[MarkedWords] = []
    for word in facts.words:
        one = MarkedWords(**dict(word))
        last = found[-1] if found else None
        if last and one.mark is last.mark is Mark.CHANGED and one.heard == last.heard:
            known = [p for p in (last.probability, one.probability) if p is not None]
            joined = {
                "expected": f"{last.expected} {one.expected}",
                "end": last.end if one.end is None else one.end,
                "probability": min(known, default=None),
            }
            found[-1] = last.model_copy(update=joined)
        else:
            found.append(one)
    return tuple(found)


def stamped(words: Iterable[MarkedWords]) -> Iterator[tuple[float | None, MarkedWords]]:
    """The words, each with the time to show before it: for the first, then every few seconds."""
    shown_s: float | None = None
    for word in words:
        due = word.start is not None and (shown_s is None or word.start >= shown_s + _STAMP_EVERY_S)
        shown_s = word.start if due else shown_s
        yield (word.start if due else None), word


def legend(words: Iterable[MarkedWords]) -> tuple[Mark, ...]:
    """The marks that occur and need an explanation."""
    there = {word.mark for word in words} - {Mark.HEARD}
    return tuple(mark for mark in Mark if mark in there)


def headline(facts: ConsentFacts) -> str:
    return _HEADLINES[facts.outcome]


def code_words(code: CodeReading) -> str:
    """A fresh code: when it was given out, where it was heard, and what that proves."""
    given = f"“{' '.join(code.words)}” was given out on {stamp(code.given_at)}, valid until "
    given += f"{stamp(code.ends_at)}. The file was first judged on {stamp(code.judged_at)}."
    if code.spoken is None:
        return f"{given} It is not heard after the statement."
    span = f"from {position(code.spoken.start_s)} to {position(code.spoken.end_s)}"
    where = f"{span} of {code.kept_in}, and cut from the video" if code.kept_in else span
    proof = "" if code_doubts(code) else " So the recording was made between the two."
    return f"{given} It is heard {where}.{proof}"


class Standing(NamedTuple):
    """Whether a consent holds: a word, the outcome that colours it, a sentence, and reasons."""

    word: str
    outcome: Outcome
    sentence: str
    reasons: tuple[str, ...]


def standing(examined: ExaminedDossier, now: dt.datetime) -> Standing:
    """How the consent stands at this moment. Its outcome is ``pass`` only without any doubt. A
    doubt about the statement itself leaves it open."""
    dossier = examined.dossier
    consent = dossier.consent
    doubts = tuple(dict.fromkeys(_doubts(dossier)))
    if examined.flaws:
        word, outcome, why = "FLAWED", Outcome.FAIL, "this dossier did not prove what it says."
    elif examined.replaced and not (dossier.in_force(now) or dossier.ended(now)):
        word, outcome = "REPLACED", Outcome.PASS
        why = "another video had taken the place of this one, and has a dossier of its own."
    elif dossier.is_open(now):
        word, outcome = "OPEN", Outcome.WARN
        why = "it was open whether this consent is given: a person must listen, and decide."
    elif not dossier.in_force(now):
        word, outcome, why = "VOID", Outcome.FAIL, "this consent did not hold."
    elif consent.reasons:
        word, outcome = "HOLDS", Outcome.WARN
        why = "this consent held: a person accepted its doubts."
    elif doubts:
        word, outcome, why = "HOLDS", Outcome.WARN, "this consent held, with doubts."
    else:
        word, outcome = "HOLDS", Outcome.PASS
        why = "nothing in this dossier spoke against this consent."
    flaws = [f"{words[:1].upper()}{words[1:]}." for words in map(flaw_words, examined.flaws)]
    decided = (consent.decided,) if consent.decided else ()
    reasons = (*flaws, *_state(examined, now), *decided, *doubts)
    return Standing(word, outcome, f"On {stamp(now)} {why}", reasons)


def entry_words(entry: Entry) -> str:
    match entry.kind:
        case "evidence":
            return _evidence_words(entry)
        case "expiry":
            what = f"The consent was given an end: {_moment(entry.expires_at)}."
        case "revocation":
            what = f"The person took the consent back: {_moment(entry.revoked_at)}."
        case "removal":
            removed = f"The prepared video was removed on purpose: {_moment(entry.written_at)}."
            return f"{removed} {entry.note or ''}".rstrip()
        case "decision":
            return _decision_words(entry.decision)
        case "lapse":
            return "That decision counts no more: a file has changed since, or a doubt is new."
        case "waiver":
            return f"Consent was waived: the work went on without it. {entry.note or ''}".rstrip()
    return f"{what} Note: {entry.note}" if entry.note else what


def _decision_words(decision: ConsentDecision | None) -> str:
    if decision is None:
        return "A decision without content."
    files = (f"{PurePath(each.path).name} ({each.sha256})" for each in decision.evidence.files)
    doubts = (f"{each.words} [{each.check}]" for each in decision.evidence.doubts)
    return (
        f"{decision.words} The name is a claim: nothing proves who decided. It was taken on "
        f"{', '.join(files)}, about: {' '.join(doubts)}"
    )


def _moment(at: dt.datetime | None) -> str:
    return stamp(at) if at else "no time is recorded"


def _evidence_words(entry: Entry) -> str:
    output, source = entry.output, entry.source
    recorded = "What was heard was put on record."
    if output is None or source is None:
        return recorded
    if output.sha256 == source.sha256:
        return f"{recorded} The prepared video {output.name} is the original, byte for byte."
    return f"{recorded} The prepared video {output.name} was made of the original {source.name}."


def flaw_words(flaw: Flaw) -> str:
    return flaw.problem if flaw.entry is None else f"entry {flaw.entry}: {flaw.problem}"


def _state(examined: ExaminedDossier, now: dt.datetime) -> Iterator[str]:
    """The headline of the reading, and until when the consent holds or why it is over."""
    dossier = examined.dossier
    consent = dossier.evidence.consent
    yield headline(consent) if consent else "The dossier holds no reading of the statement."
    yield from dossier.ended(now)
    if dossier.expires_at is not None and dossier.expires_at > now:
        yield f"The consent expires on {stamp(dossier.expires_at)}."


def _doubts(dossier: Dossier) -> Iterator[str]:
    """Doubts about the words, and about who is seen while they are spoken."""
    consent = dossier.evidence.consent
    if consent is None:
        return
    if consent.outcome is not Outcome.PASS:
        yield from consent.reasons
    # Where nothing was heard, there is no one to look at.
    for check in dossier.evidence.checks if consent.outcome.passed else ():
        if check.id != consent_spoken.id and check.outcome != Outcome.PASS:
            yield check.sentence

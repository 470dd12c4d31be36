"""What became of each word of the consent statement, the same on every surface.

A sign tells what colour tells too. The signs are those of ``wdiff`` and ``git diff --word-diff``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from palprep.consent import ConsentFacts, WordRecord
from palprep.values import Outcome

_STAMP_EVERY_S = 3.0


class Mark(StrEnum):
    """What became of a required word, or that a word was added."""

    HEARD = "heard"
    UNCERTAIN = "uncertain"
    MISSING = "missing"
    CHANGED = "changed"
    ADDED = "added"
    UNREAD = "unread"


MEANINGS: Mapping[Mark, str] = {
    Mark.HEARD: "heard",
    Mark.UNCERTAIN: "heard, but uncertain",
    Mark.MISSING: "required, not heard",
    Mark.CHANGED: "required, heard as something else",
    Mark.ADDED: "heard, not required",
    Mark.UNREAD: "not verified",
}
"""Each mark in words."""


class MarkedWords(NamedTuple):
    """Neighbouring words with one mark. ``required`` is None for added words, ``heard`` for
    missing ones. Times are in seconds from the start of the file, None where nothing was found."""

    mark: Mark
    outcome: Outcome
    required: str | None
    heard: str | None
    start: float | None
    end: float | None
    probability: float | None
    """The lowest of the words'."""

    @property
    def signed(self) -> str:
        """The words with signs that need no colour."""
        match self.mark:
            case Mark.HEARD:
                return f"{self.required}"
            case Mark.UNCERTAIN | Mark.UNREAD:
                return f"{self.required}(?)"
            case Mark.MISSING:
                return f"[-{self.required}-]"
            case Mark.CHANGED:
                return f"[-{self.required}-]{{+{self.heard}+}}"
            case Mark.ADDED:
                return f"{{+{self.heard}+}}"


def marked_words(facts: ConsentFacts) -> tuple[MarkedWords, ...]:
    """The words of a statement, each with its mark.

    Required words for which the same stretch was heard instead stand together: of ``Ann Lee``,
    heard as ``Emily``, neither word was heard as the whole of it.
    """
    found: list[MarkedWords] = []
    for word in facts.words:
        one = _marked(word)
        if found and _heard_as_one(found[-1], one):
            found[-1] = _joined(found[-1], one)
        else:
            found.append(one)
    return tuple(found)


def stamped(words: Iterable[MarkedWords]) -> Iterator[tuple[float | None, MarkedWords]]:
    """The words, with a time to show in front of the first one and of one every few seconds."""
    shown_s: float | None = None
    for word in words:
        due = word.start is not None and (shown_s is None or word.start >= shown_s + _STAMP_EVERY_S)
        shown_s = word.start if due else shown_s
        yield (word.start if due else None), word


def legend(words: Iterable[MarkedWords]) -> tuple[tuple[Mark, str], ...]:
    """The marks that occur and need an explanation, with what they mean."""
    there = {word.mark for word in words}
    return tuple((mark, said) for mark, said in MEANINGS.items() if mark in there)


def headline(facts: ConsentFacts) -> str:
    """The verdict in one sentence."""
    match facts.outcome:
        case Outcome.PASS:
            return "Every word of the statement was heard."
        case Outcome.WARN:
            return "The statement was heard, but some of it is uncertain."
        case Outcome.FAIL:
            return "The statement was not heard as required."
        case Outcome.UNKNOWN:
            return "It is not known whether the statement was spoken."


def was_found(facts: ConsentFacts) -> bool:
    """Whether any word of the statement was found in the audio."""
    return facts.starts_at is not None


def _marked(word: WordRecord) -> MarkedWords:
    return MarkedWords(
        mark=_mark(word),
        outcome=word.outcome,
        required=word.expected,
        heard=word.heard,
        start=word.start,
        end=word.end,
        probability=word.probability,
    )


def _mark(word: WordRecord) -> Mark:
    if word.expected is None:
        return Mark.ADDED
    match word.outcome:
        case Outcome.PASS:
            return Mark.HEARD
        case Outcome.WARN:
            return Mark.UNCERTAIN
        case Outcome.UNKNOWN:
            return Mark.UNREAD
        case Outcome.FAIL:
            return Mark.MISSING if word.heard is None else Mark.CHANGED


def _heard_as_one(before: MarkedWords, word: MarkedWords) -> bool:
    return word.mark is before.mark is Mark.CHANGED and word.heard == before.heard


def _joined(before: MarkedWords, word: MarkedWords) -> MarkedWords:
    probabilities = [p for p in (before.probability, word.probability) if p is not None]
    return before._replace(
        required=f"{before.required} {word.required}",
        end=word.end if word.end is not None else before.end,
        probability=min(probabilities, default=None),
    )

"""Marks of words: what each stands for, in signs that need no colour."""

from __future__ import annotations

import pytest

from palprep.consent import ConsentFacts, WordRecord
from palprep.values import Outcome
from palprep.views.consent_words import Mark, headline, legend, marked_words, stamped


def word(
    expected: str | None,
    heard: str | None,
    outcome: Outcome = Outcome.PASS,
    at: float | None = None,
    probability: float | None = 0.5,
) -> WordRecord:
    return WordRecord(
        expected=expected, heard=heard, start=at, end=None if at is None else at + 0.5,
        probability=probability, outcome=outcome,
    )  # fmt: skip


def facts(*words: WordRecord, outcome: Outcome = Outcome.FAIL) -> ConsentFacts:
    return ConsentFacts(
        outcome=outcome, transcript="", starts_at=None, ends_at=None, words=words, reasons=(),
        statement="I agree", full_name="Ada", language="en",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("record", "mark", "signed"),
    [
        (word("agree", "agree"), Mark.HEARD, "agree"),
        (word("agree", "a gree", Outcome.WARN), Mark.UNCERTAIN, "agree(?)"),
        (word("agree", None, Outcome.FAIL), Mark.MISSING, "[-agree-]"),
        (word("agree", "refuse", Outcome.FAIL), Mark.CHANGED, "[-agree-]{+refuse+}"),
        (word(None, "never", Outcome.FAIL), Mark.ADDED, "{+never+}"),
        (word("agree", None, Outcome.UNKNOWN), Mark.UNREAD, "agree(?)"),
    ],
)
def test_every_word_has_a_mark_and_a_sign(record: WordRecord, mark: Mark, signed: str) -> None:
    (found,) = marked_words(facts(record))
    assert (found.mark, found.signed) == (mark, signed)


def test_words_for_which_one_other_was_heard_stand_together() -> None:
    ann, lee = (
        word("Ann", "Emily", Outcome.FAIL, 1.0, 0.3),
        word("Lee,", "Emily", Outcome.FAIL, 1.5, 0.2),
    )
    first, second = marked_words(facts(ann, lee, word("agree", "degree", Outcome.FAIL, 2.0)))
    assert first.signed == "[-Ann Lee,-]{+Emily+}"
    assert (first.start, first.end, first.probability) == (1.0, 2.0, 0.2)
    assert second.signed == "[-agree-]{+degree+}"


def test_missing_words_stay_words() -> None:
    two = marked_words(facts(word("I", None, Outcome.FAIL), word("agree", None, Outcome.FAIL)))
    assert [each.signed for each in two] == ["[-I-]", "[-agree-]"]


def test_times_stand_every_few_seconds() -> None:
    spoken = marked_words(facts(*(word("w", "w", at=float(at)) for at in range(7))))
    assert [at for at, _ in stamped(spoken)] == [0.0, None, None, 3.0, None, None, 6.0]


def test_the_legend_has_what_occurs_and_needs_an_explanation() -> None:
    spoken = marked_words(facts(word("I", "I"), word(None, "never", Outcome.FAIL)))
    assert list(legend(spoken)) == [Mark.ADDED]


def test_every_outcome_is_a_sentence_of_its_own() -> None:
    said = {headline(facts(outcome=outcome)) for outcome in Outcome}
    assert len(said) == len(Outcome)

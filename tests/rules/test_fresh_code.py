"""What a fresh code makes of a statement that was heard."""

from __future__ import annotations

import datetime as dt

import pytest

from palprep.consent import AlignedWord, PartReading, StatementReading
from palprep.consent.wording import CodeReading
from palprep.rules.consent.grading import grade_statement
from palprep.rules.profile import load_profile
from palprep.values import Span

NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


def code(**changed) -> CodeReading:
    known = {
        "words": ("tiger", "lemon", "cactus"),
        "given_at": NOON,
        "ends_at": NOON + dt.timedelta(minutes=30),
        "judged_at": NOON,
        "spoken": Span(start_s=0.5, end_s=2.0),
    }
    return CodeReading(**known | changed)


def graded(code: CodeReading | None, *, probability: float = 0.9, negated: tuple[str, ...] = ()):
    """A statement of one word, with the code after it in one stretch of speech."""
    word = AlignedWord(expected="I", start=0.0, end=0.9, probability=probability)
    part = PartReading(first_word=0, expected=("I",), aligned=(word,), negating_words=negated)
    reading = StatementReading(
        statement="I", full_name="I", language="en", parts=(part,), code=code,
        speech=(Span(start_s=0.0, end_s=2.0 if code else 0.9),),
    )  # fmt: skip
    return grade_statement(reading, load_profile().consent)


def test_a_code_in_its_time_is_evidence_and_ends_the_statement():
    facts = graded(code())
    assert (facts.outcome, facts.reasons, facts.code) == ("pass", (), code())
    assert facts.ends_at == 0.5


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"spoken": None}, "given out at 2026-03-01 12:00 UTC, is not heard after the statement."),
        ({"spoken": None, "heard": "piano"}, "is not heard after the statement, but “piano”."),
        (
            {"judged_at": NOON + dt.timedelta(minutes=31)},
            "was valid until 2026-03-01 12:30 UTC, and the file was first judged at 2026-03-01 12",
        ),
        ({"spoken_in": "first.mp4"}, "was spoken before, in first.mp4"),
    ],
)
def test_a_code_that_proves_nothing_is_a_doubt(changed, reason):
    facts = graded(code(**changed))
    assert facts.outcome == "warn"
    [said] = facts.reasons
    assert said.startswith("The fresh code “tiger lemon cactus”")
    assert reason in said


def test_a_code_mends_no_statement():
    assert graded(code(), probability=0.0).outcome == "warn"
    for each in (code(), code(spoken=None)):
        facts = graded(each, negated=("never",))
        assert (facts.outcome, facts.reasons) == ("fail", graded(None, negated=("never",)).reasons)

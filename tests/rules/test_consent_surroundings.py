"""What is said before, after or within a statement, whether it is made out or not."""

from __future__ import annotations

import datetime as dt

import pytest
from made_up_reading import TEXT, reading, stated

from palprep.consent import Surroundings
from palprep.consent.reading import Reading
from palprep.consent.wording import CodeReading
from palprep.values import Span

NOON = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", ("", "Thank you."), ("pass", "pass", "pass")),
        ("Hello.", ("Ask me again.",), ("warn", "pass", "warn")),
        ("Under protest.", ("Ask me again.",), ("fail", "fail", "warn")),
        ("", ("Okay.", "Not really."), ("fail", "pass", "fail")),
    ],
)
def test_what_stands_around_the_statement_counts(before, after, expected):
    facts = stated(reading(), around=Surroundings(before=before, after=after))
    assert (facts.outcome, facts.before, facts.after) == expected
    assert len(facts.reasons) == len([each for each in expected[1:] if each != "pass"])
    assert all("statement, “" in reason for reason in facts.reasons)


@pytest.mark.parametrize(("seconds", "expected"), [(0.49, "pass"), (0.51, "warn")])
def test_speech_after_the_statement_without_words_is_a_doubt(seconds, expected):
    ends_s = reading().aligned[-1].end
    facts = stated(reading(), speech=(Span(start_s=0.0, end_s=ends_s + seconds),))
    assert (facts.outcome, facts.after) == (expected, expected)


@pytest.mark.parametrize(
    ("after", "more", "expected"),
    [
        ("", (25.0, 28.0), "warn"),
        ("", (25.0, 25.3), "pass"),
        ("Hello there.", (5.0, 40.0), "pass"),  # Who goes on for so long talks of something else.
    ],
)
def test_what_is_said_long_after_the_statement_is_a_doubt(after, more, expected):
    ends_s = reading().aligned[-1].end
    speech = (Span(start_s=0.0, end_s=ends_s), Span(start_s=more[0], end_s=more[1]))
    facts = stated(reading(), around=Surroundings(after=(after,)), speech=speech)
    assert (facts.outcome, facts.after) == (expected, expected)


@pytest.mark.parametrize(("until_s", "expected"), [(12.0, "pass"), (17.0, "warn"), (None, "warn")])
def test_speech_after_a_code_without_words_is_a_doubt(until_s, expected):
    ends_s = reading().aligned[-1].end
    code = CodeReading(
        words=("tiger", "lemon"), heard="tiger lemon", given_at=NOON, ends_at=NOON, judged_at=NOON,
        spoken=Span(start_s=10.0, end_s=12.0),
    )  # fmt: skip
    later = Span(start_s=10.0, end_s=12.0 if until_s is None else until_s)
    more = (Span(start_s=40.0, end_s=43.0),) if until_s is None else ()
    speech = (Span(start_s=0.0, end_s=ends_s), later, *more)
    assert stated(reading(), speech=speech, code=code).after == expected


def lasting(found: Reading, index: int, more_s: float) -> Reading:
    """A reading in which a word lasts longer, as where more is said that is not written down."""
    aligned = tuple(
        word.model_copy(
            update={
                "start": word.start + (more_s if at > index else 0.0),
                "end": word.end + (more_s if at >= index else 0.0),
            }
        )
        for at, word in enumerate(found.aligned)
    )
    return found._replace(aligned=aligned)


WITHIN = (
    "After word 8, “videos” at 3.5 s, more is said than the statement, but no words are made out. "
    "Listen to it."
)


@pytest.mark.parametrize(
    ("index", "more_s", "why"),
    [
        (
            0,
            3.0,
            "Somebody speaks before the statement, and not all of it is made out. Listen to it.",
        ),
        (0, 0.4, None),
        (8, 3.0, WITHIN),
        (10, 0.4, None),
    ],
)
def test_what_is_said_in_the_place_of_words_is_a_doubt(index, more_s, why):
    found = lasting(reading(), index, more_s)
    facts = stated(found, speech=(Span(start_s=0.0, end_s=found.aligned[-1].end),))
    assert facts.outcome == ("warn" if why else "pass")
    assert facts.reasons == ((why,) if why else ())
    assert facts.before == ("warn" if why and not index else "pass")


@pytest.mark.parametrize(("follows_s", "expected"), [(1.2, "pass"), (3.0, "warn")])
def test_a_thank_you_does_not_last_for_seconds(follows_s, expected):
    """What a model that knows no other language writes down of one."""
    ends_s = reading().aligned[-1].end
    speech = (Span(start_s=0.0, end_s=ends_s + follows_s),)
    facts = stated(reading(), around=Surroundings(after=("", "Thank you.")), speech=speech)
    assert (facts.outcome, facts.after) == (expected, expected)


@pytest.mark.parametrize(("before", "expected"), [("Hello.", "warn"), ("Hello. " * 9, "pass")])
def test_what_is_heard_before_the_statement_takes_its_time(before, expected):
    found = lasting(reading(), 0, 3.0)
    aligned = (found.aligned[0].model_copy(update={"start": 3.0}), *found.aligned[1:])
    facts = stated(
        found._replace(aligned=aligned),
        around=Surroundings(before=before.strip()),
        speech=(Span(start_s=0.0, end_s=aligned[-1].end),),
    )
    assert (facts.outcome, facts.before) == (expected, expected)


def test_silence_in_the_place_of_words_is_none():
    found = lasting(reading(), 0, 3.0)
    speech = (Span(start_s=2.9, end_s=found.aligned[-1].end),)
    assert stated(found, speech=speech).outcome == "pass"


def test_who_speaks_slowly_says_no_more_than_the_statement():
    words = tuple(
        word.model_copy(update={"start": 3 * word.start, "end": 3 * word.end})
        for word in reading().aligned
    )
    speech = (Span(start_s=0.0, end_s=words[-1].end),)
    assert stated(reading()._replace(aligned=words), speech=speech).outcome == "pass"


def test_words_that_were_added_and_made_out_are_counted_by_their_letters():
    heard = TEXT.replace("can be", "can undoubtedly be")
    found = lasting(reading(heard, support=-1.0, others=(TEXT,)), 9, 1.5)
    plain = lasting(reading(), 9, 1.5)
    speech = (Span(start_s=0.0, end_s=plain.aligned[-1].end),)
    told = [stated(each, speech=speech).reasons for each in (found, plain)]
    assert [any("more is said" in reason for reason in reasons) for reasons in told] == [0, 1]

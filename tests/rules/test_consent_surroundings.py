"""What is said before, after or within a statement, whether it is made out or not."""

from __future__ import annotations

import pytest
from made_up_reading import TEXT, reading, stated

from palprep.consent import Surroundings
from palprep.consent.reading import Reading
from palprep.values import Span


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
    "After word 8, “videos” at 3.5 s, more is said than the statement, and no words are made out "
    "there. Listen to it."
)


@pytest.mark.parametrize(
    ("index", "more_s", "why"),
    [
        (0, 3.0, "Before the statement somebody speaks, and not all is made out. Listen to it."),
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

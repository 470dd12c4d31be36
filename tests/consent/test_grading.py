"""From two readings to an outcome: made-up readings, each with one thing that matters."""

from __future__ import annotations

import math

import pytest

from palprep.consent.compare import compare
from palprep.consent.grading import decide
from palprep.consent.names import NameReading, locate_name
from palprep.consent.readings import AlignedWord, Reading, Script, differences_of
from palprep.consent.words import split_words

TEXT = "I, Jane Doe, give my consent that videos can be made."
SCRIPT = Script.of(TEXT, "Jane Doe", "en")


JANE = NameReading("Jane Doe", 1.0, same=True, told=0.95, favour=math.inf)
RARE = {"Jane": 0.001, "Doe,": 0.001}
"""What the forced reading holds of a name it has never seen."""


def reading(
    heard: str = TEXT,
    *,
    improbable: dict[str, float] | None = None,
    support: float = 0.0,
    turned: tuple[tuple[str, int, float], ...] = (("cannot", 7, 9.0),),
    name: NameReading = JANE,
    others: tuple[str, ...] = (),
    afterwards: tuple[str, ...] = (),
) -> Reading:
    """A reading in which everything is sure but what is said otherwise."""
    words = split_words(heard)
    found = compare(SCRIPT.words, words)
    place = locate_name(found, SCRIPT.name, SCRIPT.words, words)
    probabilities = [(improbable or {}).get(word.shown, 0.9) for word in SCRIPT.words]
    differences = differences_of(found, place)
    return Reading(
        transcript=heard,
        heard=words,
        comparison=found,
        forced=tuple(
            AlignedWord(p, index * 0.5, index * 0.5 + 0.4) for index, p in enumerate(probabilities)
        ),
        differences=differences,
        support=(support,) * len(differences),
        turned=turned,
        other_transcripts=others,
        afterwards=afterwards,
        name=name,
        place=place,
    )


def outcome(found: Reading) -> str:
    return decide(found, SCRIPT)[0]


def test_two_readings_that_agree_pass():
    grade, words, reasons = decide(reading(), SCRIPT)
    assert grade == "pass"
    assert reasons == []
    assert [word.expected for word in words] == TEXT.split()
    assert {word.outcome for word in words} == {"pass"}
    assert (words[0].start, words[0].end) == (0.0, 0.4)


def test_a_word_that_only_the_free_reading_hears_is_a_doubt():
    grade, words, _ = decide(reading(improbable={"made.": 0.01}), SCRIPT)
    assert grade == "warn"
    assert [word.expected for word in words if word.outcome == "warn"] == ["made."]


@pytest.mark.parametrize(
    ("support", "expected"), [(0.5, "pass"), (-1.0, "pass"), (-3.0, "warn"), (-8.0, "fail")]
)
def test_of_two_wordings_the_likelier_one_is_believed(support, expected):
    assert outcome(reading(TEXT.replace("that", "when"), support=support)) == expected


def test_a_changed_word_is_named_with_what_was_heard():
    found = reading(TEXT.replace("videos", "photos"), improbable={"videos": 0.001}, support=-9.0)
    grade, words, reasons = decide(found, SCRIPT)
    assert grade == "fail"
    (failed,) = [word for word in words if word.outcome == "fail"]
    assert (failed.expected, failed.heard) == ("videos", "photos")
    assert reasons == ["Word 8, “videos”: heard as “photos” at 3.5 s."]


def test_a_missing_word_has_no_time():
    found = reading(TEXT.replace("my ", ""), improbable={"my": 0.0001}, support=-9.0)
    grade, words, _ = decide(found, SCRIPT)
    (missing,) = [word for word in words if word.outcome == "fail"]
    assert grade == "fail"
    assert (missing.expected, missing.heard, missing.start) == ("my", None, None)


def test_an_added_word_fails_unless_it_was_a_whim():
    heard = TEXT.replace("can be", "can only be")
    grade, words, _ = decide(reading(heard, support=-3.0), SCRIPT)
    assert grade == "fail"
    (added,) = [word for word in words if word.expected is None]
    assert (added.heard, added.outcome) == ("only", "fail")
    assert outcome(reading(heard, support=-1.0, others=(TEXT,))) == "pass"
    assert outcome(reading(heard, support=-1.0, others=(heard,))) == "fail"


@pytest.mark.parametrize(
    "heard",
    [
        TEXT.replace("give", "do not give"),
        TEXT.replace("can be", "cannot be"),
        TEXT.replace("give", "never give"),
        TEXT.replace("give", "withdraw"),
        f"{TEXT} I withdraw my consent.",
        f"{TEXT} Just kidding.",
        f"I will not say this. {TEXT}",
    ],
)
def test_negations_and_withdrawals_fail_whatever_the_forced_reading_says(heard):
    assert outcome(reading(heard, support=5.0)) == "fail"


def test_a_small_word_that_may_be_turned_fails():
    grade, _, reasons = decide(reading(turned=(("unlike", 6, 0.9),)), SCRIPT)
    assert grade == "fail"
    assert "unlike" in reasons[0]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (reading(f"{TEXT} I don't know what else to say."), "warn"),
        (reading(f"{TEXT} Hello and welcome."), "pass"),
        (
            reading(f"{TEXT} I would draw my consent.", afterwards=("I withdraw my consent.",)),
            "fail",
        ),
        (reading(f"{TEXT} That was my consent."), "warn"),
        (reading(others=(TEXT.replace("give", "don't give"),)), "warn"),
    ],
)
def test_what_stands_around_the_statement_counts(found, expected):
    assert outcome(found) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (NameReading("Jayne Dough", 1.0, same=True, told=0.9, favour=4.0), "pass"),
        (NameReading("Jendo", 0.95, same=True, told=0.8, favour=0.7), "warn"),
        (NameReading("John Doe", 0.95, same=True, told=0.1, favour=-2.0), "fail"),
        (NameReading("new and diamond", 0.6, same=False, told=0.9, favour=11.0), "warn"),
        (NameReading("Ada Gomez", 0.8, same=False, told=0.1, favour=3.0), "fail"),
        (NameReading("Jane Dove", 0.85, same=False, told=0.9, favour=-3.5), "fail"),
        (NameReading("in government", 0.3, same=False, told=0.9, favour=12.0), "fail"),
        (NameReading("Jane Doe", 1.0, same=True, told=0.2, favour=math.inf), "warn"),
        (NameReading("", 0.0, same=False, told=0.0, favour=-9.0), "fail"),
    ],
)
def test_the_name_is_judged_by_sound(name, expected):
    assert outcome(reading(name=name, improbable=RARE)) == expected


def test_a_name_that_sounds_the_same_and_is_borne_out_passes():
    name = NameReading("Jayne Dough", 1.0, same=True, told=0.2, favour=-0.5)
    assert outcome(reading(name=name)) == "pass"


def test_a_part_is_not_judged_by_what_stands_in_the_other_parts():
    found = reading(f"I do not agree. {TEXT} I withdraw my consent.")
    assert decide(found, SCRIPT)[0] == "fail"
    assert decide(found, SCRIPT, begins=False)[0] == "fail"
    assert decide(found, SCRIPT, ends=False)[0] == "fail"
    assert decide(found, SCRIPT, begins=False, ends=False)[0] == "pass"


def test_the_words_of_a_part_are_counted_from_the_statements_start():
    first, second = SCRIPT.parts(6)
    assert (first.text, second.text) == ("I, Jane Doe, give my consent", "that videos can be made.")
    assert (first.name, second.name) == (range(1, 3), range(0))
    assert (first.offset, second.offset) == (0, 6)
    assert SCRIPT.parts(40) == (SCRIPT,)
    found = reading(TEXT.replace("videos", "photos"), support=-9.0)
    assert decide(found, SCRIPT._replace(offset=6))[2] == [
        "Word 14, “videos”: heard as “photos” at 3.5 s."
    ]


def test_a_statement_is_cut_after_sentences_and_never_within_the_name():
    text = "One two three four. Five six seven, I, Jane Doe, eight nine ten eleven twelve."
    script = Script.of(text, "Jane Doe", "en")
    assert [part.text for part in script.parts(7)] == [
        "One two three four.",
        "Five six seven, I, Jane Doe,",
        "eight nine ten eleven twelve.",
    ]
    assert [part.name for part in script.parts(7)] == [range(0), range(4, 6), range(0)]
    assert all("Jane Doe," in part.text for part in script.parts(9) if part.name)

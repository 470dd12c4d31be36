"""Where a transcript has the name."""

from __future__ import annotations

import pytest

from palprep.consent.compare import compare
from palprep.consent.wording.names import (
    heard_names,
    locate_name,
    rivals,
    same_name,
    without_title,
)
from palprep.consent.wording.statement import name_slot, statement_for
from palprep.consent.wording.words import split_words
from palprep.errors import UsageError

REQUIRED = split_words("I, Jane Doe, am currently speaking.")


def place_of(heard: str) -> tuple[str, float, list[tuple[str, str]]]:
    words = split_words(heard)
    slot = name_slot(REQUIRED, "Jane Doe")
    place = locate_name(compare(REQUIRED, words), slot, REQUIRED, words)
    beside = [
        (
            " ".join(word.shown for word in REQUIRED[one.first : one.last]),
            " ".join(word.shown for word in words[one.heard_first : one.heard_last]),
        )
        for one in place.sides
    ]
    name = " ".join(word.shown for word in words[place.first : place.last])
    return name, place.likeness, beside


@pytest.mark.parametrize(
    ("heard", "name", "beside"),
    [
        ("I, Jane Doe, am currently speaking.", "Jane Doe,", []),
        (
            "Hi, Jayne Dough. I'm currently speaking.",
            "Jayne Dough.",
            [("I,", "Hi,"), ("am", "I'm")],
        ),
        (
            "Well, hello. Hi, Jane Doe and currently speaking.",
            "Jane Doe",
            [("I,", "Hi,"), ("am", "and")],
        ),
        ("Jane Doe, I'm currently speaking.", "Jane Doe,", [("I,", ""), ("am", "I'm")]),
    ],
)
def test_the_name_is_found_by_its_sound(heard, name, beside):
    found, likeness, others = place_of(heard)
    assert (found, others) == (name, beside)
    assert likeness > 0.9


def test_another_name_stands_in_its_place_without_likeness():
    name, likeness, _ = place_of("I, Robert Miller, am currently speaking.")
    assert name == "Robert Miller,"
    assert likeness < 0.5


def test_a_name_at_the_end_has_all_that_is_left():
    required, heard = split_words("Agreed by Jane Doe."), split_words("Agreed my Robert Miller.")
    found = compare(required, heard)
    place = locate_name(found, name_slot(required, "Jane Doe"), required, heard)
    assert (place.first, place.last) == (2, 4)


def test_no_name_leaves_the_place_empty():
    assert place_of("I am currently speaking.")[0] == ""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Yuki Tanaka", "Yukita Naka", True),
        ("Jane Doe", "Jayne Dough", True),
        ("Stephen Miller", "Steven Miller", True),
        ("Jane Doe", "John Doe", False),
        ("Jane Doe", "Jane Dove", False),
        ("Jane Doe", "Jane", False),
        ("Jane Doe", "", False),
    ],
)
def test_names_are_the_same_word_for_word(one, other, same):
    assert same_name(split_words(one), split_words(other)) is same


def test_the_statement_has_the_name_as_it_is_spoken():
    required = statement_for("王伟", "I, {full_name}, agree.", language="en", spoken_as="Wang Wei")
    assert (required.text, required.full_name) == ("I, Wang Wei, agree.", "王伟")
    assert [word.shown for word in required.name_words] == ["Wang", "Wei,"]
    assert (required.said_name, required.parts(2)[0].said_name) == ("Wang Wei", "Wang Wei")


def test_the_name_as_it_is_written_is_no_rival_of_how_it_is_spoken():
    spoken, written = split_words("Shawn O Shay"), split_words("Seán Ó Shea")
    heard = ["Sean O'Shea,", "Shane", "Shawn O Shay", ""]
    assert rivals(spoken, heard, written) == {"shane": "Shane"}
    assert set(rivals(spoken, heard)) == {"sean oshea", "shane"}


@pytest.mark.parametrize(
    ("heard", "likeness", "same"),
    [("Sean O'Shea", 1.0, True), ("Shawn O Shay", 1.0, True), ("", 0.0, False)],
)
def test_a_name_is_heard_as_it_is_written_and_as_it_is_spoken(heard, likeness, same):
    required = statement_for("Sean O'Shea", None, language="en", spoken_as="Shawn O Shay")
    (found,) = heard_names(required, [f"I, {heard}, am currently speaking and give my consent."])
    assert (found.likeness, found.same) == (pytest.approx(likeness), same)


@pytest.mark.parametrize(
    ("name", "own"), [("Ann " * 500, None), ("Ann Lee", "I, {full_name}, agree. " * 120)]
)
def test_what_no_one_reads_aloud_is_not_listened_for(name, own):
    with pytest.raises(UsageError, match=r"has 2,\d{3} characters, .*; at most 2,000 are listened"):
        statement_for(name, own, language="en")


def test_a_statement_of_ones_own_has_the_name_as_it_is_spoken():
    own = "I, Seán Ó Sé, agree."
    required = statement_for("Seán Ó Sé", own, language="en", spoken_as="Shawn O Shay")
    assert required.text == "I, Shawn O Shay, agree."
    with pytest.raises(UsageError, match="names nobody called Ann"):
        statement_for("Ann", own, language="en", spoken_as="Shawn O Shay")
    with pytest.raises(UsageError, match="full name"):
        statement_for("Ann", None, language="en", spoken_as=" ")


def test_a_name_that_is_not_in_the_statement_has_no_slot():
    assert not name_slot(split_words("I agree."), "Jane Doe")


@pytest.mark.parametrize(
    ("heard", "name", "left"),
    [
        ("I, Dr. Jane Doe, am", "Jane Doe", "I, Jane Doe, am"),
        ("I, Professor Gene Dough, am", "Jane Doe", "I, Gene Dough, am"),
        ("I, Dr. Jane Doe, am", "Dr. Jane Doe", "I, Dr. Jane Doe, am"),
        ("I, Dr. Robert Doe, am", "Jane Doe", "I, Dr. Robert Doe, am"),
        ("I, not Jane Doe, am the doctor", "Jane Doe", "I, not Jane Doe, am the doctor"),
    ],
)
def test_a_title_before_the_name_is_no_other_name(heard, name, left):
    found = without_title(split_words(heard), split_words(name))
    assert " ".join(word.shown for word in found) == left

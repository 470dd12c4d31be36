"""What may differ between two spellings of the same speech."""

from __future__ import annotations

import pytest

from palprep.consent.wording.words import spell_number, split_words


def keys(text: str) -> list[str]:
    return [key for word in split_words(text) for key in word.keys]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I, JANE, am here.", "i jane am here"),
        ("do not", "don't"),
        ("do not", "don\u2019t"),
        ("can not", "cannot"),
        ("can not", "can't"),
        ("I am", "I'm"),
        ("42 clips", "forty-two clips"),
        ("in 1999", "in nineteen ninety-nine"),
        ("in 1905", "in nineteen oh five"),
        ("in 1900", "in nineteen hundred"),
        ("in 2026", "in twenty twenty-six"),
        ("in 2000", "in two thousand"),
        ("1,999 clips", "one thousand nine hundred ninety nine clips"),
        ("too", "two"),
        ("A.I.", "AI"),
        ("authorise", "authorize"),
        ("colour", "color"),
        ("שָׁלוֹם", "שלום"),
    ],
)
def test_spellings_that_say_the_same_compare_as_equal(one, other):
    assert keys(one) == keys(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("can", "cannot"), ("my consent", "no consent"), ("no", "know"), ("video", "photo")),
        *(("किरण", "करण"), ("กิน", "กน")),  # Vowel signs are said.
    ],
)
def test_words_that_say_something_else_do_not(one, other):
    assert keys(one) != keys(other)


def test_a_word_knows_where_it_stands():
    text = "I, Jane — don't."
    assert [text[word.begin : word.end] for word in split_words(text)] == ["I,", "Jane", "don't."]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (19, "nineteen"),
        (80, "eighty"),
        (310, "three hundred ten"),
        (7000, "seven thousand"),
    ],
)
def test_numbers_in_words(number, words):
    assert " ".join(spell_number(number)) == words

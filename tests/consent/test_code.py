"""Fresh codes: drawn from words that cannot be taken for each other."""

from __future__ import annotations

import datetime as dt
from itertools import combinations

import pytest

from palprep.consent.wording.statement import (
    AskedCode,
    CodeReading,
    code_words,
    draw_code,
    required_statement,
    without_code,
)
from palprep.consent.wording.words import negates, similarity, split_words
from palprep.values import Span

NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


def test_a_code_has_three_different_words_and_an_end():
    asked = []

    def first(words):
        asked.append(len(words))
        return words[0]

    code = draw_code(NOW, first, valid_s=600)
    assert code.words == code_words()[:3]
    assert asked == [len(code_words()) - count for count in range(3)]
    assert (code.given_at, code.ends_at) == (NOW, NOW + dt.timedelta(minutes=10))


def test_there_are_enough_words_and_none_sounds_like_another():
    words = code_words()
    assert len(words) >= 256
    assert len(set(words)) == len(words)
    assert max(similarity(*pair) for pair in combinations(words, 2)) < 0.72


def test_no_code_says_anything_about_the_consent():
    words = split_words(" ".join(code_words()))
    assert words
    assert not any(negates(word, ()) for word in words)
    required = {key for word in split_words(required_statement()) for key in word.keys}
    assert not required.intersection(key for word in words for key in word.keys)


CODE = ("sunflower", "lemon", "ballet")


def asked() -> AskedCode:
    return AskedCode(**dict(draw_code(NOW, min)) | {"words": CODE}, judged_at=NOW)


@pytest.mark.parametrize(
    ("heard", "rest"),
    [
        ("Sunflower, lemon, ballet.", ""),
        ("Okay: sun flower lemon, belly. Thank you.", "Okay: Thank you."),
        ("sunflower lemonballet", ""),
        ("And uh sunflower, lemon and ballet", "And uh"),
    ],
)
def test_a_code_is_found_however_its_words_are_written(heard, rest):
    left = without_code(asked(), split_words(heard))
    assert " ".join(word.shown for word in left) == rest
    assert without_code(None, split_words(heard)) == split_words(heard)


@pytest.mark.parametrize(
    "heard",
    [
        *("", "Thank you.", "Sunflower, lemon.", "Sunflower, lemon, garden.", "lemon"),
        *("ballet lemon sunflower", "I only say this under protest."),
    ],
)
def test_part_of_a_code_or_another_one_is_not_it(heard):
    words = split_words(heard)
    assert without_code(asked(), words) == words


def test_once_it_is_known_to_be_there_what_sounds_most_like_it_is_the_code():
    words = split_words("Some, fluid limb and ballad, under protest.")
    assert without_code(asked(), words) == words
    known = CodeReading(**dict(asked()), spoken=Span(start_s=1.0, end_s=2.0))
    assert [word.shown for word in without_code(known, words)] == ["under", "protest."]
    remark = split_words("Under protest.")
    assert without_code(known, remark) == remark

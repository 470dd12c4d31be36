"""The statement against a transcript."""

from __future__ import annotations

import pytest

from palprep.consent.compare import compare
from palprep.consent.wording.words import split_words

STATEMENT = "I, Jane Doe, give my consent to create an AI clone that can be used."


def differences(heard: str, statement: str = STATEMENT) -> list[tuple[str, str]]:
    required, words = split_words(statement), split_words(heard)
    return [
        (
            " ".join(word.shown for word in required[one.first : one.last]),
            " ".join(word.shown for word in words[one.heard_first : one.heard_last]),
        )
        for one in compare(required, words).differences
    ]


def test_the_same_words_agree():
    found = compare(split_words(STATEMENT), split_words(STATEMENT.lower()))
    assert found.differences == ()
    assert found.agreement == 1.0
    assert len(found.pairs) == 15


@pytest.mark.parametrize(
    ("heard", "expected"),
    [
        (STATEMENT.replace("give", "withdraw"), [("give", "withdraw")]),
        (STATEMENT.replace("give", "do not give"), [("", "do not")]),
        (STATEMENT.replace("can be", "can't be"), [("can", "can't")]),
        (STATEMENT.replace("Jane Doe, ", ""), [("Jane Doe,", "")]),
        (STATEMENT.replace("AI clone", "A I clone"), []),
        (STATEMENT.replace("create", "um create"), []),
        (
            STATEMENT.replace("I, Jane Doe", "Hi, Robert Miller"),
            [("I, Jane Doe,", "Hi, Robert Miller,")],
        ),
    ],
)
def test_what_differs_is_named(heard, expected):
    assert differences(heard) == expected


def test_talk_before_and_after_is_no_difference():
    words = split_words(f"Hello there everybody. {STATEMENT} Thank you very much.")
    found = compare(split_words(STATEMENT), words)
    assert found.differences == ()
    assert [word.shown for word in words[: found.heard_first]] == ["Hello", "there", "everybody."]
    assert words[found.heard_last].shown == "Thank"


def test_unrelated_talk_hardly_agrees():
    found = compare(split_words(STATEMENT), split_words("It was the best of times."))
    assert found.agreement < 0.2


def test_nothing_heard_agrees_with_nothing():
    found = compare(split_words(STATEMENT), ())
    assert found.agreement == 0.0
    assert found.pairs == ()

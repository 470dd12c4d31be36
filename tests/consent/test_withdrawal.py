"""What takes consent back, and what merely sounds like it."""

from __future__ import annotations

import pytest

from palprep.consent.wordings import (
    is_remark,
    negates,
    speaks_of_consent,
    takes_back,
    withdrawals,
)
from palprep.consent.words import split_words

TALK = split_words("Good morning and welcome to my kitchen. Today we bake some bread together.")


@pytest.mark.parametrize(
    "remark",
    [
        "But I withdraw my consent.",
        "I revoke all of it.",
        "Actually, no, I don't agree to this.",
        "Actually, I take that back.",
        "I can't allow that.",
        "I never agreed to it.",
        "Just kidding.",
        "This was said against my will.",
        "My consent is no longer valid.",
    ],
)
def test_a_withdrawal_counts_wherever_it_is_said(remark):
    words = split_words(remark)
    assert takes_back(words, [])
    assert takes_back((), [words])
    assert takes_back((*words, *TALK, *TALK), [])
    assert takes_back((), [(*TALK, *TALK, *words)])


@pytest.mark.parametrize(
    "remark",
    [
        "Sorry, forget what I just said.",
        "None of that is true.",
        "None of that is through.",
        "One of that is true.",
        "Actually, I have changed my mind.",
        "I was forced to say this.",
        "They want me to say this, but I don't mean it.",
        "Cancel that.",
    ],
)
def test_a_remark_counts_right_beside_the_statement(remark):
    words = split_words(remark)
    assert takes_back(words, [])
    assert takes_back((), [words])
    assert not takes_back((), [TALK])


def test_other_talk_takes_nothing_back():
    talk = split_words("You can't forget that recipe, and I told my mother so. " * 2)
    assert not takes_back((), [(*TALK, *TALK, *talk)])
    assert not takes_back(TALK, [TALK])
    assert not takes_back((), [()])


def test_a_negation_that_the_statement_has_is_none():
    (word,) = split_words("don't")
    assert negates(word, ())
    assert not negates(word, {"not"})
    assert not any(negates(word, ()) for word in TALK)


def test_consent_as_a_subject_is_noticed():
    assert speaks_of_consent(split_words("That was my consent."))
    assert not speaks_of_consent(TALK)


def test_a_few_words_of_oneself_may_be_about_the_statement():
    assert is_remark(split_words("I really hope all of it."))
    assert not is_remark(split_words("Thank you."))
    assert not is_remark(())
    assert not is_remark(split_words("I am going to show you how we bake bread. " * 3))


def test_a_remark_may_be_a_withdrawal_that_was_misheard():
    others = withdrawals(split_words("I heard hope all of it."))
    assert "I revoke all of it." in others
    assert "I withdraw hope all of it." in others
    assert withdrawals(TALK) == ()

"""Wordings that the sound is weighed against."""

from __future__ import annotations

import pytest

from palprep.consent.wording.statement import fill_statement, required_statement
from palprep.consent.wording.words import negated, replaced, split_words


@pytest.mark.parametrize(
    "said",
    [
        "cannot",
        "can't",
        "could",
        "am not",
        "do not give",
        "don't give",
        "unlike",
        "no",
        "without using",
    ],
)
def test_the_default_statement_is_held_against_its_opposites(said):
    text = fill_statement(required_statement(), "Jane Doe")
    assert said in {change for _, change in negated(text, split_words(text))}


def test_a_turn_changes_one_place_and_says_where():
    text = "You can go home."
    assert negated(text, split_words(text))[1, "cannot"] == "You cannot go home."


def test_what_is_already_negated_is_not_turned_twice():
    text = "I do not consent. I can."
    turned = negated(text, split_words(text))
    assert turned
    assert not [whole for whole in turned.values() if "not not" in whole]


@pytest.mark.parametrize(
    ("first", "last", "heard", "whole"),
    [
        (1, 2, "do revoke", "I do revoke my consent, today."),
        (3, 4, "permission", "I give my permission, today."),
        (3, 4, "", "I give my, today."),
        (1, 1, "do not", "I do not give my consent, today."),
        (5, 5, "maybe", "I give my consent, today. maybe"),
    ],
)
def test_what_was_heard_takes_the_place_of_what_was_required(first, last, heard, whole):
    text = "I give my consent, today."
    assert replaced(text, split_words(text), first, last, heard) == whole

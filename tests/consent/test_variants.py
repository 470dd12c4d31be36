"""Wordings that the sound is weighed against."""

from __future__ import annotations

import pytest

from palprep.consent.compare import Difference
from palprep.consent.statement import fill_statement, required_statement
from palprep.consent.wordings import negated, replaced
from palprep.consent.words import split_words


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
    assert said in {change for change, _, _ in negated(text)}


def test_a_turn_changes_one_place_and_says_where():
    ((said, whole, at),) = [turn for turn in negated("You can go home.") if turn[0] == "cannot"]
    assert (whole, at, said) == ("You cannot go home.", 4, "cannot")


def test_what_is_already_negated_is_not_turned_twice():
    assert not [whole for _, whole, _ in negated("I do not consent.") if "not not" in whole]


@pytest.mark.parametrize(
    ("difference", "heard", "whole"),
    [
        (Difference(1, 2, 0, 2), "do revoke", "I do revoke my consent, today."),
        (Difference(3, 4, 0, 1), "permission", "I give my permission, today."),
        (Difference(3, 4, 0, 0), "", "I give my, today."),
        (Difference(1, 1, 0, 2), "do not", "I do not give my consent, today."),
        (Difference(5, 5, 0, 1), "maybe", "I give my consent, today. maybe"),
    ],
)
def test_what_was_heard_takes_the_place_of_what_was_required(difference, heard, whole):
    text = "I give my consent, today."
    assert replaced(text, split_words(text), difference, split_words(heard)) == whole

"""The statement in parts that fit what the model hears at a time."""

from __future__ import annotations

import pytest

from palprep.consent.wording.statement import Statement, fill_statement
from palprep.errors import UsageError

SCRIPT = Statement.of("I, Jane Doe, give my consent that videos can be made.", "Jane Doe", "en")


def test_the_words_of_a_part_are_counted_from_the_statements_start():
    first, second = SCRIPT.parts(6)
    assert (first.text, second.text) == ("I, Jane Doe, give my consent", "that videos can be made.")
    assert (first.name, second.name) == (range(1, 3), range(0))
    assert (first.offset, second.offset) == (0, 6)
    assert SCRIPT.parts(40) == (SCRIPT,)


def test_a_statement_is_cut_after_sentences_and_never_within_the_name():
    text = "One two three four. Five six seven, I, Jane Doe, eight nine ten eleven twelve."
    script = Statement.of(text, "Jane Doe", "en")
    assert [part.text for part in script.parts(7)] == [
        "One two three four.",
        "Five six seven, I, Jane Doe,",
        "eight nine ten eleven twelve.",
    ]
    assert [part.name for part in script.parts(7)] == [range(0), range(4, 6), range(0)]
    assert all("Jane Doe," in part.text for part in script.parts(9) if part.name)


@pytest.mark.parametrize("name", [None, "", " - "])
def test_a_name_that_is_none_is_told(name):
    with pytest.raises(UsageError, match="The full name of the person who speaks is needed"):
        fill_statement("I, {full_name}, consent.", name)

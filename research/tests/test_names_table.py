"""The table of names, and what is counted of its readings."""

from __future__ import annotations

import pytest

from palprep.consent.wording import beyond_latin
from research.evaluation.names import HALVES, KINDS, Read, cases, in_english, outranked, table


def test_the_table_has_names_of_many_languages_in_both_halves():
    names = [case.required for case in cases() if case.kind == "said"]
    assert len({name.name for name in names}) == 64
    assert len({name.language for name in names}) == 21
    assert sum(beyond_latin(name.name) for name in names) == 4
    assert not any(beyond_latin(name.spoken_as) for name in names)
    halves = {half: {case.required for case in cases() if case.half == half} for half in HALVES}
    assert halves["open"].isdisjoint(halves["kept"])


def test_an_alike_name_sounds_otherwise_and_another_is_of_the_same_half():
    found = list(cases())
    assert [case.kind for case in found[:3]] == list(KINDS)
    halves = {case.required: case.half for case in found}
    for case in found:
        same = case.said.spoken_as == case.required.spoken_as
        assert same == (case.kind == "said"), case
        assert case.kind != "another" or halves[case.said] == case.half


@pytest.mark.parametrize(("ipa", "english"), [("ʁɲʑ", "ɹnjʒ"), ("tɕ", "tʃ"), ("bst", "bst")])
def test_sounds_of_other_languages_become_those_of_english(ipa, english):
    assert in_english(ipa) == english


def test_a_name_that_ranks_below_the_alike_one_is_counted():
    said, alike, another = list(cases())[:3]
    found = [
        Read(said, "joe", "name", "fail"),
        Read(alike, "joe", "name", "warn"),
        Read(another, "joe", "name", "fail"),
        Read(said, "flite", "name", "pass"),
        Read(alike, "flite", "name", "warn"),
    ]
    assert outranked(found) == 1
    lines = table(found)
    assert "| ga | 1 / 0 / 1 |  | 0 / 2 / 0 |  | 0 / 0 / 1 |  |" in lines
    (half,) = [line for line in lines if line.startswith("| open, name |")]
    assert half.split(" | ")[1:3] == ["1 of 2 (9.5% to 90.5%)", "0 of 2 (0.0% to 65.8%)"]

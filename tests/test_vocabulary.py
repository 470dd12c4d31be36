"""The words that everything shares, and the order of names."""

from __future__ import annotations

from itertools import permutations

from palprep.vocabulary import by_name


def test_names_are_in_the_order_in_which_people_count():
    names = ["a", "B", "person-2", "Person-002", "person-10", "person-10a", "person-10b", "z\u0308"]
    names = sorted(names, key=by_name)
    assert names == [
        *("a", "B", "Person-002", "person-2", "person-10", "person-10a", "person-10b"),
        "z\u0308",
    ]
    years = ["2024-9 ada", "2024-10 ada", f"{'9' * 300}"]
    assert all(sorted(each, key=by_name) == years for each in permutations(years))


def test_spellings_of_one_name_stand_together_by_their_letters():
    """Of several that a disk takes for one the first is taken: it must stay the same one."""
    assert sorted(["zo\u00eb", "zof", "ZO\u00cb", "zoe\u0308"], key=by_name) == [
        *("zof", "ZO\u00cb", "zoe\u0308", "zo\u00eb")
    ]

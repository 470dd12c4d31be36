"""The table of what the checks of a portrait shall reach."""

from __future__ import annotations

import importlib

import pytest

from palprep.values import Outcome


@pytest.fixture
def script():
    return importlib.import_module("research.evaluation.targets")


def test_a_share_is_kept_up_to_its_limit(script):
    assert script.at_most("children that pass", 0.02, 4, 200).kept
    over = script.at_most("children that pass", 0.02, 5, 200)
    assert not over.kept
    assert over.reached.startswith("5 of 200: 2.5% (")


def test_a_warning_counts_as_a_pass_and_unknown_as_wrong(script):
    cases = [
        script.Case(True, Outcome.PASS),
        script.Case(True, Outcome.WARN),
        script.Case(True, Outcome.UNKNOWN),
        script.Case(True, Outcome.FAIL),
        script.Case(False, Outcome.FAIL),
        script.Case(False, Outcome.WARN),
    ]
    value, words = script.accuracy(cases)
    assert value == pytest.approx(0.5)
    assert words == "0.500: 2 of 4 fit, 1 of 2 unfit"


def test_every_line_has_a_cell_for_each_column(script):
    line = script.at_most("fit portraits that fail", 0.05, 1, 100, "0 of 17")
    columns = {text.count("|") for text in script.table([line])}
    assert len(columns) == 1

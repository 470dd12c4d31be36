"""Cross-validation of limits: honest about noise, faithful to a clear gap."""

from __future__ import annotations

import datetime as dt
import importlib
import random

import pytest

from palprep.rules.profile import Limit
from palprep.values import Outcome


@pytest.fixture
def labels():
    return importlib.import_module("research.material.corpus_labels")


@pytest.fixture
def held_out(labels):
    return importlib.import_module("research.evaluation.held_out")


@pytest.fixture
def cases(labels):
    """Cases from (value, wanted) pairs; a pair's third item, if any, is its group."""

    def build(*pairs):
        return [
            labels.Case(
                row={"group": str(rest[0]) if rest else f"g{index}"},
                wanted=wanted, found=None if value is None else value >= 0.9,
                value=value, shown="",
            )
            for index, (value, wanted, *rest) in enumerate(pairs)
        ]  # fmt: skip

    return build


def at_least(value):
    return Limit(min=value, level=Outcome.FAIL, source="test", date=dt.date(2026, 11, 21))


def test_a_clear_gap_is_found_whatever_the_limit_was(held_out, cases):
    known = cases(*[(0.1 + n / 100, False) for n in range(10)], *[(0.6, True)] * 10)
    found = held_out.cross_validate(known, at_least(0.9), folds=5, rounds=3)
    assert found.accuracy == 1.0
    assert all(0.19 < limit < 0.6 for limit in found.fitted["min"])
    assert len(found.fitted["min"]) == 15


def test_what_cannot_be_told_is_held_out_at_chance(held_out, cases):
    rng = random.Random(1)  # noqa: S311
    noise = cases(*[(rng.random(), bool(n % 2)) for n in range(200)])
    found = held_out.cross_validate(noise, at_least(0.5), folds=5, rounds=5)
    assert found.accuracy == pytest.approx(0.5, abs=0.1)


def test_related_pictures_are_left_out_together(held_out, cases):
    # Each group has its own threshold: only a fold that saw the group could know it.
    pairs = [(value, wanted, group) for group in range(2)
             for value, wanted in ((group, False), (group + 0.5, True))]  # fmt: skip
    parts = list(held_out._parted(cases(*pairs), 2, random.Random(0)))  # noqa: S311
    assert len(parts) == 2
    for train, test in parts:
        assert {case.row["group"] for case in train}.isdisjoint(case.row["group"] for case in test)
        assert len(train) + len(test) == 4


def test_cases_without_a_measure_stay_wrong(held_out, cases):
    known = cases(*[(0.1, False)] * 8, *[(0.6, True)] * 6, (None, True), (None, True))
    found = held_out.cross_validate(known, at_least(0.5), folds=4, rounds=2)
    assert found.accuracy == pytest.approx((1 + 6 / 8) / 2)


def test_a_limit_without_bound_has_nothing_to_fit(held_out, cases):
    limit = Limit(equals=1, level=Outcome.FAIL, source="test", date=dt.date(2026, 11, 21))
    known = cases((1, True), (2, False))
    assert held_out.cross_validate(known, limit, folds=2, rounds=1) is None


def test_balanced_accuracy_counts_silence_as_error(labels, cases):
    assert labels.balanced_accuracy(cases((1, True), (None, True), (0, False))) == 0.75
    assert labels.balanced_accuracy(cases((1, True))) is None

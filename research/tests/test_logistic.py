"""The regressions that the checks of a portrait are fitted with."""

from __future__ import annotations

import importlib

import numpy as np
import pytest


@pytest.fixture
def logistic():
    return importlib.import_module("research.training.logistic")


def faces(count=200):
    """Two features, of which the first tells adults, one in four, by two standard deviations."""
    rng = np.random.default_rng(0)
    wanted = (np.arange(count) % 4 == 0).astype(float)
    return rng.normal(size=(count, 2)) + np.column_stack([2 * wanted, 0 * wanted]), wanted


def test_both_classes_count_the_same(logistic):
    _, wanted = faces()
    importance = logistic.evenly(wanted)
    assert importance[wanted == 1].sum() == pytest.approx(importance[wanted == 0].sum())
    assert importance.sum() == pytest.approx(len(wanted))


def test_what_tells_adults_gets_the_weight(logistic):
    features, wanted = faces()
    weights, _ = logistic.standardised_fit(features, wanted, 100.0)
    assert weights[0] > 5 * abs(weights[1])


def test_held_out_scores_are_of_fits_that_did_not_see_the_face(logistic):
    features, wanted = faces()
    assert logistic.area_under_curve(logistic.held_out(features, wanted, 100.0), wanted) > 0.85
    coins = np.random.default_rng(1).normal(size=(len(wanted), 150))
    blind = logistic.area_under_curve(logistic.held_out(coins, wanted, 100.0), wanted)
    assert 0.3 < blind < 0.7

"""The fit that tells adults from minors."""

from __future__ import annotations

import importlib

import numpy as np
import pytest


@pytest.fixture
def train_age(checkout, monkeypatch):
    monkeypatch.syspath_prepend(str(checkout / "scripts"))
    return importlib.import_module("train_age")


def faces(count=200):
    """Two features, of which the first tells adults, one in four, by two standard deviations."""
    rng = np.random.default_rng(0)
    wanted = (np.arange(count) % 4 == 0).astype(float)
    return rng.normal(size=(count, 2)) + np.column_stack([2 * wanted, 0 * wanted]), wanted


def test_both_classes_count_the_same(train_age):
    _, wanted = faces()
    importance = train_age.evenly(wanted)
    assert importance[wanted == 1].sum() == pytest.approx(importance[wanted == 0].sum())
    assert importance.sum() == pytest.approx(len(wanted))


def test_what_tells_adults_gets_the_weight(train_age):
    features, wanted = faces()
    weights, _ = train_age.standardised_fit(features, wanted)
    assert weights[0] > 5 * abs(weights[1])


def test_held_out_scores_are_of_fits_that_did_not_see_the_face(train_age):
    features, wanted = faces()
    assert train_age.area_under_curve(train_age.held_out(features, wanted), wanted) > 0.85
    coins = np.random.default_rng(1).normal(size=(len(wanted), 150))
    blind = train_age.area_under_curve(train_age.held_out(coins, wanted), wanted)
    assert 0.3 < blind < 0.7

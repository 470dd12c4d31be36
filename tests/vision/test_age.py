"""What a face says of its age."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.vision.age import YEARS, describe
from palprep.vision.arrays import Floats
from palprep.vision.detect import find_faces
from palprep.vision.identity import embed
from palprep.vision.models import Models


def classes_around(*years: float) -> Floats:
    """One row for each age: a bell of five years about it."""
    bells = np.exp(-((YEARS - np.array(years)[:, None]) ** 2) / 50)
    return np.asarray(bells / bells.sum(axis=1, keepdims=True), np.float32)


def test_years_are_the_mean_of_all_crops() -> None:
    years, root, *_ = describe(classes_around(30.0, 40.0), np.zeros(128))["age"]
    assert years == pytest.approx(35, abs=0.5)
    assert root == pytest.approx(years**0.5)


def test_the_younger_the_network_reads_a_face_the_less_likely_an_adult(
    portrait: np.ndarray, models: Models
) -> None:
    embedding = embed(portrait, find_faces(portrait, models.detector)[0], models.identity)
    likely = [
        models.adult.likelihood(describe(classes_around(years), embedding))
        for years in (6.0, 14.0, 20.0, 40.0)
    ]
    assert likely == sorted(likely)
    assert likely[0] < likely[-1] - 0.1


def test_a_face_that_cannot_be_younger_has_finite_odds() -> None:
    certain = np.zeros((1, len(YEARS)))
    certain[0, -1] = 1.0
    assert np.isfinite(describe(certain, np.zeros(128))["age"]).all()

"""What a face says of its age."""

from __future__ import annotations

import numpy as np
import pytest

from palprep.vision.arrays import Floats, resized
from palprep.vision.detect import find_faces
from palprep.vision.identity import embed
from palprep.vision.models import Models
from palprep.vision.scene import YEARS, age_classes, describe_age


def classes_around(years: float) -> Floats:
    """A bell of five years."""
    bell = np.exp(-((YEARS - years) ** 2) / 50)
    return np.asarray(bell / bell.sum(), np.float32)


def test_years_are_the_expected_value() -> None:
    years, root, *_ = describe_age(classes_around(35.0), np.zeros(128))["age"]
    assert years == pytest.approx(35, abs=0.1)
    assert root == pytest.approx(years**0.5)


def test_a_grown_woman_reads_as_one_at_any_size(portrait: np.ndarray, models: Models) -> None:
    """The astronaut of the samples was about 43."""
    for size in (portrait.shape[1], 300):
        picture = resized(portrait, size, size)
        (face, *_) = find_faces(picture, models.detector)
        classes = age_classes(picture, face, models.age)
        assert classes.sum() == pytest.approx(1.0, abs=1e-3)
        assert 30 < classes @ YEARS < 50


def test_the_younger_the_network_reads_a_face_the_less_likely_an_adult(
    portrait: np.ndarray, models: Models
) -> None:
    embedding = embed(portrait, find_faces(portrait, models.detector)[0], models.identity)
    likely = [
        models.adult.likelihood(describe_age(classes_around(years), embedding))
        for years in (6.0, 14.0, 20.0, 40.0)
    ]
    assert likely == sorted(likely)
    assert likely[0] < likely[-1] - 0.1


def test_a_face_that_cannot_be_younger_has_finite_odds() -> None:
    certain = np.zeros(len(YEARS))
    certain[-1] = 1.0
    assert np.isfinite(describe_age(certain, np.zeros(128))["age"]).all()

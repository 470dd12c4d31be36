"""Photographed or depicted."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from palprep.vision.analysis import analyse_portrait
from palprep.vision.arrays import Pixels
from palprep.vision.facts import PortraitFacts
from palprep.vision.models import Models


def likelihood(rgb: Pixels, models: Models) -> float:
    subject = analyse_portrait(np.ascontiguousarray(rgb), models).subject
    assert subject is not None
    return subject.human


def drawn(rgb: Pixels) -> Pixels:
    """Flat colours and dark outlines, as a cartoon of the portrait has."""
    flat = rgb
    for _ in range(6):
        flat = cv2.bilateralFilter(flat, 9, 40, 9)
    flat = (flat // 48) * 48 + 24
    edges = cv2.Canny(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), 60, 120)
    outlines = cv2.dilate(edges, np.ones((3, 3), np.uint8)) > 0
    return np.where(outlines[..., None], np.uint8(20), flat).astype(np.uint8)


def test_a_drawing_of_the_portrait_is_less_likely_a_photograph(
    portrait: Pixels, picture: PortraitFacts, models: Models
) -> None:
    assert picture.subject is not None
    assert likelihood(drawn(portrait), models) < picture.subject.human - 0.2


def test_a_mirror_does_not_change_the_kind(
    portrait: Pixels, picture: PortraitFacts, models: Models
) -> None:
    assert picture.subject is not None
    mirrored = likelihood(portrait[:, ::-1], models)
    assert mirrored == pytest.approx(picture.subject.human, abs=0.15)

"""Photographed or depicted: what the evidence adds up to."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from palprep.vision.analysis import analyse_portrait
from palprep.vision.arrays import Pixels
from palprep.vision.facts import PortraitFacts
from palprep.vision.models import Models
from palprep.vision.scene import BLOCKS


def likelihood(rgb: Pixels, models: Models) -> float:
    subject = analyse_portrait(np.ascontiguousarray(rgb), models).subject
    assert subject is not None
    return subject.human.likelihood


def drawn(rgb: Pixels) -> Pixels:
    """Flat colours and dark outlines, as a cartoon of the portrait has."""
    flat = rgb
    for _ in range(6):
        flat = cv2.bilateralFilter(flat, 9, 40, 9)
    flat = (flat // 48) * 48 + 24
    edges = cv2.Canny(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), 60, 120)
    outlines = cv2.dilate(edges, np.ones((3, 3), np.uint8)) > 0
    return np.where(outlines[..., None], np.uint8(20), flat).astype(np.uint8)


def test_the_cues_of_all_blocks_add_up_to_the_likelihood(
    picture: PortraitFacts, models: Models
) -> None:
    assert picture.subject is not None
    human = picture.subject.human
    logit = models.human.bias + sum(human.cues[block] for block in BLOCKS)
    assert set(models.human.sizes) == set(BLOCKS)
    assert human.likelihood == pytest.approx(1 / (1 + math.exp(-logit)))


def test_a_drawing_of_the_portrait_is_less_likely_a_photograph(
    portrait: Pixels, picture: PortraitFacts, models: Models
) -> None:
    assert picture.subject is not None
    assert likelihood(drawn(portrait), models) < picture.subject.human.likelihood - 0.2


def test_a_mirror_does_not_change_the_kind(
    portrait: Pixels, picture: PortraitFacts, models: Models
) -> None:
    assert picture.subject is not None
    mirrored = likelihood(portrait[:, ::-1], models)
    assert mirrored == pytest.approx(picture.subject.human.likelihood, abs=0.15)

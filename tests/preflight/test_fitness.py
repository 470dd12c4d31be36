from __future__ import annotations

import cv2
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from palprep.preflight.fitness import (
    NEAR_DUPLICATE_BITS,
    distance,
    fitness,
    group_duplicates,
)
from palprep.vision.analysis import analyse_portrait
from palprep.vision.arrays import Pixels
from palprep.vision.facts import PortraitFacts
from palprep.vision.models import Models
from palprep.vision.perceptual_hash import perceptual_hash

HASHES = st.integers(0, 2**64 - 1).map(lambda value: f"{value:016x}")


def test_a_blurred_portrait_is_less_fit(
    portrait: Pixels, picture: PortraitFacts, models: Models
) -> None:
    blurred = analyse_portrait(np.asarray(cv2.GaussianBlur(portrait, (0, 0), 5), np.uint8), models)
    assert 0 < fitness(blurred) < fitness(picture) <= 1


def test_nobody_is_not_fit(models: Models) -> None:
    assert fitness(analyse_portrait(np.zeros((99, 99, 3), np.uint8), models)) == 0


def test_small_changes_keep_the_fingerprint(portrait: Pixels) -> None:
    own = perceptual_hash(portrait)
    brighter = np.clip(portrait.astype(int) + 12, 0, 255).astype(np.uint8)
    _, data = cv2.imencode(".jpg", portrait, [cv2.IMWRITE_JPEG_QUALITY, 40])
    coded = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    smaller = np.asarray(cv2.resize(portrait, None, fx=0.4, fy=0.4), np.uint8)
    for each in (brighter, coded, smaller):
        assert distance(own, perceptual_hash(each)) <= NEAR_DUPLICATE_BITS
    assert distance(own, perceptual_hash(portrait[::-1])) > NEAR_DUPLICATE_BITS


@given(HASHES, HASHES)
def test_distance_is_a_metric(one: str, other: str) -> None:
    assert distance(one, one) == 0
    assert distance(one, other) == distance(other, one) <= 64


@given(st.lists(HASHES, max_size=12))
def test_groups_lead_back_to_leaders(hashes: list[str]) -> None:
    groups = group_duplicates(hashes)
    assert all(groups[leader] == leader <= index for index, leader in enumerate(groups))

from __future__ import annotations

import cv2
import numpy as np
import pytest

from palprep.vision.arrays import Pixels
from palprep.vision.identity import cosine, identify
from palprep.vision.models import Models


def test_a_person_resembles_herself_in_another_light(portrait: Pixels, models: Models) -> None:
    own = identify(portrait, models)
    changed = (portrait[20:, 10:] * 0.7).astype(np.uint8)
    again = identify(np.asarray(cv2.GaussianBlur(changed, (0, 0), 1), np.uint8), models)
    assert own is not None
    assert again is not None
    assert np.linalg.norm(own) == pytest.approx(1)
    assert cosine(own, again) > 0.6


def test_nobody_has_no_embedding(models: Models) -> None:
    assert identify(np.zeros((50, 80, 3), np.uint8), models) is None

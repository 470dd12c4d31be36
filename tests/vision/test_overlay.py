from __future__ import annotations

import cv2
import numpy as np

from palprep.vision.facts import Box
from palprep.vision.look import Sight
from palprep.vision.models import Models
from palprep.vision.overlay import CROP, FAILED, OUTSIDE, overlay


def decoded(data: bytes) -> np.ndarray:
    assert data.startswith(b"\x89PNG")
    return cv2.cvtColor(cv2.imdecode(np.frombuffer(data, np.uint8), 1), cv2.COLOR_BGR2RGB)


def test_crop_and_failed_region_are_drawn_where_they_are(sight: Sight, models: Models) -> None:
    crop = Box(x=60, y=40, width=400, height=500)
    region = Box(x=200, y=200, width=50, height=60)
    shown = decoded(overlay(sight, models, crop=crop, failed=[region]))
    assert shown.shape == sight.rgb.shape
    assert tuple(shown[300, 60]) == CROP
    assert tuple(shown[230, 200]) == FAILED
    outside = sight.rgb[5, 5] * OUTSIDE
    np.testing.assert_allclose(shown[5, 5], outside, atol=1)


def test_without_findings_only_the_face_is_drawn(sight: Sight, models: Models) -> None:
    shown = decoded(overlay(sight, models))
    changed = (shown != sight.rgb).any(axis=2)
    index = sight.subject
    assert index is not None
    box = sight.box(index)
    rows = np.flatnonzero(changed.any(axis=1))
    assert box.y - 0.3 * box.height < rows[0]
    assert rows[-1] < box.y + 1.3 * box.height

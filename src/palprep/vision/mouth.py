"""How lips move from frame to frame.

Unlike the samples of :mod:`palprep.vision.footage` the frames are close to each other in time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from palprep.media import SampledFrame
from palprep.vision.arrays import Floats, Pixels
from palprep.vision.detect import find_faces
from palprep.vision.facts import SURE_PRESENCE
from palprep.vision.landmarks import (
    LEFT_EYE_OUTER,
    MOUTH_LEFT,
    MOUTH_RIGHT,
    NOSE_BASE,
    RIGHT_EYE_OUTER,
    Landmarks,
    find_landmarks,
    follow_points,
)
from palprep.vision.models import Models

_INNER_UPPER, _INNER_LOWER = (13, 82, 312), (14, 87, 317)
"""Points of the inner lips, those that face each other."""
_OUTER_UPPER, _OUTER_LOWER = 0, 17
_INNER_RIGHT, _INNER_LEFT = 78, 308
_CHIN = 152

SHAPE = 6


class MouthTrack(NamedTuple):
    """The mouth in n frames, in their order; frames without a face are left out."""

    at_s: Floats
    """Presentation times, shape (n,)."""
    shape: Floats
    """Shape (n, :data:`SHAPE`): the opening between the inner lips, the height of the outer lips,
    the mouth's width inside and outside, and how far the chin and the upper lip are from the nose.
    Upright distances are in lengths of the nose, those across in distances of the eyes."""


def follow_mouth(frames: Iterable[SampledFrame], models: Models) -> MouthTrack:
    """Follow the largest face through frames that are close to each other."""
    last: Landmarks | None = None
    rows = []
    for frame in frames:
        last = _face_in(frame.rgb, last, models)
        if last is not None:
            rows.append((frame.at_s, *_shape(last)))
    table = np.array(rows, np.float64).reshape(-1, 1 + SHAPE)
    return MouthTrack(table[:, 0], table[:, 1:])


def _face_in(rgb: Pixels, last: Landmarks | None, models: Models) -> Landmarks | None:
    if last is not None:
        marks = follow_points(rgb, last, models)
        if marks.presence >= SURE_PRESENCE:
            return marks
    for face in find_faces(rgb, models.detector)[:1]:
        marks = find_landmarks(rgb, face, models)
        if marks.presence >= SURE_PRESENCE:
            return marks
    return None


def _shape(marks: Landmarks) -> list[float]:
    right, left = marks.at(RIGHT_EYE_OUTER, LEFT_EYE_OUTER)
    eyes = max(float(np.hypot(*(left - right))), 1e-6)
    along = (left - right) / eyes
    # Turned so that the line of the eyes is level, from the middle between them.
    level = (marks.points[:, :2] - (right + left) / 2) @ np.array([along, (-along[1], along[0])]).T
    across, down = level.T
    nose = max(float(down[NOSE_BASE]), 0.2 * eyes)
    return [
        float(down[[*_INNER_LOWER]].mean() - down[[*_INNER_UPPER]].mean()) / nose,
        float(down[_OUTER_LOWER] - down[_OUTER_UPPER]) / nose,
        float(across[_INNER_LEFT] - across[_INNER_RIGHT]) / eyes,
        float(across[MOUTH_LEFT] - across[MOUTH_RIGHT]) / eyes,
        float(down[_CHIN] - down[NOSE_BASE]) / nose,
        float(down[_OUTER_UPPER] - down[NOSE_BASE]) / nose,
    ]

"""478 points of a face, its irises and the coefficients of its expression.

Inputs and outputs follow MediaPipe's face landmark model: a square of 1.5 times the face box,
turned so that the eyes are level, 256 x 256 RGB in 0..1; points in pixels of that square.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from palprep.vision.align import warp
from palprep.vision.arrays import Floats, Pixels, tensor
from palprep.vision.detect import Detection
from palprep.vision.landmark_indices import (
    LEFT_EYE_OUTER,
    RIGHT_EYE_OUTER,
    SHAPE_NAMES,
    SHAPE_POINTS,
)
from palprep.vision.models import Models

CROP_SIDE = 256
CROP_SCALE = 1.5


@dataclass(frozen=True)
class Landmarks:
    """``points`` is 478x3: x and y in pixels of the picture, z likewise, smaller is nearer.

    ``presence`` is the net's probability that its crop showed a face; ``shapes`` the 52
    expression coefficients, 0 to 1.
    """

    points: Floats
    presence: float
    shapes: Mapping[str, float]

    def at(self, *indices: int) -> Floats:
        """x and y of these points, n x 2."""
        return self.points[list(indices), :2]


def find_landmarks(rgb: Pixels, face: Detection, models: Models) -> Landmarks:
    """The points of one face; they may lie outside of the picture."""
    x, y, width, height = face.box
    side = CROP_SCALE * max(width, height)
    eyes = face.points[1] - face.points[0]
    angle = float(np.arctan2(eyes[1], eyes[0]))
    # Two passes: the box of the detector is loose, the box of the first points is not.
    points, presence = _run(rgb, (x + width / 2, y + height / 2), side, angle, models)
    if presence > 0.5:
        centre, side, angle = _square(points)
        points, presence = _run(rgb, centre, side, angle, models)
    shapes = _shapes(points, models)
    return Landmarks(points, presence, shapes)


def follow_landmarks(rgb: Pixels, last: Landmarks, models: Models) -> Landmarks:
    """The points of a face that was seen a moment ago, looked for where it was then.

    Half the cost of :func:`find_landmarks`; a low ``presence`` says that the face has gone.
    """
    centre, side, angle = _square(last.points)
    points, presence = _run(rgb, centre, side, angle, models)
    return Landmarks(points, presence, _shapes(points, models))


def _run(
    rgb: Pixels, centre: tuple[float, float], side: float, angle: float, models: Models
) -> tuple[Floats, float]:
    crop, back = _cut(rgb, centre, side, angle)
    coordinates, logit = models.landmarks.run(tensor(crop, 1 / 255))
    local = coordinates.reshape(478, 3).astype(np.float32)
    points = np.empty_like(local)
    points[:, :2] = local[:, :2] @ back[:, :2].T + back[:, 2]
    points[:, 2] = local[:, 2] * side / CROP_SIDE
    return points, float(1 / (1 + np.exp(-logit.reshape(-1)[0])))


def _cut(
    rgb: Pixels, centre: tuple[float, float], side: float, angle: float
) -> tuple[Pixels, Floats]:
    """A turned square of the picture, and the 2x3 matrix from its pixels back to the picture's."""
    scale = side / CROP_SIDE
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shift = np.array(centre) - turn @ np.full(2, side / 2)
    there = np.column_stack([turn.T / scale, -turn.T @ shift / scale])
    return warp(rgb, there, CROP_SIDE), np.column_stack([turn * scale, shift])


def _square(points: Floats) -> tuple[tuple[float, float], float, float]:
    right, left = points[RIGHT_EYE_OUTER, :2], points[LEFT_EYE_OUTER, :2]
    angle = float(np.arctan2(left[1] - right[1], left[0] - right[0]))
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    upright = points[:468, :2] @ turn.T
    low, high = upright.min(0), upright.max(0)
    centre = turn.T @ ((low + high) / 2)
    return (float(centre[0]), float(centre[1])), CROP_SCALE * float((high - low).max()), angle


def _shapes(points: Floats, models: Models) -> dict[str, float]:
    chosen = np.ascontiguousarray(points[list(SHAPE_POINTS), :2])[None]
    scores = models.blendshapes.run(chosen)[0].reshape(-1)
    return {name: float(score) for name, score in zip(SHAPE_NAMES, scores, strict=True)}

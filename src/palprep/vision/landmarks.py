"""478 points of a face, its irises and the coefficients of its expression.

Inputs and outputs follow MediaPipe's face landmark model: a square of 1.5 times the face box,
turned so that the eyes are level, 256 x 256 RGB from 0 to 1; points in pixels of that square.
The points are numbered as there; "right" and "left" are the subject's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from palprep.vision.arrays import Floats, Pixels, tensor, warp
from palprep.vision.detect import Detection
from palprep.vision.models import Models

RIGHT_EYE_OUTER, RIGHT_EYE_INNER, LEFT_EYE_INNER, LEFT_EYE_OUTER = 33, 133, 362, 263
RIGHT_IRIS, LEFT_IRIS = 468, 473
NOSE_TIP, NOSE_BASE = 4, 2
MOUTH_RIGHT, MOUTH_LEFT = 61, 291
LIP_UPPER, LIP_LOWER = 13, 14
"""The inner lips, in the middle."""
IRIS_WIDTHS: Final = ((469, 471), (474, 476))
"""Opposite points of the irises across, the right one first."""
FACE_OVAL = (
    *(10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377),
    *(152, 148, 176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109),
)

SHAPES: Final[Mapping[str, int]] = {
    "eyeBlinkLeft": 9,
    "eyeBlinkRight": 10,
    "eyeLookInLeft": 13,
    "eyeLookInRight": 14,
    "eyeLookOutLeft": 15,
    "eyeLookOutRight": 16,
    "jawOpen": 25,
}
"""Which of the 52 coefficients that the blendshape net returns are read, and where they stand."""

CROP_SIDE = 256
CROP_SCALE = 1.5


@dataclass(frozen=True)
class Landmarks:
    """``points`` is 478x3: x and y in pixels of the picture, z likewise, smaller is nearer.

    ``presence`` is the net's probability that its crop showed a face; ``shapes`` the coefficients
    of its expression, 0 to 1, by the names of :data:`SHAPES`.
    """

    points: Floats
    presence: float
    shapes: Mapping[str, float]

    def at(self, *indices: int) -> Floats:
        """x and y of these points, n x 2."""
        return self.points[list(indices), :2]

    @property
    def nose(self) -> Floats:
        """x and y of the tip of the nose."""
        return self.points[NOSE_TIP, :2]

    @property
    def irises(self) -> Floats:
        """x and y of the middles of the irises, the subject's right one first, 2 x 2."""
        return self.at(RIGHT_IRIS, LEFT_IRIS)


def find_landmarks(rgb: Pixels, face: Detection, models: Models) -> Landmarks:
    """The points of one face; they may lie outside of the picture."""
    side = CROP_SCALE * max(face.box[2:])
    eyes = face.points[1] - face.points[0]
    angle = float(np.arctan2(eyes[1], eyes[0]))
    # Two passes: the box of the detector is loose, the box of the first points is not.
    points, presence = _run(rgb, face.middle, side, angle, models)
    if presence > 0.5:
        points, presence = _run(rgb, *_square(points), models)
    return Landmarks(points, presence, _shapes(points, models))


def follow_landmarks(
    rgb: Pixels, last: Landmarks, models: Models, *, points_alone: bool = False
) -> Landmarks:
    """The points of a face that was seen a moment ago, looked for where it was then.

    Half the cost of :func:`find_landmarks`; a low ``presence`` says that the face has gone. Points
    alone have no coefficients of the expression.
    """
    points, presence = _run(rgb, *_square(last.points), models)
    return Landmarks(points, presence, {} if points_alone else _shapes(points, models))


def _run(
    rgb: Pixels, centre: tuple[float, float], side: float, angle: float, models: Models
) -> tuple[Floats, float]:
    scale = side / CROP_SIDE
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shift = np.array(centre) - turn @ np.full(2, side / 2)
    # To a turned square of the picture, and from its pixels back to the picture's.
    there = np.column_stack([turn.T / scale, -turn.T @ shift / scale])
    back = np.column_stack([turn * scale, shift])
    crop = warp(rgb, there, CROP_SIDE)
    coordinates, logit = models.landmarks.run(tensor(crop, 1 / 255))
    local = coordinates.reshape(478, 3).astype(np.float32)
    points = np.empty_like(local)
    points[:, :2] = local[:, :2] @ back[:, :2].T + back[:, 2]
    points[:, 2] = local[:, 2] * side / CROP_SIDE
    return points, float(1 / (1 + np.exp(-logit.reshape(-1)[0])))


def _square(points: Floats) -> tuple[tuple[float, float], float, float]:
    """The square to look at around points: its middle, its side, and its turn in radians."""
    right, left = points[RIGHT_EYE_OUTER, :2], points[LEFT_EYE_OUTER, :2]
    angle = float(np.arctan2(left[1] - right[1], left[0] - right[0]))
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    upright = points[:468, :2] @ turn.T
    low, high = upright.min(0), upright.max(0)
    centre = turn.T @ ((low + high) / 2)
    return (float(centre[0]), float(centre[1])), CROP_SCALE * float((high - low).max()), angle


def _shapes(points: Floats, models: Models) -> dict[str, float]:
    (scores,) = models.blendshapes.run(points)
    return {name: float(scores[at]) for name, at in SHAPES.items()}

"""Faces in a picture: YuNet at several sizes, so that near and far faces are both found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from palprep.vision.arrays import Floats, Pixels, shrunk, tensor
from palprep.vision.models import STRIDES, Network

SIDES = (160, 640)
"""Longest sides, in pixels, at which every picture is searched. YuNet was trained on faces of
about 10 to 300 px: 640 finds those from 1/60 to 1/2 of the picture, 160 those that fill it."""

NEAR_SIDE = 320
"""Longest side at which :func:`recount_faces` searches."""

NEAR = 1 / 8
"""Share of the picture's longest side from which a face is near."""

FAR_SIDE = 1280
"""Searched as well when no near face was found."""

MIN_SCORE = 0.6
"""Below it YuNet's boxes are mostly texture (its own demo takes 0.6 to 0.9)."""

SAME_FACE_OVERLAP = 0.3
"""Intersection over union from which two boxes are one face (YuNet's own default)."""


@dataclass(frozen=True)
class Detection:
    """One face: ``box`` is x, y, width, height, ``points`` 5x2 are the eye at the picture's left,
    the other eye, nose tip and mouth corners, all in pixels of the picture that was searched."""

    box: tuple[float, float, float, float]
    points: Floats
    score: float

    @property
    def size(self) -> float:
        """The geometric mean of width and height."""
        return float(np.sqrt(self.box[2] * self.box[3]))

    @property
    def middle(self) -> tuple[float, float]:
        return self.box[0] + self.box[2] / 2, self.box[1] + self.box[3] / 2


def find_faces(rgb: Pixels, network: Network) -> tuple[Detection, ...]:
    """Every face, largest first."""
    longest = max(rgb.shape[:2])
    found = [face for side in SIDES for face in _search(rgb, side, network)]
    if longest > SIDES[-1] and max((face.size for face in found), default=0.0) < NEAR * longest:
        found += _search(rgb, FAR_SIDE, network)
    return _merged(found)


def recount_faces(rgb: Pixels, network: Network) -> tuple[Detection, ...]:
    """Faces next to one that is known to be large, largest first, at a quarter of the cost.

    Where the largest takes an eighth of the picture's longest side or more, another a quarter
    as large has 10 px at :data:`NEAR_SIDE`, the least that YuNet was trained on.
    """
    return _merged(_search(rgb, NEAR_SIDE, network))


def _search(rgb: Pixels, side: int, network: Network) -> list[Detection]:
    scale = side / max(rgb.shape[:2])
    small = shrunk(rgb, scale)
    step = STRIDES[-1]
    # The net halves its input five times, so that both sides must be multiples of 32.
    height, width = small.shape[:2]
    padded = np.zeros((height + -height % step, width + -width % step, 3), np.uint8)
    padded[:height, :width] = small
    outputs = [out[0] for out in network.run(tensor(padded, swap=True))]
    found: list[Detection] = []
    for index, stride in enumerate(STRIDES):
        cls, obj, bbox, kps = outputs[index::3]
        columns = padded.shape[1] // stride
        scores = np.sqrt(np.clip(cls[:, 0], 0, 1) * np.clip(obj[:, 0], 0, 1))
        for cell in np.flatnonzero(scores >= MIN_SCORE):
            corner = np.array([cell % columns, cell // columns], np.float32)
            centre = (corner + bbox[cell, :2]) * stride / scale
            size = np.exp(bbox[cell, 2:]) * stride / scale
            points = (corner + kps[cell].reshape(5, 2)) * stride / scale
            x, y = (float(n) for n in centre - size / 2)
            box = (x, y, float(size[0]), float(size[1]))
            found.append(Detection(box, points.astype(np.float32), float(scores[cell])))
    return found


def _merged(found: Sequence[Detection]) -> tuple[Detection, ...]:
    boxes, scores = [face.box for face in found], [face.score for face in found]
    kept = cv2.dnn.NMSBoxes(boxes, scores, 0.0, SAME_FACE_OVERLAP)
    return tuple(sorted((found[at] for at in kept), key=lambda face: -face.size))

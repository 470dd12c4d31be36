"""Whether the parts of a face look like bare skin.

Masks, sunglasses and phones leave the detector nearly as sure as a bare face does. So the
colour of each region is compared with the colour between and above the eyes, which is the part
that is covered least often.
"""

from __future__ import annotations

import numpy as np

from palprep.values import Rect
from palprep.vision.arrays import Floats, Pixels, shrunk
from palprep.vision.colour import pixels_to_lab
from palprep.vision.facts import Visibility
from palprep.vision.landmarks import Landmarks

REFERENCE = (9, 151, 6)
"""Mesh points between the brows, on the forehead and at the root of the nose."""

REGIONS = {
    "eye_right": (119, 27, 226),
    "eye_left": (348, 257, 446),
    "nose": (4, 197, 2),
    "mouth": (164, 199, 175),
    "cheek_right": (205, 207, 101),
    "cheek_left": (425, 427, 330),
}
"""Mesh points around each eye, down the nose, above and below the lips, and on each cheek."""

HALF = {"eye": 20.0, "nose": 14.0, "mouth": 32.0, "cheek": 30.0}
"""Colour distances at which a region counts as half covered: above 95 in 100 bare faces
(brows, beards, shadows), below nearly all masks and dark glasses."""

LIGHTNESS_WEIGHT = 0.1
"""Of squared CIELAB lightness against squared chroma: light falls unevenly, pigment does not."""

DETECTOR_BARE, DETECTOR_COVERED = 0.94, 0.87
"""YuNet's best score over all sizes, for bare faces and for masks or hands."""

PATCH = 0.02
"""Half side of the patch around a point, in face widths."""

FACE_HEIGHT = 256


def measure_visibility(rgb: Pixels, face: Landmarks, box: Rect, score: float) -> Visibility:
    """``score`` is the detector's confidence in this face."""
    lab, points = _face_lab(rgb, face, box)
    radius = max(1.0, PATCH * (float(np.ptp(points[:468, 0]))))
    reference = _colour(lab, points, REFERENCE, radius)
    seen = {
        name: _bareness(_colour(lab, points, where, radius) - reference, HALF[name.split("_")[0]])
        for name, where in REGIONS.items()
    }
    return Visibility(
        # Hair over one eye is no mask: both eyes must be covered to count.
        eyes=max(seen["eye_left"], seen["eye_right"]),
        nose=seen["nose"],
        mouth=seen["mouth"],
        # The picture's left is the subject's right.
        cheek_left=seen["cheek_right"],
        cheek_right=seen["cheek_left"],
        whole=float(np.clip((score - DETECTOR_COVERED) / (DETECTOR_BARE - DETECTOR_COVERED), 0, 1)),
    )


def _face_lab(rgb: Pixels, face: Landmarks, box: Rect) -> tuple[Floats, Floats]:
    """The face and a little around it in CIELAB at a fixed height, and its points there."""
    margin = 0.1 * box.height
    left, top = max(0, int(box.x - margin)), max(0, int(box.y - margin))
    right, bottom = int(box.x + box.width + margin), int(box.y + box.height + margin)
    cut = rgb[top:bottom, left:right]
    factor = min(1.0, FACE_HEIGHT / box.height)
    small = shrunk(cut, factor) if factor < 1 else cut
    return pixels_to_lab(small), (face.points[:, :2] - np.array([left, top])) * factor


def _colour(lab: Floats, points: Floats, where: tuple[int, ...], radius: float) -> Floats:
    """Median over the points of the median over each point's patch."""
    height, width = lab.shape[:2]
    medians = []
    for x, y in points[list(where)]:
        left, top = int(np.clip(x - radius, 0, width - 1)), int(np.clip(y - radius, 0, height - 1))
        right, bottom = max(left + 1, int(x + radius + 1)), max(top + 1, int(y + radius + 1))
        medians.append(np.median(lab[top:bottom, left:right].reshape(-1, 3), axis=0))
    return np.asarray(np.median(medians, axis=0))


def _bareness(difference: Floats, half: float) -> float:
    """1 for the reference's own colour, 0.5 at ``half``, falling with the fourth power."""
    weights = np.array([LIGHTNESS_WEIGHT, 1, 1])
    distance = float(np.sqrt((weights * difference**2).sum()))
    return 1 / (1 + (distance / half) ** 4)

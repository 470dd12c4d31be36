"""Whether the subject is a photographed person.

A found face proves nothing: the detector finds one in most paintings, cartoons and statues, and
in some animals. What differs is proportion: drawn faces have larger eyes and irises and smaller
mouths than people, whose iris measures 11.7 +- 0.5 mm across.
"""

from __future__ import annotations

import math

import numpy as np

from palprep.vision.facts import HumanCues
from palprep.vision.landmarks import Landmarks
from palprep.vision.pose import HeadFit

IRIS_BORDERS = ((469, 471), (470, 472), (474, 476), (475, 477))
EYE_OPENINGS = ((159, 145), (386, 374))

WEIGHTS = {
    "iris_cm": (1.216, 0.143, -0.49),
    "eye_opening_cm": (0.888, 0.253, -0.97),
    "mouth_width_cm": (5.738, 0.817, 0.53),
    "detector_score": (0.930, 0.021, 0.64),
}
"""Mean, standard deviation and weight of each cue in a logistic regression."""

INTERCEPT = 0.86


def measure_human(face: Landmarks, fit: HeadFit, score: float) -> HumanCues:
    """Lengths are in centimetres of the canonical mesh, so that distance does not count."""
    local = fit.to_mesh(face.points)
    cues = {
        "iris_cm": float(np.mean([np.hypot(*(local[a] - local[b])[:2]) for a, b in IRIS_BORDERS])),
        "eye_opening_cm": float(np.mean([abs(local[a] - local[b])[1] for a, b in EYE_OPENINGS])),
        "mouth_width_cm": float(abs(local[61] - local[291])[0]),
        "detector_score": score,
    }
    logit = INTERCEPT + sum(
        weight * (cues[name] - mean) / spread for name, (mean, spread, weight) in WEIGHTS.items()
    )
    return HumanCues(likelihood=1 / (1 + math.exp(-logit)), cues=cues)

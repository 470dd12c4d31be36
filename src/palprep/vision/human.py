"""Whether the subject is a photographed person.

A found face proves nothing: the detector finds one in most paintings, cartoons and statues, and
in some animals. Four things differ. Proportions: drawn faces have larger eyes and irises and
smaller mouths than people, whose iris measures 11.7 +- 0.5 mm across. Expression: the
coefficients of drawn and of animal faces are ones that people hardly ever combine. Identity:
the embedding that tells people apart puts what is no person's photograph elsewhere. Scene: a
network that learned to name the things of photographs sees the texture and the surroundings of
the head. A linear model adds them up (scripts/train_human.py says on what it was fitted): of
faces from sources that it never saw, it ranks a photographed one above a depicted one in 92 of
100 pairs.
"""

from __future__ import annotations

import math

import numpy as np

from palprep.vision.align import similarity_transform, warp
from palprep.vision.arrays import Floats, Pixels, tensor
from palprep.vision.detect import Detection
from palprep.vision.facts import HumanCues
from palprep.vision.identity import SIDE, TEMPLATE
from palprep.vision.landmark_indices import (
    EYE_OPENINGS,
    IRIS_BORDERS,
    MOUTH_LEFT,
    MOUTH_RIGHT,
)
from palprep.vision.landmarks import Landmarks
from palprep.vision.models import Models
from palprep.vision.pose import HeadFit

BLOCKS = ("proportions", "expression", "identity", "scene")
"""What the features are grouped by; each block adds its share to the verdict."""

SCENE_SIDE = 224
SCENE_TEMPLATE = (TEMPLATE - SIDE / 2) * 0.8 + (SCENE_SIDE / 2, SCENE_SIDE * 0.45)
"""Where the detector's five points stand in the picture of the scene: the face takes up a third
of its height, so that hair, shoulders and background show."""


def measure_human(
    rgb: Pixels,
    face: Detection,
    marks: Landmarks,
    fit: HeadFit,
    *,
    embedding: Floats,
    models: Models,
) -> HumanCues:
    """The likelihood that a person was photographed, and what each block adds to its logit."""
    features = describe(rgb, face, marks, fit, embedding=embedding, models=models)
    model = models.human
    shares = model.shares({name: np.array([*block.values()]) for name, block in features.items()})
    logit = model.bias + sum(shares.values())
    return HumanCues(
        likelihood=1 / (1 + math.exp(-logit)), cues={**features["proportions"], **shares}
    )


def describe(
    rgb: Pixels,
    face: Detection,
    marks: Landmarks,
    fit: HeadFit,
    *,
    embedding: Floats,
    models: Models,
) -> dict[str, dict[str, float]]:
    """Every feature by block and name. Lengths are in centimetres of the canonical mesh, so
    that distance does not count.
    """
    local = fit.to_mesh(marks.points)
    proportions = {
        "iris_cm": np.mean([np.hypot(*(local[a] - local[b])[:2]) for a, b in IRIS_BORDERS]),
        "eye_opening_cm": np.mean([abs(local[a] - local[b])[1] for a, b in EYE_OPENINGS]),
        "mouth_width_cm": abs(local[MOUTH_RIGHT] - local[MOUTH_LEFT])[0],
        "detector_score": face.score,
    }
    return {
        "proportions": {name: float(value) for name, value in proportions.items()},
        "expression": dict(marks.shapes),
        "identity": {f"e{index}": float(value) for index, value in enumerate(embedding)},
        "scene": {
            f"s{index}": float(value) for index, value in enumerate(_scene(rgb, face, models))
        },
    }


def _scene(rgb: Pixels, face: Detection, models: Models) -> Floats:
    """Mean and spread over the picture of each of the network's 192 maps."""
    crop = warp(rgb, similarity_transform(face.points, SCENE_TEMPLATE), SCENE_SIDE)
    maps = models.scene.run(tensor(crop))[0][0]
    return np.concatenate([maps.mean((1, 2)), maps.std((1, 2))])

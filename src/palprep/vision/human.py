"""Whether the subject is a photographed person.

A found face proves nothing: the detector finds one in most paintings, cartoons and statues, and
in some animals. Two things differ. Identity: the embedding that tells people apart puts what is no
person's photograph elsewhere. Scene: a network that learned to name the things of photographs sees
the texture and the surroundings of the head. A linear model adds them up
(scripts/train_human.py says on what it was fitted, docs/accuracy.md how often it errs). The
proportions of the face and its expression made it worse on faces from other sources than those of
the fit.
"""

from __future__ import annotations

import math

import numpy as np

from palprep.vision.align import similarity_transform, warp
from palprep.vision.arrays import Floats, Pixels, tensor
from palprep.vision.detect import Detection
from palprep.vision.facts import HumanCues
from palprep.vision.identity import SIDE, TEMPLATE
from palprep.vision.models import Models

BLOCKS = ("identity", "scene")
"""What the features are grouped by; each block adds its share to the verdict."""

SCENE_SIDE = 224
SCENE_TEMPLATE = (TEMPLATE - SIDE / 2) * 0.8 + (SCENE_SIDE / 2, SCENE_SIDE * 0.45)
"""Where the detector's five points stand in the picture of the scene: the face takes up a third
of its height, so that hair, shoulders and background show."""


def measure_human(rgb: Pixels, face: Detection, embedding: Floats, models: Models) -> HumanCues:
    """The likelihood that a person was photographed, and what each block adds to its logit."""
    model = models.human
    shares = model.shares(describe(rgb, face, embedding, models))
    logit = model.bias + sum(shares.values())
    return HumanCues(likelihood=1 / (1 + math.exp(-logit)), cues=shares)


def describe(rgb: Pixels, face: Detection, embedding: Floats, models: Models) -> dict[str, Floats]:
    """The features by block: 128 of the identity, and mean and spread over the picture of each of
    the scene network's 192 maps."""
    return {"identity": embedding, "scene": _scene(rgb, face, models)}


def _scene(rgb: Pixels, face: Detection, models: Models) -> Floats:
    crop = warp(rgb, similarity_transform(face.points, SCENE_TEMPLATE), SCENE_SIDE)
    maps = models.scene.run(tensor(crop))[0][0]
    return np.concatenate([maps.mean((1, 2)), maps.std((1, 2))])

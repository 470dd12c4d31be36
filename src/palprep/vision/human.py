"""Whether the subject is a photographed person.

A found face proves nothing: the detector finds one in most paintings, cartoons and statues, and
in some animals. Two things differ. Identity: the embedding that tells people apart puts what is no
person's photograph elsewhere. Scene: a network that learned to name the things of photographs sees
the texture of the face and the surroundings of the head. A linear model adds them up
(scripts/train_human.py says on what it was fitted, docs/accuracy.md how often it errs). The
proportions of the face and its expression made it worse on faces from other sources than those of
the fit.
"""

from __future__ import annotations

import math

import numpy as np

from palprep.vision.arrays import Floats
from palprep.vision.facts import HumanCues
from palprep.vision.linear_model import LinearModel
from palprep.vision.scene import summarise

BLOCKS = ("identity", "scene", "face")
"""What the features are grouped by; each block adds its share to the verdict."""

FACE = slice(2, 5)
"""Rows and columns, of the 7 x 7 cells of a map, that the face stands in."""


def measure_human(embedding: Floats, scene: Floats, model: LinearModel) -> HumanCues:
    """The likelihood that a person was photographed, and what each block adds to its logit.

    ``scene`` are the maps of :func:`~palprep.vision.scene.scene_maps`.
    """
    shares = model.shares(describe(embedding, scene))
    logit = model.bias + sum(shares.values())
    return HumanCues(likelihood=1 / (1 + math.exp(-logit)), cues=shares)


def describe(embedding: Floats, scene: Floats) -> dict[str, Floats]:
    """The features by block: 128 of the identity, mean and spread over the picture of each of the
    scene network's 192 maps, and their mean and maximum on the face."""
    face = scene[:, FACE, FACE]
    on_face = np.concatenate([face.mean((1, 2)), face.max((1, 2))])
    return {"identity": embedding, "scene": summarise(scene), "face": on_face}

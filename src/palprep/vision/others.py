"""Whether somebody else is seen around a face, by whatever shows of them.

The detector finds faces. It misses those that the border cuts, backs of heads, and people whose
shoulder or arm alone is in view. The scene network sees them as what they are, cloth, hair and
skin where one person has none. A linear model reads its maps (scripts/train_others.py says on what
it was fitted, docs/accuracy.md how often it errs).
"""

from __future__ import annotations

import math

from palprep.vision.arrays import Floats
from palprep.vision.linear_model import LinearModel
from palprep.vision.scene import summarise


def measure_others(scene: Floats, model: LinearModel) -> float:
    """The likelihood that somebody else is seen, 0 to 1, from the maps of
    :func:`~palprep.vision.scene.scene_maps`."""
    logit = model.bias + model.shares(describe_others(scene))["scene"]
    return 1 / (1 + math.exp(-logit))


def describe_others(scene: Floats) -> dict[str, Floats]:
    """The features by block: mean and spread of each map."""
    return {"scene": summarise(scene)}

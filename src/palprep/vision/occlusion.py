"""Whether something covers the face: a mask, dark glasses, a hand, a cup, hair.

The scene network knows textures and things: cloth, glass, skin, beards. Linear models read its
maps where the face stands, one for the face as a whole and one for each part of it. They were
fitted on bare faces onto which covers were painted, and beards, spectacles, headscarves and hard
shadows as well, which cover nothing (scripts/train_covering.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from palprep.vision.arrays import Floats
from palprep.vision.facts import Visibility
from palprep.vision.linear_model import LinearModel
from palprep.vision.scene import summarise

COLUMNS = slice(2, 5)
"""Of the 7 x 7 cells of a map, those that the face stands in."""
BANDS = (2, 3, 4)
"""Likewise its rows: forehead and brows, eyes and nose, mouth and chin."""


def measure_visibility(scene: Floats, models: Mapping[str, LinearModel]) -> Visibility:
    """How sure it is that the face and its parts are bare; ``scene`` are the maps of
    :func:`~palprep.vision.scene.scene_maps`, ``models`` has one for each field of Visibility.
    """
    features = describe_covering(scene)
    return Visibility(
        **{
            name: 1 / (1 + math.exp(-model.bias - model.shares(features)["scene"]))
            for name, model in models.items()
        }
    )


def describe_covering(scene: Floats) -> dict[str, Floats]:
    """The mean of each map in each band of the face, and its mean and spread over the picture."""
    bands = [scene[:, row, COLUMNS].mean(1) for row in BANDS]
    return {"scene": np.concatenate([*bands, summarise(scene)])}

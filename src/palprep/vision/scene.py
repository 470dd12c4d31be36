"""What a network that learned to name the things of photographs sees around a face.

Its maps serve several measures: whether a person was photographed, whether something covers the
face, and whether somebody else is in view.
"""

from __future__ import annotations

import numpy as np

from palprep.vision.align import similarity_transform, warp
from palprep.vision.arrays import Floats, Pixels, tensor
from palprep.vision.detect import Detection
from palprep.vision.identity import SIDE, TEMPLATE
from palprep.vision.models import Network

SCENE_SIDE = 224
SCENE_TEMPLATE = (TEMPLATE - SIDE / 2) * 0.8 + (SCENE_SIDE / 2, SCENE_SIDE * 0.45)
"""Where the detector's five points stand in the picture of the scene: the face takes up a third
of its height, so that hair, shoulders and background show."""


def scene_crop(rgb: Pixels, face: Detection) -> Pixels:
    """The face and its surroundings, upright, 224 x 224."""
    return warp(rgb, similarity_transform(face.points, SCENE_TEMPLATE), SCENE_SIDE)


def scene_maps(crop: Pixels, network: Network) -> Floats:
    """The 192 maps of 7 x 7 of a crop; a cell stands for 32 x 32 of its pixels."""
    return np.asarray(network.run(tensor(crop))[0][0])


def summarise(maps: Floats) -> Floats:
    """384 features: the mean of each map over the picture, then the standard deviation of each."""
    return np.concatenate([maps.mean((1, 2)), maps.std((1, 2))])

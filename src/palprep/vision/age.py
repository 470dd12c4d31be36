"""Apparent age, from the age-v1 network.

Its input is an aligned face of 64 x 64: a similarity transform takes five points to the template of
dlib's face chips, padded by a quarter. The expected value over its 81 classes is the age.

Of 990 uncovered faces of known age (from UTKFace) it reads 3 in 100 of those aged 18 to 25 as
younger than 18, and none of the older; of children up to 12 it reads 9 in 10 as younger than 18,
of those of 16 and 17 one in six. With a mask or dark glasses drawn over the same faces,
children and adults read alike: a covered face tells no age.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from palprep.vision.align import similarity_transform, warp
from palprep.vision.arrays import Pixels
from palprep.vision.landmark_indices import (
    LEFT_EYE_INNER,
    LEFT_EYE_OUTER,
    NOSE_BASE,
    RIGHT_EYE_INNER,
    RIGHT_EYE_OUTER,
)
from palprep.vision.landmarks import Landmarks
from palprep.vision.models import Network

SIDE = 64
PADDING = 0.25
POINTS = (LEFT_EYE_OUTER, LEFT_EYE_INNER, RIGHT_EYE_OUTER, RIGHT_EYE_INNER, NOSE_BASE)
TEMPLATE = np.array(
    [(0.8596, 0.2135), (0.6461, 0.2290), (0.1206, 0.2137), (0.3341, 0.2291), (0.4901, 0.6278)]
)
MEAN_RGB = np.array([122.782, 117.001, 104.298], np.float32)
YEARS = np.array([0.25, *range(1, 81)])
ZOOMS = (1.0, 1.06)
"""Small changes of the crop: one crop alone can be years off."""


def apparent_age(
    rgb: Pixels, face: Landmarks, network: Network, zooms: Sequence[float] = ZOOMS
) -> tuple[float, float]:
    """Years, 0 to 80, and their standard deviation over small changes of the crop and over
    mirroring.
    """
    chips = []
    for zoom in zooms:
        target = (TEMPLATE - 0.5) * zoom + 0.5
        target = (target + PADDING) / (1 + 2 * PADDING) * SIDE
        chip = warp(rgb, similarity_transform(face.at(*POINTS), target), SIDE)
        chips += [chip, chip[:, ::-1]]
    # One batch: the network costs less so than chip by chip.
    blob = ((np.stack(chips).astype(np.float32) - MEAN_RGB) / 256).transpose(0, 3, 1, 2)
    ages = network.run(np.ascontiguousarray(blob))[0] @ YEARS
    return float(np.mean(ages)), float(np.std(ages))

"""Apparent age, and whether a face is that of an adult.

The age-v1 network takes an aligned face of 64 x 64: a similarity transform takes five points to the
template of dlib's face chips, padded by a quarter. It gives a probability for each of 81 classes;
their expected value is the age in years.

That age is years off for teenagers, who read like young adults. The identity embedding knows
children too, and its errors have little in common with the network's. A linear model adds both up
(research/training/age.py says on what it was fitted, docs/accuracy.md how often it errs).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from palprep.vision.arrays import Floats, Pixels, similarity_transform, warp
from palprep.vision.landmarks import (
    LEFT_EYE_INNER,
    LEFT_EYE_OUTER,
    NOSE_BASE,
    RIGHT_EYE_INNER,
    RIGHT_EYE_OUTER,
    Landmarks,
)
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

BIRTHDAYS = (13, 18, 25)
"""Ages at which the model is told the network's odds that the face is younger."""

LEAST_ODDS = 1e-3
"""The network is often certain, and the logarithm of no chance at all is without end."""


def age_classes(
    rgb: Pixels, face: Landmarks, network: Network, zooms: Sequence[float] = ZOOMS
) -> Floats:
    """Probabilities of the 81 classes of :data:`YEARS`, one row for each crop of the face."""
    chips = []
    for zoom in zooms:
        target = (TEMPLATE - 0.5) * zoom + 0.5
        target = (target + PADDING) / (1 + 2 * PADDING) * SIDE
        chip = warp(rgb, similarity_transform(face.at(*POINTS), target), SIDE)
        chips += [chip, chip[:, ::-1]]
    # One batch: the network costs less so than chip by chip.
    blob = ((np.stack(chips).astype(np.float32) - MEAN_RGB) / 256).transpose(0, 3, 1, 2)
    return network.run(np.ascontiguousarray(blob))[0]


def describe(classes: Floats, embedding: Floats) -> dict[str, Floats]:
    """What tells adults from minors, by block, of what :func:`age_classes` found and the identity
    embedding of the same face: years, their root, which parts children from another
    more than adults, the odds of being younger than :data:`BIRTHDAYS`, and the embedding."""
    mean = np.asarray(classes, np.float64).mean(0)
    years = float(mean @ YEARS)
    younger = np.array([mean[birthday > YEARS].sum() for birthday in BIRTHDAYS])
    odds = np.log((younger + LEAST_ODDS) / (1 - younger + LEAST_ODDS))
    return {
        "age": np.array([years, math.sqrt(years), *odds]),
        "identity": np.asarray(embedding, np.float64),
    }

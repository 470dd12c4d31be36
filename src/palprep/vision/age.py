"""Whether a face is that of an adult.

A network (Savchenko 2019, fitted on faces of IMDB-Wiki and Adience) gives a probability for each
year of age from the square about the face. It still reads some teenagers like young adults. The
identity embedding knows children too, and its errors have little in common with the network's. A
linear model adds both up (research/training/age.py says on what it was fitted, docs/accuracy.md how
often it errs).
"""

from __future__ import annotations

import math

import numpy as np

from palprep.vision.arrays import Floats, Pixels, tensor, warp
from palprep.vision.detect import Detection
from palprep.vision.models import Network

SIDE = 224
AROUND = 1.1
"""Side of the square that the network sees, over the longer side of the face's box."""
YEARS = np.arange(1, 101)
"""What the network gives probabilities of."""

BIRTHDAYS = (13, 18, 25)
"""Ages at which the model is told the network's odds that the face is younger."""

LEAST_ODDS = 1e-3
"""The network is often certain, and the logarithm of no chance at all is without end."""


def age_classes(rgb: Pixels, face: Detection, network: Network) -> Floats:
    """The probability of each of :data:`YEARS`."""
    x, y, width, height = face.box
    scale = SIDE / (AROUND * max(width, height))
    middle = np.array([x + width / 2, y + height / 2])
    square = np.column_stack([scale * np.eye(2), SIDE / 2 - scale * middle])
    crop = warp(rgb, square.astype(np.float32), SIDE)
    return np.asarray(network.run(tensor(crop))[0][0])


def describe(classes: Floats, embedding: Floats) -> dict[str, Floats]:
    """What tells adults from minors, by block, of what :func:`age_classes` found and the identity
    embedding of the same face: years, their root, which parts children from another
    more than adults, the odds of being younger than :data:`BIRTHDAYS`, and the embedding."""
    found = np.asarray(classes, np.float64)
    years = float(found @ YEARS)
    younger = np.array([found[birthday > YEARS].sum() for birthday in BIRTHDAYS])
    odds = np.log((younger + LEAST_ODDS) / (1 - younger + LEAST_ODDS))
    return {
        "age": np.array([years, math.sqrt(years), *odds]),
        "identity": np.asarray(embedding, np.float64),
    }

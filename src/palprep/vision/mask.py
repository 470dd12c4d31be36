"""Which pixels belong to a person."""

from __future__ import annotations

import numpy as np

from palprep.vision.arrays import Floats, Pixels, resized, tensor
from palprep.vision.models import Network

SIDE = 256


def person_mask(rgb: Pixels, network: Network) -> Floats:
    """Probability of a person per pixel, 256 x 256, stretched over the whole picture."""
    small = tensor(resized(rgb, SIDE, SIDE), 1 / 255)
    return np.asarray(network.run(small)[0][0, 0])

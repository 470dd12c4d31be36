"""A linear model, as the scripts that fit one write it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from palprep.vision.arrays import Floats


@dataclass(frozen=True)
class LinearModel:
    """``weights`` of all features, block after block; ``sizes`` is the features a block."""

    weights: Floats
    bias: float
    sizes: Mapping[str, int]

    def shares(self, blocks: Mapping[str, Floats]) -> dict[str, float]:
        """What each block adds to the logit."""
        ends = np.cumsum(list(self.sizes.values()))[:-1]
        parts = zip(self.sizes, np.split(self.weights, ends), strict=True)
        return {name: float(blocks[name] @ weights) for name, weights in parts}


def read_linear_model(data: bytes) -> LinearModel:
    """Parse the JSON record."""
    record = json.loads(data)
    return LinearModel(np.array(record["weights"]), float(record["bias"]), record["sizes"])

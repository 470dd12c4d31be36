"""Linear models, as the scripts that fit one write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    """Parse the JSON record of one model."""
    return _linear_model(json.loads(data))


def read_linear_models(data: bytes) -> Mapping[str, LinearModel]:
    """Parse the JSON records of several models by name."""
    return {name: _linear_model(record) for name, record in json.loads(data).items()}


def _linear_model(record: Mapping[str, Any]) -> LinearModel:
    return LinearModel(np.array(record["weights"]), float(record["bias"]), record["sizes"])

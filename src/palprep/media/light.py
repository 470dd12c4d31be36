"""sRGB and linear light of whole pictures; of single values see ``srgb``."""

from __future__ import annotations

import functools
from typing import Final

import numpy as np
from numpy.typing import NDArray

from palprep.media.srgb import decoded, encoded

LINEAR: Final[NDArray[np.float32]] = np.array([decoded(n / 255) for n in range(256)], np.float32)
"""Linear light, 0 to 1, of each 8-bit sRGB value; shape (256,)."""

_STEPS = 65_536
"""Steps of linear light on the way back to sRGB: under a tenth of an 8-bit step at black."""


def to_srgb(linear: NDArray[np.float32]) -> NDArray[np.uint8]:
    """8-bit sRGB of linear light of any shape; clipped to 0 and 1."""
    steps = (np.clip(linear, 0, 1) * (_STEPS - 1) + 0.5).astype(np.uint16)
    values: NDArray[np.uint8] = np.take(_levels(), steps)
    return values


@functools.cache
def _levels() -> NDArray[np.uint8]:
    """Worked out when first needed, since it takes 20 ms."""
    return np.array([round(encoded(n / (_STEPS - 1)) * 255) for n in range(_STEPS)], np.uint8)

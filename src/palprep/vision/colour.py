"""sRGB, linear light and CIELAB of whole pictures; of single colours see ``cielab``."""

from __future__ import annotations

import functools
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from palprep.vision.arrays import Floats, Pixels
from palprep.vision.cielab import KNEE, TO_XYZ, WHITE, decoded, encoded

LINEAR: Final[NDArray[np.float32]] = np.array([decoded(n / 255) for n in range(256)], np.float32)
"""Linear light, 0 to 1, of each 8-bit sRGB value; shape (256,)."""

_STEPS = 65_536
"""Steps of linear light on the way back to sRGB: under a tenth of an 8-bit step at black."""
_TO_RELATIVE_XYZ = (np.array(TO_XYZ) / np.array(WHITE)[:, None]).astype(np.float32)


def to_srgb(linear: NDArray[np.float32]) -> NDArray[np.uint8]:
    """8-bit sRGB of linear light of any shape; clipped to 0 and 1."""
    steps = (np.clip(linear, 0, 1) * (_STEPS - 1) + 0.5).astype(np.uint16)
    values: NDArray[np.uint8] = np.take(_levels(), steps)
    return values


@functools.cache
def _levels() -> NDArray[np.uint8]:
    """Worked out when first needed, since it takes 20 ms."""
    return np.array([round(encoded(n / (_STEPS - 1)) * 255) for n in range(_STEPS)], np.uint8)


def pixels_to_lab(rgb: Pixels) -> Floats:
    """CIELAB of every pixel: lightness 0 to 100, then a and b; height x width x 3, float32.

    OpenCV's own conversion first builds tables of 40 MB, and 80 MB while it does.
    """
    xyz = cv2.transform(LINEAR[rgb], _TO_RELATIVE_XYZ)
    curved = np.where(xyz > KNEE**3, np.cbrt(xyz), xyz / (3 * KNEE**2) + np.float32(4 / 29))
    x, y, z = curved[..., 0], curved[..., 1], curved[..., 2]
    return np.stack((116 * y - 16, 500 * (x - y), 200 * (y - z)), axis=-1)

"""CIELAB of whole pictures; of single colours see ``cielab``."""

from __future__ import annotations

import cv2
import numpy as np

from palprep.media.light import LINEAR
from palprep.vision.arrays import Floats, Pixels
from palprep.vision.cielab import KNEE, TO_XYZ, WHITE

_TO_RELATIVE_XYZ = (np.array(TO_XYZ) / np.array(WHITE)[:, None]).astype(np.float32)


def pixels_to_lab(rgb: Pixels) -> Floats:
    """CIELAB of every pixel: lightness 0 to 100, then a and b; height x width x 3, float32.

    OpenCV's own conversion first builds tables of 40 MB, and 80 MB while it does.
    """
    xyz = cv2.transform(LINEAR[rgb], _TO_RELATIVE_XYZ)
    curved = np.where(xyz > KNEE**3, np.cbrt(xyz), xyz / (3 * KNEE**2) + np.float32(4 / 29))
    x, y, z = curved[..., 0], curved[..., 1], curved[..., 2]
    return np.stack((116 * y - 16, 500 * (x - y), 200 * (y - z)), axis=-1)

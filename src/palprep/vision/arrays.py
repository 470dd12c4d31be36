"""The kinds of array that pass between the modules of this package."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
"""An upright sRGB picture, height x width x 3, red first."""

Floats = NDArray[np.floating[Any]]
"""Points, masks, tensors."""

Mask = NDArray[np.bool_]
"""height x width."""


def resized(rgb: Pixels, width: int, height: int) -> Pixels:
    """The picture at another size; shrinking averages, so that nothing aliases."""
    shrinks = width * height < rgb.shape[0] * rgb.shape[1]
    method = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(rgb, (max(1, width), max(1, height)), interpolation=method))


def shrunk(rgb: Pixels, factor: float) -> Pixels:
    """The picture made smaller by ``factor``, 0 to 1."""
    return resized(rgb, round(rgb.shape[1] * factor), round(rgb.shape[0] * factor))


def tensor(rgb: Pixels, scale: float = 1.0, *, swap: bool = False) -> Floats:
    """1 x 3 x height x width, times ``scale``; ``swap`` puts blue first."""
    return np.asarray(cv2.dnn.blobFromImage(rgb, scale, swapRB=swap), np.float32)

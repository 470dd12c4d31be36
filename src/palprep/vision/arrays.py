"""Arrays that pass between the modules of this package: pictures, resized and cut out."""

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


def turned(rgb: Pixels, degrees: int) -> Pixels:
    """The picture turned clockwise by a multiple of 90 degrees."""
    return np.ascontiguousarray(np.rot90(rgb, -degrees // 90))


def tensor(rgb: Pixels, scale: float = 1.0, *, swap: bool = False) -> Floats:
    """1 x 3 x height x width, times ``scale``; ``swap`` puts blue first."""
    return np.asarray(cv2.dnn.blobFromImage(rgb, scale, swapRB=swap), np.float32)


def fit_similarity(
    source: Floats, target: Floats, weights: Floats | None = None
) -> tuple[Floats, float, Floats, Floats]:
    """The similarity that brings ``source`` (n x dimensions) closest to ``target`` by weighted
    least squares: the rotation, the scale, and the centres of both (Umeyama 1991).
    """
    source, target = np.asarray(source, np.float64), np.asarray(target, np.float64)
    shares = np.ones((len(source), 1)) if weights is None else weights[:, None]
    shares = shares / shares.sum()
    source_centre, target_centre = (shares * source).sum(0), (shares * target).sum(0)
    moved = source - source_centre
    left, stretch, right = np.linalg.svd((target - target_centre).T @ (moved * shares))
    # The best fit may mirror; a rotation never does.
    sign = np.append(np.ones(len(stretch) - 1), np.sign(np.linalg.det(left @ right)))
    scale = float((stretch * sign).sum() / (shares * moved**2).sum())
    return left * sign @ right, scale, source_centre, target_centre


def similarity_transform(source: Floats, target: Floats) -> Floats:
    """The 2x3 matrix that turns, scales and shifts ``source`` (n x 2) closest to ``target``."""
    rotation, scale, source_centre, target_centre = fit_similarity(source, target)
    turn = scale * rotation
    return np.column_stack([turn, target_centre - turn @ source_centre]).astype(np.float32)


def warp(rgb: Pixels, matrix: Floats, side: int) -> Pixels:
    """``side`` x ``side`` pixels of the picture under ``matrix``, black outside of it."""
    scale = float(np.hypot(matrix[0, 0], matrix[1, 0]))
    if scale < 0.5:
        # warpAffine samples; shrinking first by whole steps keeps it from aliasing.
        shrink = int(1 / scale)
        rgb = shrunk(rgb, 1 / shrink)
        matrix = matrix * np.array([shrink, shrink, 1], np.float32)
    return np.asarray(cv2.warpAffine(rgb, matrix, (side, side)), np.uint8)

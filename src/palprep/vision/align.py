"""Cutting a face out so that given points come to stand at given places."""

from __future__ import annotations

import cv2
import numpy as np

from palprep.vision.arrays import Floats, Pixels, shrunk


def similarity_transform(source: Floats, target: Floats) -> Floats:
    """The 2x3 matrix that turns, scales and shifts ``source`` (n x 2) closest to ``target``
    (Umeyama 1991).
    """
    source, target = np.asarray(source, np.float64), np.asarray(target, np.float64)
    source_centre, target_centre = source.mean(0), target.mean(0)
    moved = source - source_centre
    left, stretch, right = np.linalg.svd((target - target_centre).T @ moved)
    sign = np.array([1, np.sign(np.linalg.det(left @ right))])
    turn = left @ np.diag(sign) @ right * ((stretch * sign).sum() / (moved**2).sum())
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

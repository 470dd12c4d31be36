"""Camera shake: how unsteadily the background moves between frames."""

from __future__ import annotations

from array import array

import cv2
import numpy as np
from numpy.typing import NDArray

_EVERY_S = 0.2
_POINTS = 60
_FEWEST = 8
"""Fewer tracked points than this say nothing about the whole frame."""

_LONGEST_STEP = 0.2
"""A background that seems to jump by a fifth of the frame was cut, not shaken."""


class ShakeMeter:
    """Follows corners of the background, which on a seated person lies at the rim."""

    def __init__(self) -> None:
        self._before: NDArray[np.uint8] | None = None
        self._before_at = 0.0
        self._across = array("d")
        self._down = array("d")

    def add(self, at_s: float, luma: NDArray[np.uint8]) -> None:
        """Compare with the frame about a fifth of a second earlier."""
        if self._before is not None and at_s - self._before_at < _EVERY_S:
            return
        before, self._before, self._before_at = self._before, luma, at_s
        if before is None or before.shape != luma.shape or min(luma.shape) < 24:
            return
        moved = _background_shift(before, luma)
        if moved is not None and max(map(abs, moved)) < _LONGEST_STEP * luma.shape[1]:
            self._across.append(moved[0] / luma.shape[1])
            self._down.append(moved[1] / luma.shape[1])

    def result(self) -> float | None:
        """In percent of the width; a steady pan counts as none. None when nothing was tracked."""
        if len(self._across) < _FEWEST:
            return None
        steps = np.stack([np.asarray(self._across), np.asarray(self._down)])
        unsteady = steps[:, 1:-1] - (steps[:, :-2] + steps[:, 1:-1] + steps[:, 2:]) / 3
        return round(100.0 * float(np.sqrt((unsteady**2).sum(axis=0).mean())), 3)


def _background_shift(
    before: NDArray[np.uint8], after: NDArray[np.uint8]
) -> tuple[float, float] | None:
    """Median movement of trackable corners at the rim, in pixels (across, down)."""
    rim = _rim(before.shape[0], before.shape[1])
    points = cv2.goodFeaturesToTrack(before, _POINTS, qualityLevel=0.05, minDistance=4, mask=rim)
    if points is None or len(points) < _FEWEST:
        return None
    found, status, _ = cv2.calcOpticalFlowPyrLK(before, after, points, np.empty_like(points))
    kept = status.ravel() == 1
    if kept.sum() < _FEWEST:
        return None
    across, down = np.median((found - points).reshape(-1, 2)[kept], axis=0)
    return float(across), float(down)


def _rim(height: int, width: int) -> NDArray[np.uint8]:
    """White where the background is looked for: the sides and the top, not head or chest."""
    mask = np.full((height, width), 255, np.uint8)
    mask[round(0.12 * height) :, round(0.22 * width) : round(0.78 * width)] = 0
    return mask

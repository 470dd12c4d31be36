"""Decoded pixels, taken a stretch of rows at a time: copies of the whole are what costs memory."""

from __future__ import annotations

from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from palprep.media.colour import eight_bits, on_white

Box = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels; right and bottom lie outside."""

_STRIP_PIXELS = 1 << 20


class Decoded(Protocol):
    """An image as its decoder left it, in the order in which it is stored."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""

    def part(self, box: Box) -> Image.Image:
        """A copy of a part, in the mode in which it is stored."""


class InPillow:
    """Pixels that Pillow decoded."""

    def __init__(self, picture: Image.Image) -> None:
        self._picture = picture
        self.size: tuple[int, int] = picture.size

    def part(self, box: Box) -> Image.Image:
        """A copy of a part, in the mode in which it is stored."""
        return self._picture.crop(box)


class InArray:
    """Pixels that a library left in an array: (height, width) or (height, width, channels)."""

    def __init__(self, pixels: NDArray[np.uint8], *, blue_first: bool = False) -> None:
        self._pixels, self._blue_first = pixels, blue_first
        self.size: tuple[int, int] = (pixels.shape[1], pixels.shape[0])

    def part(self, box: Box) -> Image.Image:
        """A copy of a part, in the mode in which it is stored."""
        left, top, right, bottom = box
        part = self._pixels[top:bottom, left:right]
        if self._blue_first and part.ndim == 3:
            turned = cv2.COLOR_BGRA2RGBA if part.shape[2] == 4 else cv2.COLOR_BGR2RGB
            part = np.asarray(cv2.cvtColor(part, turned), np.uint8)
        return Image.fromarray(np.ascontiguousarray(part))


def opaque(stored: Decoded, box: Box, *, factor: int = 1) -> tuple[str, NDArray[np.uint8]]:
    """A part of an image in 8 bits and on white: its mode (L, RGB, CMYK or LAB), and the pixels.

    Each pixel is the mean of ``factor`` by ``factor`` stored ones.
    """
    left, top, right, bottom = box
    rows = max(1, _STRIP_PIXELS // (right - left) // factor) * factor
    wide, high = (-(-side // factor) for side in (right - left, bottom - top))
    mode, whole = "", np.zeros(0, np.uint8)
    for start in range(top, bottom, rows):
        strip = on_white(eight_bits(stored.part((left, start, right, min(bottom, start + rows)))))
        if factor > 1:
            strip = strip.reduce(factor)
        pixels = np.asarray(strip)
        if not mode:
            mode, whole = strip.mode, np.empty((high, wide, *pixels.shape[2:]), np.uint8)
        at = (start - top) // factor
        whole[at : at + len(pixels)] = pixels
    return mode, whole

"""Decoded pixels, taken a stretch of rows at a time: copies of the whole are what costs memory."""

from __future__ import annotations

import io
from typing import Any, BinaryIO, Protocol

import cv2
import numpy as np
import pillow_heif
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


_BYTES_PER_PIXEL, _BYTES_PER_DEEP_PIXEL = 5, 9
"""What libheif takes while it decodes: the planes as coded, and RGB from them."""


class HeifImage:
    """One HEIF file: its facts without decoding, its primary image by :meth:`decode`.

    libheif applies turns, mirrors and crops itself. It is called directly: registering it with
    Pillow would change what Pillow does in the whole process, which is not for a library to decide.
    """

    def __init__(self, file: BinaryIO) -> None:
        images = pillow_heif.open_heif(io.BytesIO(file.read()))
        primary = images[images.primary_index]
        self._primary: Any = primary
        self.size: tuple[int, int] = primary.size
        self.mode: str = primary.mode
        self.has_alpha: bool = primary.has_alpha
        self.frames = len(images)
        info: dict[str, Any] = primary.info
        self.bits = int(info.get("bit_depth") or 8)
        self.icc: bytes | None = info.get("icc_profile")
        self.exif: bytes | None = info.get("exif")
        self.xmp: bytes | None = info.get("xmp") or None
        self.has_thumbnail = bool(info.get("thumbnails"))

    @property
    def decoded_bytes(self) -> int:
        """Memory that :meth:`decode` takes."""
        width, height = self.size
        per_pixel = _BYTES_PER_PIXEL if self.bits <= 8 else _BYTES_PER_DEEP_PIXEL
        return width * height * per_pixel

    def decode(self) -> Decoded:
        """The primary image, upright, in the mode of the facts. To be called once."""
        # Handed on, not kept: whoever takes the pixels decides how long they stay.
        primary, self._primary = self._primary, None
        pixels = np.asarray(primary)
        # Rows may be padded.
        return InArray(pixels[:, : primary.size[0]])

"""Fit an image under a number of base64 characters: best size first, then best quality.

An image keeps its size as long as some quality from the floor up fits; only then is it made
smaller, by as little as possible, and the best quality is looked for again at that size. What is
returned is an encode that was really made and counted.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image, ImageOps

from palprep.errors import CannotFit

BEST_QUALITY = 95
"""libjpeg's scale; above it files grow steeply, and no one sees a difference."""
FLOOR_QUALITY = 75
"""Below it blocks begin to show on skin, so size is given up before more quality is."""
_SIDES = 256
"""The longest side that fits is found to one part in so many."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encode that fits: a JPEG, or a PNG where ``quality`` is None."""

    data: bytes
    quality: int | None
    width: int
    height: int

    @property
    def format(self) -> str:
        return "png" if self.quality is None else "jpeg"


def base64_chars(size_bytes: int) -> int:
    """Characters that ``size_bytes`` take in base64 without line breaks (RFC 4648, padded)."""
    return 4 * math.ceil(size_bytes / 3)


def encode(picture: Image.Image, quality: int | None) -> bytes:
    """``picture`` (RGB) as a JPEG without chroma subsampling, or a PNG for None; no metadata."""
    bare = picture
    if picture.info:  # savers write comments, profiles and EXIF that they find here
        bare = picture.copy()
        bare.info = {}
    buffer = io.BytesIO()
    if quality is None:
        bare.save(buffer, "PNG", compress_level=6)
    else:
        # No optimize: Pillow's buffer for it is too small for noisy images.
        bare.save(buffer, "JPEG", quality=quality, subsampling="4:4:4")
    return buffer.getvalue()


def fit(picture: Image.Image, *, png: bool = False, max_base64_chars: int) -> Encoded:
    """A PNG where that is asked for and fits at full size, else a JPEG, made smaller where it must.

    ``picture`` is RGB. Raises CannotFit when no size fits.
    """

    def tried(scaled: Image.Image, quality: int | None) -> Encoded | None:
        data = encode(scaled, quality)
        fits = base64_chars(len(data)) <= max_base64_chars
        return Encoded(data, quality, *scaled.size) if fits else None

    def best(scaled: Image.Image) -> Encoded | None:
        return tried(scaled, BEST_QUALITY) or _highest(
            FLOOR_QUALITY, BEST_QUALITY, 1, lambda quality: tried(scaled, quality)
        )

    def shrunk(side: int) -> Image.Image:
        return ImageOps.contain(picture, (side, side), Image.Resampling.LANCZOS)

    if found := (tried(picture, None) if png else None) or best(picture):
        return found
    side = max(picture.size)
    # At the least, the short side has one pixel.
    least, near = math.ceil(side / min(picture.size)), max(1, side // _SIDES)
    smaller = _highest(least, side, near, lambda side: tried(shrunk(side), FLOOR_QUALITY))
    if smaller is None:
        raise CannotFit(
            f"The image cannot be brought under {max_base64_chars:,} base64 characters; "
            "crop it closer to the face"
        )
    return best(shrunk(max(smaller.width, smaller.height))) or smaller


def _highest(
    low: int, high: int, near: int, tried: Callable[[int], Encoded | None]
) -> Encoded | None:
    """The encode at the highest number below ``high`` that fits, found to within ``near``; None
    where not even ``low`` fits."""
    found = tried(low)
    while found and high - low > near:
        middle = (low + high) // 2
        if better := tried(middle):
            low, found = middle, better
        else:
            high = middle
    return found

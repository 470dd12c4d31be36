"""Fit an image under a number of base64 characters: best size first, then best quality.

An image keeps its size as long as some quality from the floor up fits; only then is it made
smaller, by as little as possible, and the best quality is looked for again at that size. Every
answer is an encode that was really made and counted: the search assumes that encodes grow
with quality and size only to choose what to try next, never to conclude that one fits.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PIL import Image

from palprep.errors import CannotFit, UsageError

BEST_QUALITY = 95
"""libjpeg's scale; above it files grow steeply, and no one sees a difference."""
FLOOR_QUALITY = 75
"""Below it blocks begin to show on skin, so size is given up before more quality is."""
_SIDE_TOLERANCE = 1 / 256
"""The size search stops when the longest side is known this closely."""

Encode = Callable[[Image.Image, str, int | None], bytes]
"""Encodes an RGB image in a format at a quality (None for lossless formats)."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """An encode that fits. ``quality`` is None for lossless formats."""

    data: bytes
    format: str
    quality: int | None
    width: int
    height: int

    @property
    def base64_chars(self) -> int:
        """Its length in base64 without line breaks."""
        return base64_chars(len(self.data))


def base64_chars(size_bytes: int) -> int:
    """Characters that ``size_bytes`` take in base64 without line breaks (RFC 4648, padded)."""
    return 4 * math.ceil(size_bytes / 3)


def encode(picture: Image.Image, format_: str, quality: int | None) -> bytes:
    """``picture`` (mode RGB) as a JPEG without chroma subsampling, or as a PNG; no metadata."""
    bare = picture
    if picture.info:  # savers write comments, profiles and EXIF that they find here
        bare = picture.copy()
        bare.info = {}
    buffer = io.BytesIO()
    if format_ == "jpeg":
        # No optimize: Pillow's buffer for it is too small for noisy images.
        bare.save(buffer, "JPEG", quality=quality, subsampling="4:4:4")
    elif format_ == "png":
        bare.save(buffer, "PNG", compress_level=6)
    else:
        raise UsageError(f"palprep writes images as jpeg or png, not as {format_!r}")
    return buffer.getvalue()


def fit(
    picture: Image.Image,
    *,
    formats: Sequence[str],
    max_base64_chars: int,
    encode: Encode = encode,
) -> Encoded:
    """The first of ``formats`` that fits at full size, else the last one made smaller.

    ``picture`` is RGB. Raises CannotFit when no size fits.
    """
    searches = [_Search(picture, each, max_base64_chars, encode) for each in formats]
    for search in searches:
        if found := search.best_quality(max(picture.size)):
            return found
    if found := searches[-1].largest():
        return found
    raise CannotFit(
        f"The image cannot be brought under {max_base64_chars:,} base64 characters; "
        "crop it closer to the face"
    )


class _Search:
    """One format's encodes of one image. ``side`` is the longest side in pixels."""

    def __init__(self, picture: Image.Image, format_: str, limit: int, encode: Encode) -> None:
        self._picture, self._format, self._limit, self._encode = picture, format_, limit, encode
        lossless = format_ == "png"
        self._best = None if lossless else BEST_QUALITY
        self._floor = None if lossless else FLOOR_QUALITY

    def best_quality(self, side: int) -> Encoded | None:
        """The best quality that fits at this size, None when the floor does not fit."""
        scaled = self._scaled(side)
        found, _ = self._try(scaled, self._best)
        if found or self._floor is None:
            return found
        found, _ = self._try(scaled, self._floor)
        fits, too_good = FLOOR_QUALITY, BEST_QUALITY
        while found and too_good - fits > 1:
            middle = (fits + too_good) // 2
            better, _ = self._try(scaled, middle)
            if better:
                found, fits = better, middle
            else:
                too_good = middle
        return found

    def largest(self) -> Encoded | None:
        """The largest size at which the floor fits, at its best quality there."""
        too_large = max(self._picture.size)
        # At the least, the short side has one pixel.
        fits = math.ceil(too_large / min(self._picture.size))
        smallest, size = self._try(self._scaled(fits), self._floor)
        if not smallest:
            return None
        while too_large - fits > max(1, too_large * _SIDE_TOLERANCE):
            # Bytes grow about with the area: aim just below where that meets the limit.
            aim = round(fits * math.sqrt(self._limit / base64_chars(size)) * 0.998)
            within = (too_large - fits) // 8
            side = min(max(aim, fits + 1 + within), too_large - 1 - within)
            found, tried = self._try(self._scaled(side), self._floor)
            if found:
                fits, size, smallest = side, tried, found
            else:
                too_large = side
        return self.best_quality(fits) or smallest

    def _scaled(self, side: int) -> Image.Image:
        longest = max(self._picture.size)
        if side >= longest:
            return self._picture
        width, height = (max(1, round(each * side / longest)) for each in self._picture.size)
        return self._picture.resize((width, height), Image.Resampling.LANCZOS)

    def _try(self, picture: Image.Image, quality: int | None) -> tuple[Encoded | None, int]:
        """The encode when it fits, and its size in bytes in any case."""
        data = self._encode(picture, self._format, quality)
        if base64_chars(len(data)) > self._limit:
            return None, len(data)
        return Encoded(data, self._format, quality, *picture.size), len(data)

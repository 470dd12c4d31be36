"""HEIC and HEIF images by libheif, which applies their turns, mirrors and crops itself.

The library is called directly: registering it with Pillow would change what Pillow does in
the whole process, which is not for a library to decide.
"""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import numpy as np
import pillow_heif

from palprep.media.pixels import Decoded, InArray

_BYTES_PER_PIXEL, _BYTES_PER_DEEP_PIXEL = 5, 9
"""What libheif takes while it decodes: the planes as coded, and RGB from them."""


class HeifImage:
    """One HEIF file: its facts without decoding, its primary image by :meth:`decode`."""

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

"""HEIC and HEIF images by libheif, which applies their turns, mirrors and crops itself.

The library is called directly: registering it with Pillow would change what Pillow does in
the whole process, which is not for a library to decide.
"""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import pillow_heif
from PIL import Image


class HeifImage:
    """One HEIF file: its facts without decoding, its primary image by :meth:`decode`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = pillow_heif.open_heif(io.BytesIO(file.read()))
        self._primary = self._file[self._file.primary_index]
        self.size: tuple[int, int] = self._primary.size
        self.mode: str = self._primary.mode
        self.has_alpha: bool = self._primary.has_alpha
        self.frames = len(self._file)
        info: dict[str, Any] = self._primary.info
        self.bits = int(info.get("bit_depth") or 8)
        self.icc: bytes | None = info.get("icc_profile")
        self.exif: bytes | None = info.get("exif")
        self.xmp: bytes | None = info.get("xmp") or None
        self.has_thumbnail = bool(info.get("thumbnails"))

    def decode(self) -> Image.Image:
        """The primary image, upright, in the mode of the facts."""
        picture: Image.Image = self._primary.to_pillow()
        return picture

"""JPEG, PNG and WebP by the one Pillow decoder that each of them has.

The decoders are built directly, not through ``Image.open``: that would try others, and judge
size by a process-wide setting whose warning a program may have turned into an error.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import BinaryIO

from PIL import Image, ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.WebPImagePlugin import WebPImageFile

from palprep.errors import UnsupportedMedia
from palprep.media.colour import has_alpha

MAX_PIXELS = 120_000_000
"""Images above this are refused before any pixel is decoded: the largest phone sensors in
use give 108 megapixels, and 120 million pixels take 360 MB as RGB."""

DECODERS: Mapping[str, type[ImageFile.ImageFile]] = MappingProxyType(
    {"jpeg": JpegImageFile, "png": PngImageFile, "webp": WebPImageFile}
)

_PNG_XMP = "XML:com.adobe.xmp"
_PNG_EXIF = "Raw profile type exif"
"""Where ImageMagick puts EXIF in a PNG, as hexadecimal text."""

_NO_COMMENTS = frozenset({"xmp", _PNG_XMP, _PNG_EXIF})


def check_pixels(size: tuple[int, int], name: str) -> None:
    """Raises UnsupportedMedia for an image above :data:`MAX_PIXELS`."""
    width, height = size
    if width * height > MAX_PIXELS:
        raise UnsupportedMedia(
            f"{name} claims {width}x{height} pixels; palprep decodes at most "
            f"{MAX_PIXELS:,}. Export it smaller"
        )


class RasterImage:
    """One JPEG, PNG or WebP: its facts without decoding, its first frame by :meth:`decode`."""

    def __init__(self, file: BinaryIO, form: str, name: str) -> None:
        if form == "webp":
            # Its decoder allocates the canvas as soon as it is built.
            check_pixels(_webp_canvas(file), name)
        self._picture = DECODERS[form](file)
        self._form = form
        info = self._picture.info
        self.size = self._picture.size
        self.mode = self._picture.mode
        self.frames = int(getattr(self._picture, "n_frames", 1))
        self.icc: bytes | None = info.get("icc_profile") or None
        self.exif: bytes | None = info.get("exif") or _from_hex(info.get(_PNG_EXIF))
        self.has_alpha = has_alpha(self._picture)
        self.bits = _png_bits(file) if form == "png" else 8

    def decode(self, max_side: int | None = None) -> Image.Image:
        """The first frame as stored. A JPEG may come scaled down by 2, 4 or 8, with its
        longer side still at least ``max_side``."""
        if max_side is not None and self._form == "jpeg":
            width, height = self.size
            scale = min(1.0, max_side / max(width, height))
            self._picture.draft(None, (max(1, int(width * scale)), max(1, int(height * scale))))
        self._picture.load()
        return self._picture

    @property
    def xmp(self) -> bytes | None:
        """The XMP packet. PNG can place it after the pixels."""
        packet = self._picture.info.get("xmp") or self._picture.info.get(_PNG_XMP)
        return packet.encode() if isinstance(packet, str) else packet or None

    @property
    def has_iptc(self) -> bool:
        """Whether Photoshop's block of a JPEG holds IPTC records."""
        return 0x0404 in self._picture.info.get("photoshop", {})

    @property
    def has_comment(self) -> bool:
        """Whether there is a JPEG comment or a PNG text."""
        texts = getattr(self._picture, "text", {}) if self._form == "png" else {}
        return "comment" in self._picture.info or bool(texts.keys() - _NO_COMMENTS)


def _from_hex(profile: str | None) -> bytes | None:
    if not profile:
        return None
    try:
        # The profile's name and length stand on the first two lines.
        return bytes.fromhex("".join(profile.split()[2:]))
    except ValueError:
        return None


def _webp_canvas(file: BinaryIO) -> tuple[int, int]:
    """Canvas of a WebP from its first chunk (RFC 9649); (0, 0) when it has none."""
    head = file.read(30)
    file.seek(0)
    if len(head) < 30:
        return 0, 0
    match head[12:16]:
        case b"VP8X":
            width = int.from_bytes(head[24:27], "little") + 1
            return width, int.from_bytes(head[27:30], "little") + 1
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", head, 26)
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", head, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return 0, 0


def _png_bits(file: BinaryIO) -> int:
    """Bit depth of the header chunk, which stands at a fixed place (ISO/IEC 15948 11.2.2)."""
    at = file.tell()
    file.seek(24)
    depth = file.read(1)
    file.seek(at)
    return depth[0] if depth and depth[0] in {1, 2, 4, 8, 16} else 8

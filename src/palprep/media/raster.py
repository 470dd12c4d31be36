"""JPEG, PNG and WebP by the one Pillow decoder that each of them has.

The decoders are built directly, not through ``Image.open``: that would try others, and judge
size by a process-wide setting whose warning a program may have turned into an error.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import BinaryIO

import cv2
import numpy as np
from PIL import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.WebPImagePlugin import WebPImageFile

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.bounds import HeaderReader
from palprep.media.headers import kept_samples, walk_png
from palprep.media.pixels import Decoded, has_alpha, in_array

MAX_PIXELS = 240_000_000
"""Images above this are refused undecoded: the largest sensors of phones give 200 megapixels."""

_COEFFICIENT_BYTES = 2
"""Of each sample of a progressive JPEG: libjpeg keeps all of them, whatever the scale."""
_WEBP_BYTES_PER_PIXEL, _ANIMATED_BYTES_PER_PIXEL = 8, 16
"""libwebp's own picture and the result; of an animation, two canvases and Pillow's two copies."""
_SCALES = (1, 2, 4, 8)
"""By which libjpeg can decode an image smaller, at a fraction of the work."""

DECODERS: Mapping[str, type[ImageFile.ImageFile]] = MappingProxyType(
    {"jpeg": JpegImageFile, "png": PngImageFile, "webp": WebPImageFile}
)

_PNG_XMP = "XML:com.adobe.xmp"
_PNG_EXIF = "Raw profile type exif"
"""Where ImageMagick puts EXIF in a PNG, as hexadecimal text."""

_NO_COMMENTS = frozenset({"xmp", _PNG_XMP, _PNG_EXIF})


def check_pixels(size: tuple[int, int], name: str) -> None:
    """Raises DamagedMedia for no pixels at all, UnsupportedMedia above :data:`MAX_PIXELS`."""
    width, height = size
    if width < 1 or height < 1:
        raise DamagedMedia(f"{name} claims {width}x{height} pixels: it is damaged; export it again")
    if width * height > MAX_PIXELS:
        raise UnsupportedMedia(
            f"{name} claims {width}x{height} pixels; palprep decodes at most "
            f"{MAX_PIXELS:,}. Export it smaller"
        )


class RasterImage:
    """One JPEG, PNG or WebP: its facts without decoding, its first frame by :meth:`decode`."""

    def __init__(self, file: BinaryIO, form: str, reader: HeaderReader) -> None:
        if form == "webp":
            # Its decoder allocates the canvas as soon as it is built.
            check_pixels(_webp_canvas(file), reader.name)
        self.bits = 8
        if form == "png":
            walk_png(reader)
            # The bit depth stands at a fixed place (ISO/IEC 15948 11.2.2).
            depth = reader.at(24, 1)
            self.bits = depth[0] if depth and depth[0] in {1, 2, 4, 8, 16} else 8
        self._kept_samples = kept_samples(reader) if form == "jpeg" else 0.0
        file.seek(0)
        picture = DECODERS[form](file)
        self._picture: ImageFile.ImageFile | None = picture
        self._file, self._form = file, form
        info = picture.info
        self._info = info
        self._texts: set[str] = set()
        self.size = picture.size
        self.mode = picture.mode
        self.frames = int(getattr(picture, "n_frames", 1))
        self.icc: bytes | None = info.get("icc_profile") or None
        self.has_alpha = has_alpha(picture)

    @property
    def decoded_bytes(self) -> int:
        """Memory that :meth:`decode` takes at the least, a JPEG at an eighth of its size."""
        return self._bytes_at(_SCALES[-1])

    def decode(self, max_side: int | None, max_bytes: float) -> Decoded:
        """The first frame as stored. To be called once.

        A JPEG may come scaled down by 2, 4 or 8: with its longer side still at least
        ``max_side``, and so that decoding takes ``max_bytes`` at the most.
        """
        # Handed on, not kept: whoever takes the pixels decides how long they stay.
        picture, self._picture = self._picture, None
        if picture is None:
            raise RuntimeError("an image is decoded once")
        if self._form == "webp" and self.frames == 1:
            del picture
            return self._decoded_webp()
        if self._form == "jpeg":
            picture.draft(None, self._drafted(max_side, max_bytes))
        picture.load()
        if isinstance(picture, PngImageFile):
            self._texts = picture.text.keys() - _NO_COMMENTS
        return Decoded(picture.size, picture.crop)

    def _drafted(self, max_side: int | None, max_bytes: float) -> tuple[int, int]:
        longest = max(self.size)
        scale = 1
        for smaller in _SCALES[1:]:
            large_enough = max_side is not None and longest // smaller >= max_side
            if large_enough or self._bytes_at(scale) > max_bytes:
                scale = smaller
        width, height = self.size
        return max(1, width // scale), max(1, height // scale)

    def _decoded_webp(self) -> Decoded:
        """By OpenCV, which has the same decoder and needs half of Pillow's memory for it."""
        self._file.seek(0)
        data = np.frombuffer(self._file.read(), np.uint8)
        pixels = cv2.imdecode(data, cv2.IMREAD_UNCHANGED)
        if pixels is None or pixels.shape[1::-1] != self.size:
            raise ValueError("its pixels are damaged")
        return in_array(np.asarray(pixels, np.uint8), blue_first=True)

    def _bytes_at(self, scale: int) -> int:
        width, height = self.size
        pixels = width * height
        if self._form == "webp":
            still = self.frames == 1
            return pixels * (_WEBP_BYTES_PER_PIXEL if still else _ANIMATED_BYTES_PER_PIXEL)
        # As Pillow keeps it.
        narrow = 2 if self.mode.startswith("I;16") else 4
        stored = pixels * (1 if self.mode in {"1", "L", "P"} else narrow)
        if self._form == "png":
            return stored
        return int(stored // scale**2 + pixels * self._kept_samples * _COEFFICIENT_BYTES)

    @property
    def exif(self) -> bytes | None:
        """The EXIF block. PNG can place it after the pixels."""
        profile = self._info.get(_PNG_EXIF) or ""
        with contextlib.suppress(ValueError):
            # The profile's name and length stand on the first two lines.
            return self._info.get("exif") or bytes.fromhex("".join(profile.split()[2:])) or None
        return None

    @property
    def xmp(self) -> bytes | None:
        """The XMP packet. PNG can place it after the pixels."""
        packet = self._info.get("xmp") or self._info.get(_PNG_XMP)
        return packet.encode() if isinstance(packet, str) else packet or None

    @property
    def metadata(self) -> set[str]:
        """IPTC of Photoshop's block; a JPEG's comment, or a PNG's text once it is decoded."""
        kinds = {"iptc"} if 0x0404 in self._info.get("photoshop", {}) else set()
        return kinds | ({"comment"} if "comment" in self._info or self._texts else set())


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

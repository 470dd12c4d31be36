"""Stored images by the one decoder that each format has, and their pixels: any mode and any ICC
profile to 8-bit sRGB, transparency onto white.

Pixels are taken a stretch of rows at a time: copies of the whole are what costs memory. Pillow's
decoders are built directly, not through ``Image.open``: that would try others, and judge size by a
process-wide setting whose warning a program may have turned into an error.
"""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NamedTuple

import cv2
import numpy as np
import pillow_heif
from numpy.typing import NDArray
from PIL import Image, ImageCms, ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.WebPImagePlugin import WebPImageFile

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.media.images.light import HLG, PQ, Pixels, as_srgb
from palprep.media.sources.bounds import HeaderReader
from palprep.media.sources.headers import kept_samples, walk_png

Box = tuple[int, int, int, int]
"""Left, top, right and bottom in pixels; right and bottom lie outside."""

_STRIP_PIXELS = 1 << 20

_SRGB_TOLERANCE = 3
"""Largest difference, of 255, on a lattice of colours at which a profile counts as sRGB.
Vendors' own sRGB profiles differ by one or two; Display P3 and Adobe RGB by more than 40."""

_WHITE = (255, 255, 255)
_PROFILE_SPACES = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK"}


class Decoded(NamedTuple):
    """An image as its decoder left it, in the order and the mode in which it is stored."""

    size: tuple[int, int]
    part: Callable[[Box], Image.Image]


def in_array(
    pixels: NDArray[Any],
    *,
    blue_first: bool = False,
    premultiplied: bool = False,
    light: tuple[int, int] | None = None,
) -> Decoded:
    """Pixels that a library left in an array: (height, width) or (height, width, channels).
    ``premultiplied`` are colours that alpha has darkened already. With ``light``, the transfer and
    the primaries of :func:`as_srgb`, they are HDR in 16 bits.
    """

    def part(box: Box) -> Image.Image:
        left, top, right, bottom = box
        taken = pixels[top:bottom, left:right]
        if blue_first and taken.ndim == 3:
            turned = cv2.COLOR_BGRA2RGBA if taken.shape[2] == 4 else cv2.COLOR_BGR2RGB
            taken = np.asarray(cv2.cvtColor(taken, turned), np.uint8)
        taken = np.ascontiguousarray(taken)
        if light is not None:
            seen = as_srgb(np.ascontiguousarray(taken[..., :3]), *light)
            taken = np.dstack((seen, (taken[..., 3:] >> 8).astype(np.uint8)))
        if premultiplied:
            return Image.frombytes("RGBa", taken.shape[1::-1], taken.tobytes())
        return Image.fromarray(taken)

    return Decoded((pixels.shape[1], pixels.shape[0]), part)


def opaque(stored: Decoded, box: Box, *, factor: int = 1) -> tuple[str, Pixels]:
    """A part of an image in 8 bits and on white: its mode (L, RGB or CMYK), and the pixels.

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


def picture_to_srgb(picture: Image.Image, icc: bytes | None) -> Image.Image:
    """An image of mode L, RGB or CMYK as 8-bit sRGB in mode ``RGB``.

    ``icc`` is the embedded profile; pass None where :func:`describe_icc` finds it to be sRGB,
    which saves the conversion. A profile that is broken, or of another colour space than the
    pixels, is ignored, as browsers do. The intent is perceptual, the default of ICC viewers.
    """
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(icc)) if icc else None
    except (ImageCms.PyCMSError, OSError, ValueError):
        profile = None
    if profile is None or _PROFILE_SPACES.get(profile.profile.xcolor_space) != picture.mode:
        return picture.convert("RGB")
    return _converted(picture, profile)


def on_white(picture: Image.Image) -> Image.Image:
    """The image, in a mode of :func:`eight_bits`, with what is transparent flattened onto white."""
    if "A" not in picture.getbands():
        return picture
    white = Image.new("RGB", picture.size, _WHITE)
    white.paste(picture, mask=picture)
    return white


def describe_icc(icc: bytes | None) -> tuple[str | None, bool | None]:
    """Description of a profile, and whether it maps RGB as sRGB does.

    (None, None) without a profile; a broken one is called ``unreadable``, with None.
    """
    if not icc:
        return None, None
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
        description = ImageCms.getProfileDescription(profile).strip() or "unnamed"
    except (ImageCms.PyCMSError, OSError, ValueError):
        return "unreadable", None
    if profile.profile.xcolor_space != "RGB ":
        return description, False
    steps = np.linspace(0, 255, 6).astype(np.uint8)
    lattice = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(6, 36, 3)
    turned = np.asarray(_converted(Image.fromarray(lattice), profile), dtype=np.int16)
    return description, int(np.abs(turned - lattice).max()) <= _SRGB_TOLERANCE


def eight_bits(picture: Image.Image) -> Image.Image:
    """In one of the modes L, RGB, RGBA or CMYK."""
    if picture.mode.startswith("I;16"):
        # Pillow would clip what is above 255 on the way to RGBA.
        wide = np.asarray(picture, dtype=np.uint16)
        grey = Image.fromarray((wide >> 8).astype(np.uint8))
        if not picture.has_transparency_data:
            return grey
        grey.putalpha(Image.fromarray(wide != picture.info["transparency"]))
        return grey.convert("RGBA")
    if picture.has_transparency_data:
        return picture if picture.mode == "RGBA" else picture.convert("RGBA")
    if picture.mode in {"L", "RGB", "CMYK"}:
        return picture
    return picture.convert("L" if picture.mode == "1" else "RGB")


def _converted(picture: Image.Image, profile: ImageCms.ImageCmsProfile) -> Image.Image:
    try:
        turned = ImageCms.profileToProfile(
            picture, profile, ImageCms.createProfile("sRGB"), outputMode="RGB"
        )
    except (ImageCms.PyCMSError, ValueError):
        turned = None
    return turned or picture.convert("RGB")


_BYTES_PER_PIXEL, _BYTES_PER_DEEP_PIXEL = 5, 9
"""What libheif takes while it decodes: the planes as coded, and RGB from them."""


class HeifImage:
    """One HEIF file: its facts without decoding, its primary image by :meth:`decode`.

    libheif applies turns, mirrors and crops itself. It is called directly: registering it with
    Pillow would change what Pillow does in the whole process, which is not for a library to decide.
    """

    def __init__(self, file: BinaryIO) -> None:
        data = io.BytesIO(file.read())
        images = pillow_heif.open_heif(data)
        primary = images[images.primary_index]
        info: dict[str, Any] = primary.info
        coded = info.get("nclx_profile") or {}
        self._light: tuple[int, int] | None = None
        if primary.mode != "L" and coded.get("transfer_characteristics") in {PQ, HLG}:
            self._light = (coded["transfer_characteristics"], coded["color_primaries"])
            images = pillow_heif.open_heif(data, convert_hdr_to_8bit=False)
        self._primary: Any = images[images.primary_index]
        self.size: tuple[int, int] = primary.size
        self._premultiplied: bool = primary.premultiplied_alpha
        self.mode: str = "RGBA" if self._premultiplied else primary.mode
        self.has_alpha: bool = primary.has_alpha
        self.frames = len(images)
        self.bits = int(info.get("bit_depth") or 8)
        self.icc: bytes | None = info.get("icc_profile")
        self.exif: bytes | None = info.get("exif")
        self.xmp: bytes | None = info.get("xmp") or None
        self.metadata = {"thumbnail"} if info.get("thumbnails") else set[str]()
        """Kinds of ``ImageFacts.metadata`` beyond what the other attributes tell."""

    @property
    def decoded_bytes(self) -> int:
        """Memory that :meth:`decode` takes."""
        width, height = self.size
        per_pixel = _BYTES_PER_PIXEL if self.bits <= 8 else _BYTES_PER_DEEP_PIXEL
        return width * height * per_pixel

    def decode(self, *_: object) -> Decoded:
        """The primary image, upright and whole, in the mode of the facts. To be called once."""
        # Handed on, not kept: whoever takes the pixels decides how long they stay.
        primary, self._primary = self._primary, None
        pixels = np.asarray(primary)
        # Rows may be padded.
        rows = pixels[:, : primary.size[0]]
        return in_array(rows, premultiplied=self._premultiplied, light=self._light)


MAX_PIXELS = 240_000_000
"""Images above this are refused undecoded: the largest sensors of phones give 200 megapixels."""
MAX_SIDE = 65_535
"""The longest that a JPEG can have. Beside its pixels, each row of a picture takes 8 bytes."""

_COEFFICIENT_BYTES = 2
"""Of each coefficient of a progressive JPEG: libjpeg keeps all, whatever the scale."""
_WEBP_BYTES_PER_PIXEL, _ANIMATED_BYTES_PER_PIXEL = 8, 16
"""libwebp's own picture and the result; of an animation, two canvases and Pillow's two copies."""
_SCALES = (1, 2, 4, 8)
"""By which libjpeg can decode an image smaller, at a fraction of the work."""

DECODERS: Mapping[str, type[ImageFile.ImageFile]] = {
    "jpeg": JpegImageFile,
    "png": PngImageFile,
    "webp": WebPImageFile,
}

_PNG_XMP = "XML:com.adobe.xmp"

_PNG_EXIF = "Raw profile type exif"
"""Where ImageMagick puts EXIF in a PNG, as hexadecimal text."""

_NO_COMMENTS = frozenset({"xmp", _PNG_XMP, _PNG_EXIF})


def check_pixels(size: tuple[int, int], name: str) -> None:
    """Raises DamagedMedia for no pixels at all, UnsupportedMedia above :data:`MAX_PIXELS`,
    or :data:`MAX_SIDE`."""
    width, height = size
    if width < 1 or height < 1:
        raise DamagedMedia(f"{name} claims {width}x{height} pixels: it is damaged; export it again")
    if width * height > MAX_PIXELS or max(size) > MAX_SIDE:
        raise UnsupportedMedia(
            f"{name} claims {width}x{height} pixels; palprep decodes at most "
            f"{MAX_PIXELS:,}, of them {MAX_SIDE:,} on a side. Export it smaller"
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
        self._picture: Any = picture
        self._file, self._form = file, form
        info = self._info = picture.info
        self._texts: set[str] = set()
        self.size = picture.size
        self.mode = picture.mode
        self.frames = int(getattr(picture, "n_frames", 1))
        self.icc: bytes | None = info.get("icc_profile") or None
        self.has_alpha = picture.has_transparency_data

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
        pixels = cv2.imdecode(np.frombuffer(self._file.read(), np.uint8), cv2.IMREAD_UNCHANGED)
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
        return self._info.get("exif") or _from_hex(self._info.get(_PNG_EXIF))

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


def _from_hex(profile: str | None) -> bytes | None:
    # The profile's name and length stand on the first two lines.
    with contextlib.suppress(ValueError):
        return bytes.fromhex("".join((profile or "").split()[2:])) or None
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

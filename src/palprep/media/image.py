"""Facts and pixels of image files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from palprep.errors import DamagedMedia, MediaError, UnsupportedMedia
from palprep.media.colour import describe_icc, eight_bits, to_srgb
from palprep.media.exif import Exif, read_exif, xmp_orientation
from palprep.media.facts import ImageFacts
from palprep.media.heif import HeifImage
from palprep.media.raster import RasterImage, check_pixels
from palprep.media.source import Source
from palprep.values import Kind

_BROKEN = (
    *(OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, ArithmeticError),
    *(RuntimeError, AttributeError, MemoryError, struct.error, zlib.error, Warning),
)
"""What Pillow's and libheif's decoders raise on damaged input, and what they only warn of, for
programs that turn warnings into errors."""

MAX_FILE_BYTES = 1 << 28
"""Images above 256 MiB are refused unread: the decoders take the whole file into memory."""

_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What turns an image upright, by EXIF orientation."""


def open_image(source: Source, *, max_side: int | None = None) -> NDArray[np.uint8]:
    """The image upright as sRGB: shape (height, width, 3), RGB, 0..255, read-only.

    With ``max_side`` the longer side has at most that many pixels; a larger JPEG is then
    decoded at reduced size, which costs a fraction of a full decode. Never enlarged.
    Raises as :func:`probe_and_open` does.
    """
    return np.asarray(load_image(source, max_side=max_side))


def load_image(source: Source, *, max_side: int | None = None) -> Image.Image:
    """As :func:`open_image`, as a Pillow image of mode ``RGB`` that is free of metadata."""
    with _opened(source) as image:
        _, is_srgb = describe_icc(image.icc)
        return _pixels(image, _exif(image), max_side, is_srgb=is_srgb)


def probe_and_open(
    source: Source, *, max_side: int | None = None
) -> tuple[ImageFacts, NDArray[np.uint8]]:
    """Facts and pixels from one decode; of the pixels see :func:`open_image`.

    Raises FileMissing or FileUnreadable; UnsupportedMedia for another kind of file, or for
    more than ``raster.MAX_PIXELS``; DamagedMedia when it does not decode.
    """
    with _opened(source) as image:
        exif = _exif(image)
        icc = describe_icc(image.icc)
        pixels = _pixels(image, exif, max_side, is_srgb=icc[1])
        facts = _facts(image, exif, icc, source)
        return facts, np.asarray(pixels)


@contextmanager
def _opened(source: Source) -> Iterator[HeifImage | RasterImage]:
    if source.type.kind is not Kind.IMAGE or not source.type.accepted:
        raise UnsupportedMedia(f"{source.name} is {source.type.description}, no accepted image")
    with source.open() as file:
        if source.size_bytes > MAX_FILE_BYTES:
            raise UnsupportedMedia(
                f"{source.name} has {source.size_bytes:,} bytes; export it smaller"
            )
        try:
            image = (
                HeifImage(file)
                if source.type.format in {"heic", "heif"}
                else RasterImage(file, source.type.format, source.name)
            )
            check_pixels(image.size, source.name)
            yield image
        except MediaError:
            raise
        except _BROKEN as error:
            reason = str(error).strip() or type(error).__name__
            raise DamagedMedia(
                f"{source.name} starts like {source.type.description} but does not decode "
                f"({reason}); export it again"
            ) from None


def _exif(image: HeifImage | RasterImage) -> Exif:
    exif = read_exif(image.exif)
    if isinstance(image, HeifImage):
        # HEIF turns by its own boxes, which libheif has applied; EXIF only repeats them.
        return exif._replace(orientation=1)
    # As Pillow does: XMP turns an image where EXIF is silent.
    return exif._replace(orientation=exif.orientation or xmp_orientation(image.xmp) or 1)


def _pixels(
    image: HeifImage | RasterImage, exif: Exif, max_side: int | None, *, is_srgb: bool | None
) -> Image.Image:
    picture = image.decode() if isinstance(image, HeifImage) else image.decode(max_side)
    turn = _UPRIGHT.get(exif.orientation or 1)
    # Palette indices and 16-bit greys cannot be averaged, so this comes before scaling.
    stored = eight_bits(picture)
    if max_side is not None and max(stored.size) > max_side:
        stored = _shrunk(stored, max_side)
    upright = to_srgb(stored, None if is_srgb else image.icc)
    turned = upright if turn is None else upright.transpose(turn)
    turned.info = {}
    return turned


def _shrunk(picture: Image.Image, max_side: int) -> Image.Image:
    scale = max_side / max(picture.size)
    width, height = (max(1, round(side * scale)) for side in picture.size)
    if picture.mode in {"L", "RGB"}:
        # The same average over areas as Pillow's, several times as fast.
        small = cv2.resize(np.asarray(picture), (width, height), interpolation=cv2.INTER_AREA)
        return Image.fromarray(small.astype(np.uint8, copy=False))
    return picture.resize((width, height), Image.Resampling.BOX)


def _facts(
    image: HeifImage | RasterImage,
    exif: Exif,
    icc: tuple[str | None, bool | None],
    source: Source,
) -> ImageFacts:
    description, is_srgb = icc
    orientation = exif.orientation or 1
    width, height = image.size[::-1] if orientation >= 5 else image.size
    return ImageFacts(
        format=source.type.format,
        width=width,
        height=height,
        orientation=orientation,
        mode=image.mode,
        bits_per_channel=image.bits,
        icc_profile=description,
        icc_is_srgb=is_srgb,
        has_alpha=image.has_alpha,
        frames=image.frames,
        metadata=tuple(sorted(_metadata(image, exif))),
        base64_chars=4 * -(-source.size_bytes // 3),
    )


def _metadata(image: HeifImage | RasterImage, exif: Exif) -> Iterator[str]:
    found = {
        "comment": isinstance(image, RasterImage) and image.has_comment,
        "exif": bool(image.exif),
        "gps": exif.has_gps,
        "icc": bool(image.icc),
        "iptc": isinstance(image, RasterImage) and image.has_iptc,
        "thumbnail": exif.has_thumbnail or (isinstance(image, HeifImage) and image.has_thumbnail),
        "xmp": image.xmp is not None,
    }
    return (kind for kind, there in found.items() if there)

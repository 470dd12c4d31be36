"""Facts and pixels of image files."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import cv2
import numpy as np
from PIL import ExifTags, Image, ImageOps

from palprep.errors import DamagedMedia, MediaError, UnsupportedMedia
from palprep.media.facts import MOST_IMAGE_MEMORY_MB, ImageFacts
from palprep.media.images.light import Pixels
from palprep.media.images.pixels import (
    Box,
    HeifImage,
    RasterImage,
    check_pixels,
    describe_icc,
    opaque,
    picture_to_srgb,
)
from palprep.media.sources.bounds import HeaderReader
from palprep.media.sources.headers import Exif, read_exif, without_metadata, xmp_orientation
from palprep.media.sources.source import Source
from palprep.values import Kind

_CUT_OFF = ("is truncated", "end of file")
"""What Pillow and libheif say of a file whose end is missing."""
_BROKEN = (
    *(OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, ArithmeticError),
    *(RuntimeError, AttributeError, struct.error, zlib.error, Warning),
)
"""What Pillow's and libheif's decoders raise on damaged input, and what they only warn of, for
programs that turn warnings into errors."""

MAX_FILE_BYTES = 1 << 28
"""Images above 256 MiB are refused unread: the decoders take the whole file into memory."""

_WORK_PIXELS = 25_000_000
"""Larger images are averaged over squares of whole pixels, while they are taken over."""


def open_image(
    source: Source,
    *,
    max_side: int | None = None,
    region: Box | None = None,
    turned_deg: int = 0,
    max_memory_mb: float | None = MOST_IMAGE_MEMORY_MB,
) -> tuple[ImageFacts, Image.Image]:
    """Facts and pixels from one decode: upright, sRGB in mode ``RGB``, free of metadata.

    With ``max_side`` the longer side has at most that many pixels; a larger JPEG is then decoded at
    reduced size, which costs a fraction of a full decode. Never enlarged. ``turned_deg`` is a
    further turn clockwise, by 90, 180 or 270 degrees, of which the facts say nothing. ``region`` is
    the part that is wanted, in pixels of the upright and turned image. Of a large one squares of
    pixels are averaged: see the size of the result. Raises FileMissing or FileUnreadable;
    UnsupportedMedia for another kind of file, for more than ``pixels.MAX_PIXELS``, or where
    decoding takes more than ``max_memory_mb``; DamagedMedia when it does not decode.
    """
    facts, picture = probe_image(
        source, max_side=max_side, region=region, turned_deg=turned_deg, max_memory_mb=max_memory_mb
    )
    if picture is None:
        raise UnsupportedMedia(
            f"Decoding {source.name} takes {facts.decoding_mb or 0:,.0f} MB of memory, "
            f"of which it is given {max_memory_mb:,.0f} MB. Export it smaller"
        )
    return facts, picture


def probe_image(
    source: Source,
    *,
    max_side: int | None = None,
    region: Box | None = None,
    turned_deg: int = 0,
    max_memory_mb: float | None,
) -> tuple[ImageFacts, Image.Image | None]:
    """As :func:`open_image`; the pixels are None where decoding takes more memory.

    None of ``max_memory_mb`` is no limit.
    """
    most_bytes = math.inf if max_memory_mb is None else max_memory_mb * 1e6
    with _opened(source) as image:
        icc = describe_icc(image.icc)
        stored = picture = None
        if image.decoded_bytes <= most_bytes:
            stored = _taken(image, region, max_side, most_bytes, turned_deg)
        # Only now, since PNG can place metadata after the pixels.
        exif = _exif(image)
        if stored is not None:
            picture = _upright(*stored, _turned(exif, turned_deg), None if icc[1] else image.icc)
        return _facts(image, exif, icc, source), picture


def bare_jpeg(source: Source) -> bytes:
    """A JPEG file without its metadata, its image byte for byte the same: nothing is decoded.

    Raises FileUnreadable, and DamagedMedia for more segments than an encoder writes.
    """
    with source.open() as file:
        return without_metadata(HeaderReader(file, source.size_bytes, source.name))


@contextmanager
def _opened(source: Source) -> Iterator[HeifImage | RasterImage]:
    if source.type.kind is not Kind.IMAGE or not source.type.accepted:
        raise source.unsupported(", no accepted image")
    with source.open() as file:
        if source.size_bytes > MAX_FILE_BYTES:
            raise UnsupportedMedia(
                f"{source.name} has {source.size_bytes:,} bytes; export it smaller"
            )
        try:
            if source.type.format in {"heic", "heif"}:
                image: HeifImage | RasterImage = HeifImage(file)
            else:
                reader = HeaderReader(file, source.size_bytes, source.name)
                image = RasterImage(file, source.type.format, reader)
            check_pixels(image.size, source.name)
            yield image
        except MediaError:
            raise
        except MemoryError:
            raise source.out_of_memory() from None
        except _BROKEN as error:
            # Pillow's own have no number.
            if isinstance(error, OSError) and error.errno is not None:
                raise source.unreadable(error) from None
            reason = str(error).strip() or type(error).__name__
            cut = any(each in reason for each in _CUT_OFF)
            why = "ends too soon" if cut else f"does not decode ({reason})"
            advice = "it did not arrive whole, send it again" if cut else "export it again"
            raise DamagedMedia(
                f"{source.name} starts like {source.type.description} but {why}; {advice}"
            ) from None


def _exif(image: HeifImage | RasterImage) -> Exif:
    """EXIF with the orientation of the decoded image, 1 to 8; of a PNG known once it is decoded."""
    exif = read_exif(image.exif)
    if isinstance(image, HeifImage):
        # HEIF turns by its own boxes, which libheif has applied; EXIF only repeats them.
        return exif._replace(orientation=1)
    # As Pillow does: XMP turns an image where EXIF is silent.
    return exif._replace(orientation=exif.orientation or xmp_orientation(image.xmp) or 1)


def _turned(exif: Exif, degrees: int) -> int:
    """The EXIF orientation that makes an image upright, then turns it clockwise by quarters."""
    around = (1, 6, 3, 8), (2, 7, 4, 5)
    stored = exif.orientation or 1
    [row] = (each for each in around if stored in each)
    return row[(row.index(stored) + degrees // 90) % 4]


def _taken(
    image: HeifImage | RasterImage,
    region: Box | None,
    max_side: int | None,
    most_bytes: float,
    turned_deg: int,
) -> tuple[str, Pixels]:
    """The mode and the pixels of the region, as they are stored."""
    decoded = image.decode(max_side, most_bytes)
    box = (0, 0, *decoded.size)
    if region is not None:
        turn = _turned(_exif(image), turned_deg)
        box = _scaled(_stored(region, turn, image.size), image.size, decoded.size)
        if box[0] >= box[2] or box[1] >= box[3]:
            box = (0, 0, *decoded.size)
    wide, high = box[2] - box[0], box[3] - box[1]
    factor = 1
    while (wide // factor) * (high // factor) > _WORK_PIXELS:
        factor += 1
    mode, stored = opaque(decoded, box, factor=factor)
    # What was decoded goes before other copies are made.
    del decoded
    height, width = stored.shape[:2]
    if max_side is not None and max(width, height) > max_side:
        scale = max_side / max(width, height)
        size = max(1, round(width * scale)), max(1, round(height * scale))
        stored = np.asarray(cv2.resize(stored, size, interpolation=cv2.INTER_AREA), np.uint8)
    return mode, stored


def _upright(mode: str, pixels: Pixels, orientation: int, icc: bytes | None) -> Image.Image:
    height, width = pixels.shape[:2]
    stored = Image.frombuffer(mode, (width, height), pixels, "raw", mode, 0, 1)
    picture = picture_to_srgb(stored, icc)
    if orientation != 1:
        picture.getexif()[ExifTags.Base.Orientation] = orientation
        ImageOps.exif_transpose(picture, in_place=True)
    picture.info = {}
    return picture


def _stored(region: Box, orientation: int, size: tuple[int, int]) -> Box:
    """A region of the upright image, as it lies in the stored one of that size."""
    left, top, right, bottom = region
    if orientation >= 5:
        left, top, right, bottom = top, left, bottom, right
    width, height = size
    if orientation in {2, 3, 7, 8}:
        left, right = width - right, width - left
    if orientation in {3, 4, 6, 7}:
        top, bottom = height - bottom, height - top
    return left, top, right, bottom


def _scaled(box: Box, size: tuple[int, int], other: tuple[int, int]) -> Box:
    """A box of an image of one size in the same image of another, and inside of it."""
    across, down = other[0] / size[0], other[1] / size[1]
    return (
        *(max(0, int(box[0] * across)), max(0, int(box[1] * down))),
        *(min(other[0], math.ceil(box[2] * across)), min(other[1], math.ceil(box[3] * down))),
    )


def _facts(
    image: HeifImage | RasterImage, exif: Exif, icc: tuple[str | None, bool | None], source: Source
) -> ImageFacts:
    description, is_srgb = icc
    orientation = exif.orientation or 1
    width, height = image.size[::-1] if orientation >= 5 else image.size
    kinds = {
        "exif": bool(image.exif),
        "gps": exif.has_gps,
        "icc": bool(image.icc),
        "thumbnail": exif.has_thumbnail,
        "xmp": image.xmp is not None,
    }
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
        metadata=tuple(sorted(image.metadata | {kind for kind, there in kinds.items() if there})),
        base64_chars=4 * -(-source.size_bytes // 3),
        decoding_mb=round(image.decoded_bytes / 1e6, 1),
    )

"""Images: one decode, the plan's steps, one encode, and nothing but pixels in the output. A JPEG
that only has metadata to lose is not decoded.

Turning, cropping, exposure and white balance are done in linear light. Pixels are only moved and
scaled. Nothing is painted: a crop that would show anything outside the image is refused.

The encode fits under a number of base64 characters: best size first, then best quality. An image
keeps its size as long as some quality from the floor up fits; only then is it made smaller, by as
little as possible, and the best quality is looked for again at that size. What is written is an
encode that was really made and counted.
"""

from __future__ import annotations

import contextlib
import io
import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from palprep import media
from palprep.errors import CannotFit, FixError
from palprep.fixes.output import Applied, FixDone, NewOutput, new_output, turn_done
from palprep.media import images, sources
from palprep.rules.plans import Crop, ImagePlan

SUFFIXES = {"jpeg": ".jpg", "png": ".png"}


def fix_image(plan: ImagePlan, source: sources.Source, new: NewOutput) -> Applied:
    """Write the image that ``plan`` makes of ``source``: upright, sRGB, three channels, without
    metadata of any kind."""
    kept = _kept(plan, source)
    if kept is not None:
        facts, data = kept
        with new(SUFFIXES["jpeg"]) as output:
            output.temporary.write_bytes(data)
        done = (*_decoded(facts), FixDone(id="keep_pixels", did="kept the image as it was encoded"))
        return Applied(path=str(output.path), fixes=done, coding_kept=True)
    region = None
    if plan.crop is not None:
        left, top, right, bottom = plan.crop.bounds(plan.level_deg)
        region = math.floor(left), math.floor(top), math.ceil(right), math.ceil(bottom)
    facts, picture = images.open_image(
        source, region=region, turned_deg=plan.turned_deg, max_memory_mb=plan.max_memory_mb
    )
    size = (facts.width, facts.height)
    whole = size[::-1] if plan.turned_deg % 180 else size
    require_within(whole, plan)
    picture = adjust(picture, plan if region is None else _moved(plan, region, whole, picture.size))
    # A large JPEG comes smaller already.
    full_size = whole if plan.crop is None else (plan.crop.width, plan.crop.height)
    if plan.max_side_px is not None and max(picture.size) > plan.max_side_px:
        bounds = (plan.max_side_px, plan.max_side_px)
        picture.thumbnail(bounds, Image.Resampling.LANCZOS, reducing_gap=None)
    wanted_size = picture.size
    encoded = fit(picture, png=plan.png, max_base64_chars=plan.max_base64_chars)
    with new(SUFFIXES[encoded.format]) as output:
        output.temporary.write_bytes(encoded.data)
    done = (
        *_decoded(facts),
        *_adjusted(plan),
        *_encoded(plan, facts, encoded, full_size=full_size, wanted_size=wanted_size),
    )
    return Applied(path=str(output.path), fixes=done)


def _kept(plan: ImagePlan, source: sources.Source) -> tuple[media.ImageFacts, bytes] | None:
    """The facts of a JPEG, and its bytes without metadata, where the plan asks for nothing else."""
    if any(_adjusted(plan)) or source.type.format != "jpeg":
        return None
    facts, _ = images.probe_image(source, max_memory_mb=0)
    plain = (facts.mode, facts.orientation) == ("RGB", 1)
    other_colours = facts.icc_profile is not None and not facts.icc_is_srgb
    largest = max(facts.width, facts.height)
    if not plain or other_colours or largest > (plan.max_side_px or largest):
        return None
    data = images.bare_jpeg(source)
    return (facts, data) if base64_chars(len(data)) <= plan.max_base64_chars else None


def _moved(
    plan: ImagePlan, region: images.Box, whole: tuple[int, int], size: tuple[int, int]
) -> ImagePlan:
    """The plan for a region of the whole image, which has come at that size."""
    if plan.crop is None:
        return plan
    left, top = max(0, region[0]), max(0, region[1])
    wide, high = min(whole[0], region[2]) - left, min(whole[1], region[3]) - top
    across, down = size[0] / wide, size[1] / high
    # Of a smaller image a pixel is left out on every side: places are rounded.
    rim = 0 if (wide, high) == size else 1
    crop = Crop(
        left=math.ceil((plan.crop.left - left) * across) + rim,
        top=math.ceil((plan.crop.top - top) * down) + rim,
        width=max(1, math.floor(plan.crop.width * across) - 3 * rim),
        height=max(1, math.floor(plan.crop.height * down) - 3 * rim),
    )
    return plan.model_copy(update={"crop": crop})


def _decoded(facts: media.ImageFacts) -> Iterator[FixDone]:
    if facts.frames > 1:
        yield FixDone(id="first_frame", did=f"kept the main one of {facts.frames} images")
    if facts.orientation != 1:
        yield FixDone(id="orient", did=f"turned upright (EXIF orientation {facts.orientation})")
    if facts.icc_profile is not None and not facts.icc_is_srgb:
        yield FixDone(id="to_srgb", did=f"converted colours from {facts.icc_profile} to sRGB")
    elif facts.mode not in {"RGB", "RGBA"}:
        yield FixDone(id="to_srgb", did=f"converted from {facts.mode} to 8-bit sRGB")
    if facts.has_alpha:
        yield FixDone(id="flatten", did="flattened transparency onto white")
    if facts.metadata:
        yield FixDone(id="strip_metadata", did="removed metadata: " + ", ".join(facts.metadata))


def _adjusted(plan: ImagePlan) -> Iterator[FixDone]:
    if plan.turned_deg:
        yield turn_done(plan.turned_deg)
    if plan.level_deg:
        way = "counter-clockwise" if plan.level_deg > 0 else "clockwise"
        yield FixDone(id="level", did=f"levelled by {abs(plan.level_deg):.1f}° {way}")
    if plan.crop:
        crop = plan.crop
        yield FixDone(
            id="crop", did=f"cropped to {crop.width}x{crop.height} px at ({crop.left}, {crop.top})"
        )
    if plan.exposure_ev:
        word = "brightened" if plan.exposure_ev > 0 else "darkened"
        yield FixDone(id="exposure", did=f"{word} by {abs(plan.exposure_ev):.2f} stops")
    if plan.white_balance != (1.0, 1.0, 1.0):
        red, green, blue = plan.white_balance
        yield FixDone(
            id="white_balance", did=f"white balance: R x{red:.2f}, G x{green:.2f}, B x{blue:.2f}"
        )


def _encoded(
    plan: ImagePlan,
    facts: media.ImageFacts,
    encoded: Encoded,
    *,
    full_size: tuple[int, int],
    wanted_size: tuple[int, int],
) -> Iterator[FixDone]:
    size = (encoded.width, encoded.height)
    if full_size != size:
        before, after = (f"{width}x{height}" for width, height in (full_size, size))
        yield FixDone(id="scale_down", did=f"scaled down from {before} to {after} px")
    name, chars = encoded.format.upper(), base64_chars(len(encoded.data))
    verb = "re-encoded as" if encoded.format == facts.format else f"{facts.format.upper()} to"
    quality = "" if encoded.quality is None else f" quality {encoded.quality}"
    did = f"{verb} {name}{quality}: {chars:,} base64 characters"
    yield FixDone(id="convert", did=did)
    if wanted_size != size or (encoded.quality is not None and encoded.quality < BEST_QUALITY):
        did = f"fitted under {plan.max_base64_chars:,} base64 characters"
        yield FixDone(id="fit_base64", did=did)


def adjust(picture: Image.Image, plan: ImagePlan) -> Image.Image:
    """The plan's level, crop, exposure and white balance of an upright sRGB image."""
    crop = plan.crop or Crop(left=0, top=0, width=picture.width, height=picture.height)
    slope = 2.0**plan.exposure_ev
    light = [np.minimum(images.LINEAR * np.float32(gain), 1) for gain in plan.white_balance]
    light = [each * slope / (1 + (slope - 1) * each) for each in light]
    if plan.level_deg:
        # One channel at a time: a float copy of a 50-megapixel picture is 600 MB at once.
        return Image.merge(
            "RGB",
            [
                _turned(channel, crop, plan.level_deg, curve)
                for channel, curve in zip(picture.split(), light, strict=True)
            ],
        )
    if plan.crop:
        picture = picture.crop(
            (crop.left, crop.top, crop.left + crop.width, crop.top + crop.height)
        )
    if plan.exposure_ev or plan.white_balance != (1.0, 1.0, 1.0):
        picture = picture.point([int(value) for each in light for value in images.to_srgb(each)])
    return picture


def require_within(size: tuple[int, int], plan: ImagePlan) -> None:
    """Raise FixError when the plan's (turned) crop reaches outside an image of that size."""
    width, height = size
    crop = plan.crop or Crop(left=0, top=0, width=width, height=height)
    if not crop.lies_within(width, height, level_deg=plan.level_deg):
        turned = f" turned by {plan.level_deg:g}°" if plan.level_deg else ""
        raise FixError(
            f"A crop of {crop.width}x{crop.height} px at ({crop.left}, {crop.top}){turned} "
            f"reaches outside the {width}x{height} px image; choose a smaller "
            "crop, or take the picture with more room around the head"
        )


def _turned(
    channel: Image.Image, crop: Crop, degrees: float, curve: NDArray[np.float32]
) -> Image.Image:
    """``curve`` is the linear light of each 8-bit level."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    x, y = crop.left + crop.width / 2, crop.top + crop.height / 2
    half_width, half_height = crop.width / 2, crop.height / 2
    light = Image.fromarray(curve[np.asarray(channel)])
    turned = light.transform(
        (crop.width, crop.height),
        Image.Transform.AFFINE,
        # From a point of the output back to the picture, y downwards.
        (
            *(cos, -sin, x - cos * half_width + sin * half_height),
            *(sin, cos, y - sin * half_width - cos * half_height),
        ),
        resample=Image.Resampling.BICUBIC,
    )
    return Image.fromarray(images.to_srgb(np.asarray(turned)))


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


def keep_picked(source: sources.Source, at_s: float | None, into: Path) -> Path:
    """Write a video's frame at ``at_s`` as a PNG in full size, or copy an image as it is.

    The file is named after its source, replaces no other, and is written whole or not at all.
    Raises MediaError for a frame that does not decode, OutputUnwritable.
    """
    if at_s is None:
        with new_output(into / source.path.stem, source.path.suffix, source=source.path) as output:
            shutil.copyfile(source.path, output.temporary)
        return output.path
    with contextlib.closing(images.sample_frames(source, from_s=at_s)) as frames:
        frame = next(frames)
    stem = into / f"{source.path.stem}-{at_s:.2f}s"
    with new_output(stem, ".png", source=source.path) as output:
        Image.fromarray(frame.rgb).save(output.temporary, "PNG")
    return output.path

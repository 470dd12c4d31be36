"""Turning, cropping, exposure and white balance of an image, in linear light.

Pixels are only moved and scaled. Nothing is painted: a crop that would show anything outside
the image is refused.
"""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from palprep.errors import FixError
from palprep.media.light import LINEAR, to_srgb
from palprep.rules.plans.plan import Crop, ImagePlan


def adjust(picture: Image.Image, plan: ImagePlan) -> Image.Image:
    """The plan's level, crop, exposure and white balance of an upright sRGB image.

    Raises FixError when the (turned) crop reaches outside the image.
    """
    require_within(picture.size, plan)
    crop = plan.crop or Crop(left=0, top=0, width=picture.width, height=picture.height)
    gains = tuple(gain * 2.0**plan.exposure_ev for gain in plan.white_balance)
    if plan.level_deg:
        # One channel at a time: a float copy of a 50-megapixel picture is 600 MB at once.
        return Image.merge(
            "RGB",
            [
                _turned(channel, crop, plan.level_deg, gain)
                for channel, gain in zip(picture.split(), gains, strict=True)
            ],
        )
    if crop != Crop(left=0, top=0, width=picture.width, height=picture.height):
        picture = picture.crop(
            (crop.left, crop.top, crop.left + crop.width, crop.top + crop.height)
        )
    if gains != (1.0, 1.0, 1.0):
        tables = [to_srgb(LINEAR * gain) for gain in gains]
        picture = picture.point([int(value) for table in tables for value in table])
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


def _turned(channel: Image.Image, crop: Crop, degrees: float, gain: float) -> Image.Image:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    x, y = crop.left + crop.width / 2, crop.top + crop.height / 2
    half_width, half_height = crop.width / 2, crop.height / 2
    light = Image.fromarray((LINEAR * np.float32(gain))[np.asarray(channel)])
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
    return Image.fromarray(to_srgb(np.asarray(turned)))

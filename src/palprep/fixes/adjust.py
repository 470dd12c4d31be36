"""Turning, cropping, exposure and white balance of a picture, in linear light.

Pixels are only moved and scaled. Nothing is painted: a crop that would show anything beside
the picture is refused.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from palprep.errors import FixError
from palprep.rules.plans.plan import Crop, ImagePlan

_STEPS = 65_536
"""Steps of linear light on the way back to sRGB: under a tenth of an 8-bit step at black."""


def adjust(picture: Image.Image, plan: ImagePlan) -> Image.Image:
    """The plan's level, crop, exposure and white balance of an upright sRGB picture.

    Raises FixError when the (turned) crop reaches outside the picture.
    """
    crop = _checked_crop(picture, plan)
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
        tables = [to_srgb(to_linear() * gain) for gain in gains]
        picture = picture.point([int(value) for table in tables for value in table])
    return picture


def to_linear() -> NDArray[np.float32]:
    """Linear light, 0 to 1, of each 8-bit sRGB value (IEC 61966-2-1); shape (256,)."""
    value = np.arange(256, dtype=np.float64) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return linear.astype(np.float32)


def to_srgb(linear: NDArray[np.float32]) -> NDArray[np.uint8]:
    """8-bit sRGB of linear light of any shape; clipped to 0 and 1 (IEC 61966-2-1)."""
    steps = (np.clip(linear, 0, 1) * (_STEPS - 1) + 0.5).astype(np.uint16)
    values: NDArray[np.uint8] = np.take(_encoding(), steps)
    return values


def _encoding() -> NDArray[np.uint8]:
    light = np.arange(_STEPS, dtype=np.float64) / (_STEPS - 1)
    value = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    encoded: NDArray[np.uint8] = np.rint(value * 255).astype(np.uint8)
    return encoded


def _checked_crop(picture: Image.Image, plan: ImagePlan) -> Crop:
    whole = Crop(left=0, top=0, width=picture.width, height=picture.height)
    crop = plan.crop or whole
    if not crop.lies_within(*picture.size, level_deg=plan.level_deg):
        turned = f" turned by {plan.level_deg:g}°" if plan.level_deg else ""
        raise FixError(
            f"A crop of {crop.width}x{crop.height} px at ({crop.left}, {crop.top}){turned} "
            f"reaches outside the {picture.width}x{picture.height} px picture; choose a smaller "
            "crop, or take the picture with more room around the head"
        )
    return crop


def _turned(channel: Image.Image, crop: Crop, degrees: float, gain: float) -> Image.Image:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    x, y = crop.left + crop.width / 2, crop.top + crop.height / 2
    half_width, half_height = crop.width / 2, crop.height / 2
    light = Image.fromarray((to_linear() * np.float32(gain))[np.asarray(channel)])
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

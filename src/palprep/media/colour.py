"""Colours of images: any mode and any ICC profile to 8-bit sRGB, transparency onto white."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image, ImageCms

_SRGB_TOLERANCE = 3
"""Largest difference, of 255, on a lattice of colours at which a profile counts as sRGB.
Vendors' own sRGB profiles differ by one or two; Display P3 and Adobe RGB by more than 40."""

_WHITE = (255, 255, 255)
_ALPHA_MODES = frozenset({"RGBA", "LA", "PA", "La", "RGBa"})
_PROFILE_SPACES = {"RGB ": "RGB", "GRAY": "L", "CMYK": "CMYK", "Lab ": "LAB"}


def has_alpha(picture: Image.Image) -> bool:
    """Whether any pixel could be transparent."""
    return picture.mode in _ALPHA_MODES or "transparency" in picture.info


def to_srgb(picture: Image.Image, icc: bytes | None) -> Image.Image:
    """An image of mode L, RGB, CMYK or LAB as 8-bit sRGB in mode ``RGB``.

    ``icc`` is the embedded profile; pass None where :func:`describe_icc` finds it to be sRGB,
    which saves the conversion. A profile that is broken, or of another colour space than the
    pixels, is ignored, as browsers do. The intent is perceptual, the default of ICC viewers.
    """
    profile = _profile(icc, picture)
    return picture.convert("RGB") if profile is None else _converted(picture, profile)


def on_white(picture: Image.Image) -> Image.Image:
    """The image, in a mode of :func:`eight_bits`, with what is transparent flattened onto white."""
    if "A" not in picture.getbands():
        return picture
    white = Image.new("RGB", picture.size, _WHITE)
    white.paste(picture.convert("RGB"), mask=picture.getchannel("A"))
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
    return description, _is_srgb(profile)


def eight_bits(picture: Image.Image) -> Image.Image:
    """In one of the modes L, RGB, RGBA, CMYK or LAB."""
    if has_alpha(picture):
        return picture.convert("RGBA")
    if picture.mode.startswith("I;16"):
        wide = np.asarray(picture, dtype=np.uint16)
        return Image.fromarray((wide >> 8).astype(np.uint8))
    if picture.mode in {"I", "F"}:
        values = np.asarray(picture, dtype=np.float64)
        # Pillow reads 16-bit greys of some files into 32 bits without scaling them.
        scale = 257.0 if values.max(initial=0.0) > 255.0 else 1.0
        return Image.fromarray(np.clip(values / scale, 0, 255).astype(np.uint8))
    if picture.mode in {"L", "RGB", "CMYK", "LAB"}:
        return picture
    return picture.convert("L" if picture.mode == "1" else "RGB")


def _profile(icc: bytes | None, picture: Image.Image) -> ImageCms.ImageCmsProfile | None:
    if not icc:
        return None
    try:
        profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
    except (ImageCms.PyCMSError, OSError, ValueError):
        return None
    space = _PROFILE_SPACES.get(profile.profile.xcolor_space)
    return profile if space == picture.mode else None


def _converted(picture: Image.Image, profile: ImageCms.ImageCmsProfile) -> Image.Image:
    try:
        turned = ImageCms.profileToProfile(
            picture, profile, ImageCms.createProfile("sRGB"), outputMode="RGB"
        )
    except (ImageCms.PyCMSError, ValueError):
        return picture.convert("RGB")
    return turned if turned is not None else picture.convert("RGB")


def _is_srgb(profile: ImageCms.ImageCmsProfile) -> bool:
    if profile.profile.xcolor_space != "RGB ":
        return False
    steps = np.linspace(0, 255, 6).astype(np.uint8)
    lattice = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(6, 36, 3)
    turned = np.asarray(_converted(Image.fromarray(lattice), profile), dtype=np.int16)
    return int(np.abs(turned - lattice).max()) <= _SRGB_TOLERANCE

"""Light, sharpness, noise and colour, measured on the face."""

from __future__ import annotations

import math

import cv2
import numpy as np

from palprep.media.images import LINEAR
from palprep.values import Rect
from palprep.vision.arrays import Floats, Mask, Pixels, shrunk
from palprep.vision.facts import Quality
from palprep.vision.landmarks import FACE_OVAL, Landmarks

_TO_RELATIVE_XYZ = np.array(
    [
        (0.4339499, 0.3762098, 0.1898402),
        (0.2126729, 0.7151522, 0.0721750),
        (0.0177566, 0.1094680, 0.8727755),
    ],
    np.float32,
)
"""Linear sRGB to XYZ, each over that of white (CIE 15, D65)."""

_KNEE = 6 / 29
"""Where the curve of CIELAB turns from a line into a cube root, after the root."""

NATURAL_HUE_DEG = (25.0, 85.0)
"""CIELAB hue of faces of every tone in neutral light."""


def pixels_to_lab(rgb: Pixels) -> Floats:
    """CIELAB of every pixel: lightness 0 to 100, then a and b; height x width x 3, float32.

    OpenCV's own conversion first builds tables of 40 MB, and 80 MB while it does.
    """
    xyz = cv2.transform(LINEAR[rgb], _TO_RELATIVE_XYZ)
    curved = np.where(xyz > _KNEE**3, np.cbrt(xyz), xyz / (3 * _KNEE**2) + np.float32(4 / 29))
    x, y, z = curved[..., 0], curved[..., 1], curved[..., 2]
    return np.stack((116 * y - 16, 500 * (x - y), 200 * (y - z)), axis=-1)


def gains_to_natural_hue(rgb: Pixels) -> tuple[float, float, float] | None:
    """Gains that bring a colour to :data:`NATURAL_HUE_DEG`: see :attr:`Quality.skin_gains`."""
    lightness, across, along = pixels_to_lab(rgb[None, None])[0, 0].tolist()
    hue_deg, chroma = math.degrees(math.atan2(along, across)), math.hypot(across, along)
    low, high = NATURAL_HUE_DEG
    if low <= hue_deg <= high:
        return 1.0, 1.0, 1.0
    nearest = min(low, high, key=lambda limit: abs((hue_deg - limit + 180) % 360 - 180))
    hue = math.radians(nearest)
    middle = (lightness + 16) / 116
    offsets = (chroma * math.cos(hue) / 500, 0.0, -chroma * math.sin(hue) / 200)
    curved = middle + np.array(offsets)
    xyz = np.where(curved > _KNEE, curved**3, 3 * _KNEE**2 * (curved - 4 / 29))
    now, then = LINEAR[rgb], np.linalg.solve(_TO_RELATIVE_XYZ, xyz)
    if min(now.min(), then.min()) <= 0:
        return None
    red, green, blue = (then / now).tolist()
    return red, green, blue


FACE_HEIGHT = 192
"""Sharpness is measured on faces shrunk to this height in pixels, so that resolution does not
count. Smaller faces are taken as they are, never enlarged."""

WHITE_FROM, WHITE_SPREAD = 185, 16
"""8-bit levels: what every channel of white reaches, and by how much they differ at the most."""

SAMPLE = 10_000
"""About so many pixels of the face are counted, which makes shares exact to half a per cent."""


def measure_quality(rgb: Pixels, box: Rect, face: Landmarks | None, scale: float) -> Quality:
    """``box`` bounds what is measured, and ``face`` outlines it where its points are known;
    ``scale`` is full-size pixels per pixel of ``rgb``.
    """
    gray = np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), np.uint8)
    place, inside = _place(rgb, box, face)
    every = max(1, int(inside.sum()) // SAMPLE)
    pixels, luma = rgb[place][inside][::every], gray[place].astype(np.float32) / 255
    low, bright, high, peak = np.percentile(luma[inside][::every], (5, 75, 95, 99))
    skin = np.median(pixels, axis=0).astype(np.uint8)
    _, across, along = pixels_to_lab(skin[None, None])[0, 0].tolist()
    some = rgb[::4, ::4]
    least, most = some.min(axis=2), some.max(axis=2)
    _, *colours = np.moveaxis(pixels_to_lab(pixels[None]), -1, 0)
    return Quality(
        face_px=box.height * scale,
        sharpness=_sharpness(gray[place], box.height),
        brightness=float(bright),
        peak=float(peak),
        saturated=float((pixels.max(axis=1) >= 254).mean()),
        clipped_highlights=float((pixels.min(axis=1) >= 250).mean()),
        clipped_shadows=float((pixels.max(axis=1) <= 5).mean()),
        contrast=float(high - low),
        noise=_noise(gray),
        skin_hue_deg=math.degrees(math.atan2(along, across)) if face else None,
        skin_chroma=math.hypot(across, along) if face else None,
        skin_gains=gains_to_natural_hue(skin) if face else None,
        white=float(((least >= WHITE_FROM) & (most - least <= WHITE_SPREAD)).mean()),
        vivid_chroma=float(np.percentile(np.hypot(*colours), 95)) if face else None,
        blocking=_blocking(gray) if scale == 1 else None,
    )


def _place(rgb: Pixels, box: Rect, face: Landmarks | None) -> tuple[tuple[slice, slice], Mask]:
    """Rows and columns of the picture, and which of their pixels belong to the face."""
    height, width = rgb.shape[:2]
    left, top = int(np.clip(box.x, 0, width - 1)), int(np.clip(box.y, 0, height - 1))
    right = int(np.clip(box.x + box.width, left + 1, width))
    bottom = int(np.clip(box.y + box.height, top + 1, height))
    place = slice(top, bottom), slice(left, right)
    inside = np.zeros((bottom - top, right - left), np.uint8)
    if face is not None:
        outline = face.at(*FACE_OVAL) - np.array([left, top])
        cv2.fillConvexPoly(inside, cv2.convexHull(outline.astype(np.int32)), 1)
    return place, inside.astype(bool) if inside.any() else np.ones_like(inside, bool)


def _sharpness(gray: Pixels, height: float) -> float:
    """Share of the variation between neighbours that a blur over nine pixels removes."""
    if min(gray.shape) < 16:
        return 0.0
    shrink = FACE_HEIGHT / height
    face = (shrunk(gray, shrink) if shrink < 1 else gray).astype(np.float32)
    kept = []
    for axis, size in enumerate(((1, 9), (9, 1))):
        steps = np.abs(np.diff(face, axis=axis))
        blurred = np.abs(np.diff(cv2.blur(face, size), axis=axis))
        kept.append(np.maximum(0, steps - blurred).sum() / max(float(steps.sum()), 1e-6))
    return float(min(kept))


def _noise(gray: Pixels) -> float:
    """Immerkaer's estimate, by the median rather than the mean so that edges do not count."""
    if min(gray.shape) < 3:
        return 0.0
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    response = cv2.filter2D(gray, cv2.CV_16S, kernel)[1:-1:4, 1:-1:4]
    return float(np.median(np.abs(response)) / 0.6745 / 6)


def _blocking(gray: Pixels) -> float:
    """Steps across the borders of blocks over others. The grid is searched for: a crop moves it."""
    if min(gray.shape) < 16:
        return 1.0
    ratios = []
    for lines in (gray, np.ascontiguousarray(gray.T)):
        steps = cv2.absdiff(lines[1:], lines[:-1]).mean(axis=1)
        sums = steps[: len(steps) // 8 * 8].reshape(-1, 8).mean(axis=0)
        border = float(sums.max())
        ratios.append(border / max((float(sums.sum()) - border) / 7, 1e-6))
    return float(np.mean(ratios))

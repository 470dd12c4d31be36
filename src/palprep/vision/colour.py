"""sRGB, linear light and CIELAB (D65), of colours and of pixels (IEC 61966-2-1, CIE 15)."""

from __future__ import annotations

import math

import cv2
import numpy as np

from palprep.vision.arrays import Floats, Pixels

Colour = tuple[float, float, float]

_TO_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
_FROM_XYZ = (
    (3.2404542, -1.5371385, -0.4985314),
    (-0.9692660, 1.8760108, 0.0415560),
    (0.0556434, -0.2040259, 1.0572252),
)
_WHITE = (0.95047, 1.0, 1.08883)
_KNEE = 6 / 29


def to_linear(rgb: tuple[int, int, int]) -> Colour:
    """8-bit sRGB to linear light, 0 to 1."""
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in rgb)
    )
    return red, green, blue


def linear_to_lab(linear: Colour) -> Colour:
    """Linear sRGB to CIELAB under D65."""
    x, y, z = (
        _squeeze(part / white) for part, white in zip(_times(_TO_XYZ, linear), _WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def pixels_to_lab(rgb: Pixels) -> Floats:
    """CIELAB of every pixel: lightness 0 to 100, then a and b; height x width x 3, float32.

    OpenCV's own conversion first builds tables of 40 MB, and 80 MB while it does.
    """
    xyz = cv2.transform(_LINEAR[rgb], _TO_RELATIVE_XYZ)
    curved = np.where(xyz > _KNEE**3, np.cbrt(xyz), xyz / (3 * _KNEE**2) + np.float32(4 / 29))
    x, y, z = curved[..., 0], curved[..., 1], curved[..., 2]
    return np.stack((116 * y - 16, 500 * (x - y), 200 * (y - z)), axis=-1)


def lab_to_linear(lab: Colour) -> Colour:
    """CIELAB under D65 to linear sRGB; colours out of gamut leave 0 to 1."""
    y = (lab[0] + 16) / 116
    parts = (y + lab[1] / 500, y, y - lab[2] / 200)
    x, y, z = (_unsqueeze(part) * white for part, white in zip(parts, _WHITE, strict=True))
    return _times(_FROM_XYZ, (x, y, z))


def hue_and_chroma(lab: Colour) -> tuple[float, float]:
    """Hue in degrees, -180 to 180, and chroma."""
    return math.degrees(math.atan2(lab[2], lab[1])), math.hypot(lab[1], lab[2])


def _times(matrix: tuple[Colour, Colour, Colour], vector: Colour) -> Colour:
    first, second, third = (
        row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2] for row in matrix
    )
    return first, second, third


def _squeeze(value: float) -> float:
    return value ** (1 / 3) if value > _KNEE**3 else value / (3 * _KNEE**2) + 4 / 29


def _unsqueeze(value: float) -> float:
    return value**3 if value > _KNEE else 3 * _KNEE**2 * (value - 4 / 29)


_LINEAR = np.array([to_linear((level, 0, 0))[0] for level in range(256)], np.float32)
_TO_RELATIVE_XYZ = (np.array(_TO_XYZ) / np.array(_WHITE)[:, None]).astype(np.float32)

"""sRGB, linear light and CIELAB of single colours, without arrays: rules may use it.

CIELAB is that of CIE 15 under D65, the white of sRGB.
"""

from __future__ import annotations

import math

Colour = tuple[float, float, float]
"""Red, green and blue, X, Y and Z, or L*, a* and b*."""

TO_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
"""Linear sRGB to XYZ under D65."""
_FROM_XYZ = (
    (3.2404542, -1.5371385, -0.4985314),
    (-0.9692660, 1.8760108, 0.0415560),
    (0.0556434, -0.2040259, 1.0572252),
)
WHITE = (0.95047, 1.0, 1.08883)
"""XYZ of D65."""
KNEE = 6 / 29
"""Where the curve of CIELAB turns from a line into a cube root, after the root."""


def to_linear(rgb: tuple[int, int, int]) -> Colour:
    """8-bit sRGB (IEC 61966-2-1) to linear light, 0 to 1."""
    red, green, blue = (_decoded(channel / 255) for channel in rgb)
    return red, green, blue


def linear_to_lab(linear: Colour) -> Colour:
    """Linear sRGB to CIELAB: lightness 0 to 100, then a and b."""
    x, y, z = (
        _squeeze(part / white) for part, white in zip(_times(TO_XYZ, linear), WHITE, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def lab_to_linear(lab: Colour) -> Colour:
    """CIELAB to linear sRGB; colours out of gamut leave 0 to 1."""
    y = (lab[0] + 16) / 116
    parts = (y + lab[1] / 500, y, y - lab[2] / 200)
    x, y, z = (_unsqueeze(part) * white for part, white in zip(parts, WHITE, strict=True))
    return _times(_FROM_XYZ, (x, y, z))


def hue_and_chroma(lab: Colour) -> tuple[float, float]:
    """Hue in degrees, -180 to 180, and chroma."""
    return math.degrees(math.atan2(lab[2], lab[1])), math.hypot(lab[1], lab[2])


def gains_to_hue(rgb: tuple[int, int, int], hue_deg: float, chroma: float) -> Colour | None:
    """What turns 8-bit sRGB to this hue and chroma at its own lightness: a factor for each channel
    of linear light. None where a channel is empty, before or after.
    """
    now, hue = to_linear(rgb), math.radians(hue_deg)
    lightness = linear_to_lab(now)[0]
    then = lab_to_linear((lightness, chroma * math.cos(hue), chroma * math.sin(hue)))
    if min(*now, *then) <= 0:
        return None
    red, green, blue = (after / before for after, before in zip(then, now, strict=True))
    return red, green, blue


def _times(matrix: tuple[Colour, Colour, Colour], vector: Colour) -> Colour:
    first, second, third = (
        row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2] for row in matrix
    )
    return first, second, third


def _decoded(level: float) -> float:
    return level / 12.92 if level <= 0.04045 else float(((level + 0.055) / 1.055) ** 2.4)


def _squeeze(value: float) -> float:
    return value ** (1 / 3) if value > KNEE**3 else value / (3 * KNEE**2) + 4 / 29


def _unsqueeze(value: float) -> float:
    return value**3 if value > KNEE else 3 * KNEE**2 * (value - 4 / 29)

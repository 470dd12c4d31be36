"""A single colour brought to another hue of CIELAB, without arrays: rules may use it.

CIELAB is that of CIE 15 under D65, the white of sRGB.
"""

from __future__ import annotations

import math

Colour = tuple[float, float, float]
"""Red, green and blue, or X, Y and Z."""

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


def gains_to_hue(rgb: tuple[int, int, int], hue_deg: float, chroma: float) -> Colour | None:
    """What turns 8-bit sRGB to this hue and chroma at its own lightness: a factor for each channel
    of linear light. None where a channel is empty, before or after.
    """
    red, green, blue = (_decoded(channel / 255) for channel in rgb)
    lightness = _squeeze(_dot(TO_XYZ[1], (red, green, blue)))
    hue = math.radians(hue_deg)
    squeezed = (
        *(lightness + chroma * math.cos(hue) / 500, lightness),
        lightness - chroma * math.sin(hue) / 200,
    )
    x, y, z = (_unsqueeze(part) * white for part, white in zip(squeezed, WHITE, strict=True))
    then = [_dot(row, (x, y, z)) for row in _FROM_XYZ]
    if min(red, green, blue, *then) <= 0:
        return None
    return then[0] / red, then[1] / green, then[2] / blue


def _dot(row: Colour, colour: Colour) -> float:
    return row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2]


def _decoded(level: float) -> float:
    """sRGB (IEC 61966-2-1) to linear light, both 0 to 1."""
    return level / 12.92 if level <= 0.04045 else float(((level + 0.055) / 1.055) ** 2.4)


def _squeeze(value: float) -> float:
    return value ** (1 / 3) if value > KNEE**3 else value / (3 * KNEE**2) + 4 / 29


def _unsqueeze(value: float) -> float:
    return value**3 if value > KNEE else 3 * KNEE**2 * (value - 4 / 29)

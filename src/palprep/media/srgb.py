"""The curve of sRGB (IEC 61966-2-1) for single values, without arrays: rules may use it."""

from __future__ import annotations


def decoded(level: float) -> float:
    """Linear light, 0 to 1, of an sRGB level, 0 to 1."""
    return level / 12.92 if level <= 0.04045 else float(((level + 0.055) / 1.055) ** 2.4)


def encoded(light: float) -> float:
    """The sRGB level, 0 to 1, of linear light, 0 to 1."""
    return 12.92 * light if light <= 0.0031308 else float(1.055 * light ** (1 / 2.4) - 0.055)

"""Measures in words, the same on every surface."""

from __future__ import annotations

from collections.abc import Sequence

Measure = bool | int | float | str | tuple[str, ...] | None
"""What a rule can have measured; JSON-able."""


def measure_words(measured: Measure) -> str:
    """A measure as people read it: ``yes``, ``1,080``, ``23.98``, ``gps, icc``."""
    match measured:
        case None:
            return "not measured"
        case bool():
            return "yes" if measured else "no"
        case float():
            return f"{measured:,.4g}" if abs(measured) < 1e4 else f"{measured:,.0f}"
        case int():
            return f"{measured:,}"
        case tuple():
            return ", ".join(measured) or "none"
        case str():
            return measured


def counted(number: int, one: str, many: str) -> str:
    """How many there are: ``no cuts``, ``1 cut``, ``3 cuts``."""
    if number == 1:
        return f"1 {one}"
    return f"{number:,} {many}" if number else f"no {many}"


def degrees(angle: float) -> str:
    """The size of an angle: ``1 degree``, ``12 degrees``."""
    whole = round(abs(angle))
    return "1 degree" if whole == 1 else f"{whole} degrees"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of equally many cells as lines in columns, without trailing spaces."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]

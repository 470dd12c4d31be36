"""How much: 800000, 500MB or 2GiB on a command line."""

from __future__ import annotations

import re

import typer

_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}


def size_bytes(text: str) -> int:
    """The size in bytes, above 0. Raises BadParameter for anything else."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?i?)b?", text.strip().lower())
    size = int(float(found[1]) * _UNITS.get(found[2], 0)) if found else 0
    if size == 0:
        raise typer.BadParameter(f"{text!r} is no size: write 500MB or 2GiB")
    return size

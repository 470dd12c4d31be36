"""How long: 90, 90s, 15m, 4h or 2d on a command line."""

from __future__ import annotations

import re

import typer

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def seconds(text: str) -> float:
    """The duration in seconds. Raises BadParameter for anything else."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip().lower())
    if found is None:
        raise typer.BadParameter(f"{text!r} is no duration: write 90s, 15m, 4h or 2d")
    return float(found[1]) * _SECONDS[found[2]]

"""The numbered clauses of the specification."""

from __future__ import annotations

import tomllib
from pathlib import Path

FILE = Path(__file__).parents[1] / "spec" / "clauses.toml"


def clauses() -> dict[str, str]:
    """Number to text, in the order of the specification; ``voice.1`` is such a number."""
    sections = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        f"{section}.{number}": text
        for section, texts in sections.items()
        for number, text in texts.items()
    }

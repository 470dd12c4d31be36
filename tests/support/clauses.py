"""The numbered clauses of the specification."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parents[1] / "spec" / "clauses.toml"


@dataclass(frozen=True)
class Clause:
    """``choice`` is the decision by which it holds, ``unseen`` why no request can show it."""

    text: str
    choice: str | None = None
    unseen: str | None = None


def clauses() -> dict[str, Clause]:
    """Number to clause, in the order of the specification; ``voice.1`` is such a number."""
    sections = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        f"{section}.{number}": Clause(found) if isinstance(found, str) else Clause(**found)
        for section, numbered in sections.items()
        for number, found in numbered.items()
    }


def shown_clauses() -> dict[str, Clause]:
    """Those that a test must show."""
    return {number: clause for number, clause in clauses().items() if clause.unseen is None}

"""What the benchmarks measured, and what they want at most: the table of docs/performance.md.

Bounds are read from the benchmarks' sources, measurements from what their ``--save`` has kept.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
RESULTS = BENCHMARKS / "results"


class Bound(NamedTuple):
    """One figure of a benchmark, and what it should be at most."""

    benchmark: str
    figure: str
    at_most: float


class Row(NamedTuple):
    """One line of the table. ``measured`` is empty where nothing was kept."""

    benchmark: str
    figure: str
    at_most: float
    measured: str = ""
    detail: str = ""
    over: bool = False
    """Whether it was measured above its bound."""


def rows() -> Iterator[Row]:
    """Every figure: first what was kept of a benchmark, then what its source names besides."""
    named = list(bounds())
    for path in sorted(BENCHMARKS.glob("*.py")):
        kept = RESULTS / f"{path.stem}.json"
        figures = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        for name, each in figures.items():
            detail = f"{each['detail']}; " if each["detail"] else ""
            told = f"{detail}{each['on']}, {each['machine']}, load {each['load']:g}"
            measured, at_most = each["measured"], each["at_most"]
            yield Row(path.name, name, at_most, _short(measured), told, over=measured > at_most)
        for bound in named:
            if bound.benchmark == path.name and bound.figure not in figures:
                yield Row(*bound)


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.3g}"


def bounds() -> Iterator[Bound]:
    """Every figure that a benchmark names in its source, file by file."""
    for path in sorted(BENCHMARKS.glob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                yield from _of(function, path.name)


def _of(function: ast.FunctionDef, benchmark: str) -> Iterator[Bound]:
    names = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(attr="against"), args=[_, figure, at_most]):
                pass
            case ast.Call(func=ast.Name(id="Figure"), args=[figure, _, at_most, *_]):
                pass
            case _:
                continue
        if isinstance(figure, ast.Name):
            figure = names.get(figure.id, figure)
        if isinstance(figure, ast.Constant) and isinstance(figure.value, str):
            code = compile(ast.Expression(at_most), benchmark, "eval")
            # An arithmetic expression of the project's own source.
            yield Bound(benchmark, figure.value, float(eval(code, {})))  # noqa: S307


def table() -> str:
    """All of it in Markdown: how many figures are above their bound, the table of what was
    measured, in which those are told, and the figures that were not measured.
    """
    found = list(rows())
    lines = "\n".join(
        f"| `{each.benchmark}` | {each.figure} | "
        f"{f'**{each.measured}, over**' if each.over else each.measured} "
        f"| {_short(each.at_most)} | {each.detail} |"
        for each in found
        if each.measured
    )
    measured, over = sum(bool(each.measured) for each in found), sum(each.over for each in found)
    said = f"Of {measured} figures, **{over}** are over their bound: they say so.\n\n"
    head = "| Benchmark | Figure | Measured | At most | How |\n|---|---|---|---|---|\n"
    blank = [f"{each.figure} (`{each.benchmark}`)" for each in found if not each.measured]
    unmeasured = f"\nNot measured yet: {'; '.join(blank)}.\n" if blank else ""
    return f"{said}{head}{lines}\n{unmeasured}"

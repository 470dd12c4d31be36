"""What the benchmarks want at most, read from their sources: the table of docs/performance.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


class Bound(NamedTuple):
    """One figure of a benchmark, and what it should be at most."""

    benchmark: str
    figure: str
    at_most: float


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
    """The bounds as a table in Markdown."""
    rows = "\n".join(
        f"| `{each.benchmark}` | {each.figure} | {each.at_most:g} |" for each in bounds()
    )
    return f"| Benchmark | Figure | At most |\n|---|---|---|\n{rows}\n"

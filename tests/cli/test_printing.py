"""Everything that a command prints goes through what makes strangers' text harmless."""

from __future__ import annotations

import ast
from pathlib import Path

DOORS = {"printing.py", "verbosity.py"}
"""The modules that write: all others call them."""

OWN_WORDS = {"app.py", "api.py", "sandbox.py"}
"""Print the version, a fixed warning, addresses and keys of palprep's own."""


def _writes(path: Path) -> list[str]:
    """How a module writes to a stream itself."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [ast.unparse(each.func) for each in ast.walk(tree) if isinstance(each, ast.Call)]
    named = ("print", "typer.echo", "typer.secho", "Console")
    return [call for call in calls if call in named or call.startswith(("sys.std", "typer.style"))]


def test_no_command_writes_past_the_doors(checkout: Path) -> None:
    modules = sorted((checkout / "src/palprep/cli").rglob("*.py"))
    writing = {path.name: found for path in modules if (found := _writes(path))}
    assert set(writing) >= DOORS
    assert set(writing) - DOORS - OWN_WORDS == set()


def test_views_have_one_console(checkout: Path) -> None:
    sources = (checkout / "src/palprep").rglob("*.py")
    making = {path.name for path in sources if "rich.console import Console" in path.read_text()}
    assert "console.py" in making
    calls = {
        path.name
        for path in (checkout / "src/palprep").rglob("*.py")
        if any(
            isinstance(each, ast.Call) and ast.unparse(each.func) in {"Console", "rich.print"}
            for each in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    }
    assert calls == set()

"""The contracts between the layers, the types and the style hold, and files stay short.

What takes a tool of its own is marked ``static``: ``pytest -m static`` runs it, as .ci/run does.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = {
    "import contracts": ("lint-imports", "--no-cache"),
    "types": ("mypy",),
    "types as editors see them": ("pyright",),
    "style": ("ruff", "check"),
    "format": ("ruff", "format", "--check"),
}


@pytest.mark.static
@pytest.mark.parametrize("name", TOOLS)
def test_holds(name: str, checkout: Path) -> None:
    tool, *arguments = TOOLS[name]
    done = subprocess.run(
        [str(Path(sys.executable).with_name(tool)), *arguments],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


LONGEST = 400
"""Lines. Files stay around 250; one that a single reason holds together may be longer. What is
longer than this has found a second reason."""


def test_no_file_holds_more_than_one_reason_can(checkout: Path) -> None:
    long = {
        str(path.relative_to(checkout)): lines
        for folder in ("src", "tests", "research", "scripts", "benchmarks", "sample_media")
        for path in (checkout / folder).rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > LONGEST
    }
    assert not long

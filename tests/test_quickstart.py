"""The notebook is valid, was executed, and runs again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest


@pytest.fixture(scope="module")
def notebook(checkout: Path) -> nbformat.NotebookNode:
    return nbformat.read(checkout / "notebooks/quickstart.ipynb", as_version=4)


def test_it_is_valid_and_small(notebook: nbformat.NotebookNode, checkout: Path) -> None:
    nbformat.validate(notebook)
    assert (checkout / "notebooks/quickstart.ipynb").stat().st_size < 160_000


def test_it_was_executed_from_top_to_bottom(notebook: nbformat.NotebookNode) -> None:
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert kinds == {"execute_result", "stream"}
    assert any("text/html" in output.get("data", {}) for cell in cells for output in cell.outputs)


def test_it_runs_again(notebook: nbformat.NotebookNode, checkout: Path, tmp_path: Path) -> None:
    code = "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    script = tmp_path / "quickstart.ipy"
    script.write_text(f"{code}\n\nassert voice.status == 'completed', voice\n")
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--no-banner", "--quick", str(script)],
        cwd=checkout / "notebooks",
        env={"PATH": "/nowhere", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr

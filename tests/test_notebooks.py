"""The notebooks are valid, were executed in order, do not say where, and run again."""

from __future__ import annotations

import importlib.metadata
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

NAMES = (
    "01_portrait",
    "02_voice",
    "03_consent",
    "04_training_video",
    "05_folder",
    "06_profile_and_faults",
    "07_messy_folder",
)


@pytest.fixture(params=NAMES)
def path(request: pytest.FixtureRequest, checkout: Path) -> Path:
    return checkout / "notebooks" / f"{request.param}.ipynb"


def outputs(node: nbformat.NotebookNode) -> Iterator[nbformat.NotebookNode]:
    for cell in node.cells:
        yield from cell.get("outputs", ())


def test_all_of_them_are_here(checkout: Path) -> None:
    assert tuple(sorted(path.stem for path in (checkout / "notebooks").glob("*.ipynb"))) == NAMES


def test_it_is_valid_executed_and_small(path: Path) -> None:
    node = nbformat.read(path, as_version=4)
    nbformat.validate(node)
    code = [cell for cell in node.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert {output.output_type for output in outputs(node)} <= {
        "display_data", "execute_result", "stream",
    }  # fmt: skip
    assert any("text/html" in output.get("data", {}) for output in outputs(node))
    assert path.stat().st_size < 1_000_000
    text = path.read_text("utf-8")
    assert "/tmp/" not in text  # noqa: S108 - looked for, not written
    assert str(Path.home()) not in text
    assert str(path.parents[1]) not in text


@pytest.mark.documented
def test_it_runs_again_and_shows_as_much(
    path: Path,
    checkout: Path,
    light_people: Path,
    measuring_once: dict[str, str],
    tmp_path: Path,
) -> None:
    importlib.metadata.version("ipykernel")  # The kernel that it runs in.
    script = checkout / "scripts" / "execute_notebooks.py"
    done = subprocess.run(
        [
            *(sys.executable, str(script), path.stem, "--into", str(tmp_path / "not" / "made")),
            *("--people", str(light_people)),
        ],
        env={**os.environ, **measuring_once},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    fresh = nbformat.read(tmp_path / "not" / "made" / path.name, as_version=4)
    kept = nbformat.read(path, as_version=4)
    assert [kinds(cell) for cell in fresh.cells] == [kinds(cell) for cell in kept.cells]


@pytest.mark.documented
@pytest.mark.parametrize("name", ["06_profile_and_faults", "07_messy_folder"])
def test_each_of_its_cells_may_run_twice(
    checkout: Path, light_people: Path, measured_once: None, tmp_path: Path, name: str
) -> None:
    """Whoever runs a cell again, or goes back to one, met an error from the second time on."""
    node = nbformat.read(checkout / f"notebooks/{name}.ipynb", as_version=4)
    node.cells = [each for each in node.cells if each.cell_type == "code" for _ in range(2)]
    for each, cell in enumerate(node.cells):
        node.cells[each] = nbformat.from_dict({**cell, "id": f"cell-{each}"})
    nbformat.write(node, tmp_path / "twice.ipynb")
    executed = runpy.run_path(str(checkout / "scripts/execute_notebooks.py"))["execute"](
        tmp_path / "twice.ipynb", light_people
    )
    assert {each.execution_count for each in executed.cells} == set(range(1, len(node.cells) + 1))


def kinds(cell: nbformat.NotebookNode) -> list[set[str]]:
    """In which forms each output of a cell is shown."""
    return [set(output.get("data", {"stream": ""})) for output in cell.get("outputs", ())]

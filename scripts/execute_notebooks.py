"""Execute the notebooks from top to bottom in a real kernel, and write their outputs into them.

``uv run scripts/execute_notebooks.py`` does all of them where they are: run it after a change to
what a notebook shows. ``--into FOLDER`` leaves them as they are and writes executed copies there.
Names (``02_voice``) choose some.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbclient import NotebookClient

CHECKOUT = Path(__file__).resolve().parents[1]
NOTEBOOKS = CHECKOUT / "notebooks"
SAMPLES = CHECKOUT / "sample_media"
CELL_LIMIT_S = 600


def execute(notebook: Path, people: Path) -> nbformat.NotebookNode:
    """The notebook with its outputs. Raises nbclient's CellExecutionError, which shows the cell."""
    node: nbformat.NotebookNode = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    with _workplace(people) as folder:
        client = NotebookClient(
            node,
            timeout=CELL_LIMIT_S,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": str(folder)}},
        )
        # Nothing to listen in to: the kernel is on this machine.
        kernel = client.create_kernel_manager()
        kernel.transport, kernel.ip = "ipc", str(folder / ".kernel")
        client.execute()
        _forget(node, folder)
    # The version of whoever executes it last is no part of a notebook.
    node.metadata.pop("language_info", None)
    return node


def _forget(node: nbformat.NotebookNode, folder: Path) -> None:
    """Let outputs name files as seen from the notebook: where it was executed is no part of it."""
    for cell in node.cells:
        for output in cell.get("outputs", ()):
            for kind, shown in output.get("data", {}).items():
                if isinstance(shown, str):
                    output.data[kind] = shown.replace(f"{folder}/", "")


@contextmanager
def _workplace(people: Path) -> Iterator[Path]:
    """A folder beside sample media, as ``notebooks/`` is, for what a notebook writes."""
    with tempfile.TemporaryDirectory(prefix="palprep-notebook-") as place:
        media = Path(place) / "sample_media"
        media.mkdir()
        for each in SAMPLES.iterdir():
            (media / each.name).symlink_to(people if each.name == "people" else each)
        folder = Path(place) / "notebooks"
        folder.mkdir()
        yield folder


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="notebooks without .ipynb; all by default")
    parser.add_argument("--into", type=Path, help="write executed copies into this folder")
    parser.add_argument("--people", type=Path, default=SAMPLES / "people", help="other samples")
    asked = parser.parse_args(arguments)
    there = {path.stem: path for path in sorted(NOTEBOOKS.glob("*.ipynb"))}
    unknown = [name for name in asked.names if name not in there]
    if unknown:
        parser.error(f"there is no {unknown[0]}; there are {', '.join(there)}")
    into = asked.into or NOTEBOOKS
    into.mkdir(parents=True, exist_ok=True)
    for name in asked.names or there:
        node = execute(there[name], asked.people)
        target = into / there[name].name
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".ipynb") as written:
            nbformat.write(node, written)  # type: ignore[no-untyped-call]
            written.flush()
            shutil.copyfile(written.name, target)
        print(f"{target.name}: {sum(cell.cell_type == 'code' for cell in node.cells)} cells")
    return 0


if __name__ == "__main__":
    sys.exit(main())

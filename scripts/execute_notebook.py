"""Execute notebooks/quickstart.ipynb from top to bottom and write its outputs into it.

It needs IPython alone, which the tests need anyhow. Run it after a change to what a notebook
shows: ``uv run scripts/execute_notebook.py``.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "quickstart.ipynb"
SHOWN = ("text/html", "text/plain")


class Recorder(DisplayHook):
    """Keeps what a cell's last expression looks like, instead of printing it."""

    data: dict[str, str] | None = None

    def write_output_prompt(self) -> None:
        """No prompt."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:  # noqa: ARG002 - IPython's
        """Keep the value in every format that the notebook stores."""
        self.data = {kind: format_dict[kind] for kind in SHOWN if kind in format_dict}


class Shell(InteractiveShell):
    """A shell without a terminal."""

    displayhook_class = Recorder


def outputs(shell: Any, source: str, count: int) -> list[dict[str, Any]]:
    """What one cell prints and shows, as a notebook stores it. Raises what the cell raises."""
    shell.displayhook.data = None
    with capture_output(display=False) as printed:
        result = shell.run_cell(source, store_history=True)
    result.raise_error()
    found: list[dict[str, Any]] = []
    if printed.stdout:
        text = printed.stdout.splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    if shell.displayhook.data:
        data = {
            kind: text.splitlines(keepends=True) for kind, text in shell.displayhook.data.items()
        }
        shown = {"data": data, "execution_count": count, "metadata": {}}
        found.append(shown | {"output_type": "execute_result"})
    return found


def main() -> int:
    """Execute all cells, in the notebook's own folder."""
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    os.chdir(NOTEBOOK.parent)
    shell = Shell.instance()
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(cells, start=1):
        cell["execution_count"] = count
        cell["outputs"] = outputs(shell, "".join(cell["source"]), count)
    text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)
    NOTEBOOK.write_text(f"{text}\n", "utf-8")
    print(f"{NOTEBOOK.name}: {len(cells)} cells")
    return 0


if __name__ == "__main__":
    sys.exit(main())

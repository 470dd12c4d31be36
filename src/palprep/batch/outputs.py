"""results.jsonl and report.html, each written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from palprep.errors import JournalError, OutputUnwritable
from palprep.journal.run_view import RunView, view
from palprep.journal.store import Journal
from palprep.views.page import page

RESULTS_NAME = "results.jsonl"
REPORT_NAME = "report.html"


def write_outputs(into: Path, run: RunView) -> None:
    """Write both files of a run into its folder."""
    lines = (json.dumps(person.result.to_json(), ensure_ascii=False) for person in run.people)
    replace(into / RESULTS_NAME, "".join(f"{line}\n" for line in lines))
    replace(into / REPORT_NAME, page(run, folder=into))


def write_report(directory: str | Path) -> Path:
    """Write the page again from the journal of an output folder, and return its path.

    Raises JournalError when there is no journal, or no run in it.
    """
    into = Path(directory)
    with Journal.of(into) as journal:
        run = view(journal)
    if run is None:
        raise JournalError(f"The journal in {into} holds no run yet")
    write_outputs(into, run)
    return into / REPORT_NAME


def replace(path: Path, text: str) -> None:
    """Put ``text`` at ``path`` atomically: a reader sees the old file or the new one.

    Lone surrogates, which a sender's JSON may hold, are written as escapes.

    Raises OutputUnwritable when it cannot be written; the old file is then untouched.
    """
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            errors="backslashreplace",
            dir=path.parent,
            prefix=f".{path.name}.",
            delete=False,
        ) as stream:
            temporary = stream.name
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise OutputUnwritable(
            f"{path} cannot be written: {error.strerror}; free some space or choose another folder"
        ) from None

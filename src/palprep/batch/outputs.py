"""results.jsonl and report.html, each written whole or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from palprep.errors import JournalError, OutputUnwritable
from palprep.journal.run_view import RunView, people, view
from palprep.journal.store import Journal
from palprep.views.page import page

RESULTS_NAME = "results.jsonl"
REPORT_NAME = "report.html"


def write_outputs(into: Path, run: RunView, journal: Journal) -> None:
    """Write both files of a run into its folder."""
    write_results(into, journal)
    replace(into / REPORT_NAME, (page(run, folder=into),))


def write_results(into: Path, journal: Journal) -> None:
    """Write results.jsonl, one person at a time: the reports of many do not fit in memory."""
    lines = (json.dumps(person.result.to_json(), ensure_ascii=False) for person in people(journal))
    replace(into / RESULTS_NAME, (f"{line}\n" for line in lines))


def write_report(directory: str | Path) -> Path:
    """Write the page again from the journal of an output folder, and return its path.

    Raises JournalError when there is no journal, or no run in it.
    """
    into = Path(directory)
    with Journal.of(into) as journal:
        run = view(journal)
        if run is None:
            raise JournalError(f"The journal in {into} holds no run yet")
        write_outputs(into, run, journal)
    return into / REPORT_NAME


def replace(path: Path, parts: Iterable[str]) -> None:
    """Put the text that ``parts`` make at ``path``: a reader sees the old file or the new one.

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
            stream.writelines(parts)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
        temporary = ""
    except OSError as error:
        raise OutputUnwritable(
            f"{path} cannot be written: {error.strerror}; free some space or choose another folder"
        ) from None
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)

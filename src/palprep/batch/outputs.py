"""results.jsonl and the pages, each written whole or not at all, and pages only as they change."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from palprep.errors import JournalError
from palprep.fixes.output import atomic_output
from palprep.journal.run_view import PersonView, RunView, view
from palprep.journal.store import Journal
from palprep.views.page import REPORT_NAME, pages

RESULTS_NAME = "results.jsonl"


def write_outputs(into: Path, run: RunView) -> None:
    """Write the results and the pages of a run into its folder."""
    write_results(into, run.people)
    write_pages(into, run)


def write_pages(into: Path, run: RunView) -> None:
    """Write those pages of a run that do not show it as it stands."""
    for page in pages(run, into):
        if not page.is_in(into):
            replace(into / page.place, (page.html(),), lasting=False)


def write_results(into: Path, people: Iterable[PersonView]) -> None:
    """Write results.jsonl, one person at a time."""
    lines = (json.dumps(person.result.to_json(), ensure_ascii=False) for person in people)
    replace(into / RESULTS_NAME, (f"{line}\n" for line in lines))


def write_report(directory: str | Path) -> Path:
    """Write the page again from the journal of an output folder, and return its path.

    Raises JournalError when there is no journal, or no run in it.
    """
    into = Path(directory)
    write_outputs(into, view_of(into))
    return into / REPORT_NAME


def view_of(directory: Path) -> RunView:
    """The last run of an output folder. Raises JournalError as :func:`write_report` does."""
    with Journal.of(directory) as journal:
        run = view(journal)
    if run is None:
        raise JournalError(f"The journal in {directory} holds no run yet")
    return run


def replace(path: Path, parts: Iterable[str], *, lasting: bool = True) -> None:
    """Put the text that ``parts`` make at ``path``: a reader sees the old file or the new one.

    Lone surrogates, which a sender's JSON may hold, are written as escapes. ``lasting`` as for
    :func:`palprep.fixes.output.atomic_output`.

    Raises OutputUnwritable when it cannot be written; the old file is then untouched.
    """
    with (
        atomic_output(path, lasting=lasting) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream,
    ):
        stream.writelines(parts)

"""results.jsonl and the pages, each written whole or not at all, and pages only as they change."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

from palprep.fixes.output import atomic_output
from palprep.journal.file import is_running
from palprep.journal.run_view import PersonView, ReadableRun, RunReader
from palprep.journal.store import JOURNAL_NAME, Journal
from palprep.views.page import REPORT_NAME, Page, pages

RESULTS_NAME = "results.jsonl"


def write_outputs(into: Path, run: ReadableRun, *, again: bool = False) -> None:
    """Write the results and the pages of a run into its folder, where they do not show it as it
    stands; the results in any case where ``again`` says so.
    """
    made = pages(run, into)
    told = (into / RESULTS_NAME).is_file() and made[-1].tells_the_same_of_everybody(into)
    # The first page is written last: what it shows, the results have, and so have the others.
    if not again and told and made[-1].is_in(into) and _are_there(into, made):
        return
    if again or not told:
        write_results(into, (run.person(each.slug) for each in run.people))
    _write(into, made)


def _are_there(into: Path, made: Iterable[Page]) -> bool:
    """Whether each page has its file. Where they are many, to open them takes longest."""
    names: dict[Path, set[str]] = {}
    for page in made:
        folder = page.place.parent
        if folder not in names:
            names[folder] = _names_in(into / folder)
        if page.place.name not in names[folder]:
            return False
    return True


def _names_in(folder: Path) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries}
    except OSError:
        return set()


def write_pages(into: Path, run: ReadableRun) -> None:
    """Write those pages of a run that do not show it as it stands."""
    _write(into, pages(run, into))


def _write(into: Path, made: Iterable[Page]) -> None:
    for page in made:
        if not page.is_in(into):
            replace(into / page.place, (page.html(),), lasting=False)


def write_results(into: Path, people: Iterable[PersonView]) -> None:
    """Write results.jsonl, one person at a time."""
    lines = (json.dumps(person.result.to_json(), ensure_ascii=False) for person in people)
    replace(into / RESULTS_NAME, (f"{line}\n" for line in lines))


def written_results(into: Path, people: Container[str]) -> Iterator[dict[str, Any]]:
    """The lines of results.jsonl about these people."""
    with (into / RESULTS_NAME).open(encoding="utf-8") as file:
        for line in file:
            found: dict[str, Any] = json.loads(line)
            if found["person"] in people:
                yield found


def write_report(directory: str | Path) -> Path:
    """Write the page again from the journal of an output folder, and return its path.

    Raises JournalError when there is no journal, or no run in it.
    """
    into = Path(directory)
    with Journal.of(into) as journal:
        write_outputs(into, run_in(into, journal), again=True)
    return into / REPORT_NAME


def run_in(directory: Path, journal: Journal) -> RunReader:
    """The last run in the journal of an output folder, at which another process may be at work.

    Raises JournalError when there is none in it.
    """
    return RunReader(journal, running=is_running(directory / JOURNAL_NAME))


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

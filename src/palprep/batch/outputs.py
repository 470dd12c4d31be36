"""results.jsonl and the pages, each written whole or not at all, and pages only as they change."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Collection, Container, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self

from palprep.fixes.output import atomic_output
from palprep.journal.file import is_running
from palprep.journal.run_view import ReadableRun, RunReader
from palprep.journal.store import JOURNAL_NAME, Journal
from palprep.views.page import REPORT_NAME, Page, pages

RESULTS_NAME = "results.jsonl"
_BEGINNING = re.compile(rb'\{"person": ("(?:[^"\\]|\\.)*")')
"""Of a line of the results: it says whose line it is."""


def write_outputs(into: Path, run: ReadableRun, *, again: bool = False) -> None:
    """Write the results and the pages of a run into its folder, where they do not show it as it
    stands; the results in any case, and all of them, where ``again`` says so.
    """
    made = pages(run, into)
    told = (into / RESULTS_NAME).is_file() and made[-1].tells_the_same_of_everybody(into)
    if not again and told and made[-1].is_in(into) and _are_there(into, made):
        return
    stale = [page for page in made if not page.is_in(into)]
    # The results are written before the pages, and the first page last: what a page shows, the
    # results have, and what the first page shows, so have the others.
    if again or not told:
        changed = {page.person for page in stale}
        own = {page.person for page in made}
        write_results(into, run, kept=set() if again else own - changed)
    for page in stale:
        replace(into / page.place, (page.html(),), lasting=False)


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


def write_results(
    into: Path, run: ReadableRun, *, kept: Collection[str | None] = frozenset()
) -> None:
    """Write results.jsonl, one person at a time. The lines of those who are ``kept`` stay as they
    are, where the file has them: to make a line takes the person's reports.
    """
    with _Lines.of(into / RESULTS_NAME, kept) as lines:
        made = (lines.of_person(each.slug) or _line(run, each.slug) for each in run.people)
        replace(into / RESULTS_NAME, made)


def _line(run: ReadableRun, slug: str) -> str:
    return json.dumps(run.person(slug).result.to_json(), ensure_ascii=False) + "\n"


class _Lines:
    """The lines about some people in a file of results."""

    def __init__(self, file: BinaryIO, people: Collection[str | None]) -> None:
        self._file = file
        self._at: dict[str, tuple[int, int]] = {}
        at = 0
        for line in file:
            found = _BEGINNING.match(line)
            if found is not None and line.endswith(b"}\n"):
                slug = json.loads(found[1])
                if slug in people:
                    self._at[slug] = (at, len(line))
            at += len(line)

    @classmethod
    @contextlib.contextmanager
    def of(cls, path: Path, people: Collection[str | None]) -> Iterator[Self]:
        """None of them where there is no file. It is not read for nobody."""
        file: BinaryIO = io.BytesIO()
        if people:
            with contextlib.suppress(OSError):
                file = path.open("rb")
        with file:
            yield cls(file, people)

    def of_person(self, slug: str) -> str | None:
        """The line, None where there is none."""
        if slug not in self._at:
            return None
        at, length = self._at[slug]
        self._file.seek(at)
        return self._file.read(length).decode("utf-8", "backslashreplace")


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

"""What a run writes into its output folder, and what can be read there later."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import re
import shutil
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from palprep.errors import UsageError
from palprep.escaping import escaped_json, table_rows
from palprep.journal import JOURNAL_NAME, Journal
from palprep.journal.runs import PersonStanding, PersonView, ReadableRun, RunReader
from palprep.storage import is_file, is_there, private_file, private_folder, unwritable, write_text
from palprep.values import typed
from palprep.views import PEOPLE_FOLDER, REPORT_NAME, Message, is_page, messages, pages
from palprep.views.drawings import PICTURES_NAME, PictureFolder
from palprep.vocabulary import by_name

RESULTS_NAME = "results.jsonl"
TABLE_NAME = "results.csv"

_BEGINNING = re.compile(rb'\{"person": ("(?:[^"\\]|\\.)*")')
"""How a line of the results begins: with the person whose line it is."""


def write_outputs(into: Path, run: ReadableRun, *, again: bool = False) -> None:
    """Write the results and the pages of a run into its folder, where they are out of date. With
    ``again`` every line of the results is written anew, and pages of people who are not in the run
    any more are removed."""
    wanted = pages(run, into)
    there = all((into / name).is_file() for name in (RESULTS_NAME, TABLE_NAME))
    current = there and wanted[-1].is_in(into)
    if not again and current and all(is_file(f"{into}/{each.place}") for each in wanted):
        return
    stale = [page for page in wanted if not page.is_in(into)]
    # The results are written before the pages, and the first page last: so the results have what a
    # page shows, and the other pages have what the first page shows.
    changed = {page.person for page in stale}
    same = () if again else (page.person for page in wanted if page.person not in changed)
    write_results(into, run, kept=frozenset(same))
    for page in stale:
        write_text(into / page.place, page.html(), lasting=False)
    # Lists of people lie in the folder itself, pages of one person in folders below.
    patterns = ("*.html", "*/*.html") if again else ("*.html",)
    places = {page.place for page in wanted}
    found = (path for each in patterns for path in (into / PEOPLE_FOLDER).glob(each))
    for path in [each for each in found if each.relative_to(into).as_posix() not in places]:
        if is_page(path):
            path.unlink()


def write_results(
    into: Path, run: ReadableRun, *, kept: Collection[str | None] = frozenset()
) -> None:
    """Write results.jsonl, one person at a time, and results.csv. The lines of the people in
    ``kept`` are copied from the old file, if it has them: a new line takes a person's reports."""
    path = into / RESULTS_NAME
    file: BinaryIO = io.BytesIO()
    if kept:
        with contextlib.suppress(OSError):
            file = path.open("rb")

    def lines() -> Iterator[str]:
        with file:  # Closed before another takes its place: Windows replaces none that is open.
            there = _lines(file, kept)
            for slug in (each.slug for each in run.rows()):
                if slug in there:
                    at, length = there[slug]
                    file.seek(at)
                    yield file.read(length).decode("utf-8", "backslashreplace")
                else:
                    result = run.person(slug).result.to_json()
                    yield escaped_json(json.dumps(result, ensure_ascii=False)) + "\n"

    write_text(path, lines())
    columns = [*PersonStanding.model_fields, "blocked_by"]
    rows = ({**dict(each.standing), "blocked_by": each.blocked_by} for each in run.rows())
    write_text(into / TABLE_NAME, table_rows(columns, rows))


def _lines(file: BinaryIO, people: Collection[str | None]) -> dict[str, tuple[int, int]]:
    """Where the complete lines about these people begin in a file of results, and their lengths."""
    found: dict[str, tuple[int, int]] = {}
    at = 0
    for line in file:
        beginning = _BEGINNING.match(line)
        if beginning is not None and line.endswith(b"}\n"):
            slug = json.loads(beginning[1])
            if slug in people:
                found[slug] = (at, len(line))
        at += len(line)
    return found


def written_results(into: Path, people: Container[str]) -> Iterator[dict[str, Any]]:
    """The lines of results.jsonl about these people."""
    with (into / RESULTS_NAME).open(encoding="utf-8") as file:
        for line in file:
            found: dict[str, Any] = json.loads(line)
            if found["person"] in people:
                yield found


def write_report(directory: str | Path) -> Path:
    """Write the page again from the journal of an output folder, and return its path. Raises
    JournalError where the folder holds no run."""
    into = Path(directory)
    with Journal.of(into) as journal:
        write_outputs(into, RunReader(journal), again=True)
    return into / REPORT_NAME


@typed("directory", "into")
def write_messages(directory: str | Path, into: str | Path, language: str = "en") -> list[Message]:
    """Write a message to each person who must redo something, and return them. Nothing is sent.

    ``directory`` is the output folder of a run. ``into`` receives ``PERSON.txt`` and
    ``PERSON.html`` for each person, and messages.csv for a mail merge. A name that is too long for
    a file is replaced by a digest. A message is in the language that the person's settings name, or
    else in ``language``.

    Raises JournalError without a run, UsageError for a ``language`` without messages, and for a
    folder within the run's, where `palprep forget` would not find them.
    """
    source, place = Path(directory), Path(into)
    if place.resolve().is_relative_to(source.resolve()):
        raise UsageError(
            f"{place} lies in {source}, and `palprep forget` would not find messages there: "
            "write them into another folder"
        )
    with Journal.of(source) as journal:
        written = list(messages(RunReader(journal), source, language))
    for each in written:
        write_text(place / f"{each.stem}.txt", each.text)
        write_text(place / f"{each.stem}.html", each.html)
    columns = [name for name in Message.model_fields if name != "english"]
    rows = ({**dict(each), "html": f"{each.stem}.html"} for each in written)
    write_text(place / "messages.csv", table_rows(columns, rows))
    return written


@typed("directories", "into")
def write_merged_report(directories: Sequence[str | Path], into: str | Path) -> Path:
    """Write the results and the page of several runs into a folder of their own; the page's path.
    Files that lie within ``into``, as the folders of its shards do, can be opened from the page.

    Raises UsageError for no folder, for runs that are not parts of one run, and where ``into`` is
    the folder of a run; JournalError where a folder holds no run.
    """
    place, parts = Path(into), list(dict.fromkeys(Path(each).resolve() for each in directories))
    if not parts:
        raise UsageError("There is nothing to merge: give at least one output folder of a run")
    if is_there(place / JOURNAL_NAME):
        raise UsageError(
            f"{place} holds a run, whose results would be lost: give another --into folder"
        )
    with contextlib.ExitStack() as stack:
        whole = Merged({each: RunReader(stack.enter_context(Journal.of(each))) for each in parts})
        own, of_parts = PictureFolder(place / PICTURES_NAME), set[str]()
        for each in parts:
            drawn = PictureFolder(each / PICTURES_NAME)
            names = {*drawn.drawn()}
            _take_pictures(drawn.place, names, own.place)
            of_parts |= names
        # Pictures of an earlier merge that are gone from the parts, such as a forgotten person's.
        for gone in {*own.drawn()} - of_parts:
            (own.place / gone).unlink()
        write_outputs(place, whole, again=True)
    return place / REPORT_NAME


class Merged:
    """Runs by their folders, as one run with the people of all, in the order of their names. Raises
    UsageError where one person is in two of them, or where they differ in service, profile or dry
    run."""

    def __init__(self, runs: Mapping[Path, ReadableRun]) -> None:
        heads = {place: run.head for place, run in runs.items()}
        (first_place, first), *others = heads.items()
        self._home: dict[str, Path] = {}
        for place, head in others:
            for what in ("target", "profile", "dry_run"):
                one, other = getattr(first, what), getattr(head, what)
                if one != other:
                    raise UsageError(
                        f"{first_place} and {place} are no parts of one run: {what} is {one} and "
                        f"{other}"
                    )
        for place, run in runs.items():
            for person in run.rows():
                before = self._home.setdefault(person.slug, place)
                if before != place:
                    raise UsageError(
                        f"{person.slug} is in {before} and in {place}: merge parts that share "
                        "nobody, such as the shards of one run"
                    )
        self._runs = runs
        times = {
            "started_at": min(head.started_at for head in heads.values()),
            "updated_at": max(head.updated_at for head in heads.values()),
        }
        self.head = first.model_copy(update=times)

    def rows(self, slugs: Sequence[str] | None = None) -> Iterator[PersonView]:
        order = sorted(self._home, key=by_name) if slugs is None else slugs
        for place, some in itertools.groupby(order, self._home.__getitem__):
            yield from self._runs[place].rows([*some])

    def person(self, slug: str) -> PersonView:
        return self._runs[self._home[slug]].person(slug)


def _take_pictures(source: Path, names: Iterable[str], into: Path) -> None:
    """Link or copy pictures that are not there yet. Equal names mean equal content."""
    try:
        for name in names:
            target = into / name
            if target.exists():
                continue
            private_folder(target.parent)
            try:
                target.hardlink_to(source / name)
            except OSError:
                private_file(target)
                shutil.copyfile(source / name, target)
    except OSError as error:
        raise unwritable(into, error) from None

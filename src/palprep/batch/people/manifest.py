"""A manifest becomes people: one row for each, checked as a whole before anything starts."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from palprep.batch.fingerprint import digest_of, files_fingerprint
from palprep.batch.people.files import File, RemoteFile, is_url
from palprep.batch.people.manifest_rows import COLUMNS, Line, ManifestRow, Row, read_lines
from palprep.batch.people.person import AssignedFile, Person, Roster, RosterEntry
from palprep.batch.people.settings import Settings, unknown_words
from palprep.errors import ManifestError, RowProblem, UsageError
from palprep.rules import counted

_WORDS = {
    "missing": "is missing",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
}
"""Plainer words than pydantic has, by the types of its errors."""


def people_of_manifest(path: Path) -> Roster:
    """The people of a manifest, in its order. Paths in it lead from its own folder.

    Raises ManifestError with every mistake in it, UsageError when it cannot be read, ToolMissing
    for Parquet without pyarrow.
    """
    return _roster(read_lines(path), path.resolve().parent, str(path), "line")


def people_of_rows(rows: Iterable[ManifestRow]) -> Roster:
    """The people of rows that a script has made. Raises ManifestError with every mistake."""
    lines: list[Line] = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, ManifestRow):
            raise UsageError(
                f"People are a folder, a manifest, or ManifestRow values; number {number} is "
                f"of type {type(row).__name__}"
            )
        lines.append(
            Line(number, row.model_dump(by_alias=True, exclude_unset=True, exclude_none=True))
        )
    return _roster(lines, Path.cwd(), "The list of people", "row")


def _fingerprint(person: Person) -> str | None:
    files = [each for each in (*person.sources.values(), person.statement) if each is not None]
    here = [each for each in files if isinstance(each, Path)]
    # A change of a file on the web shows only when its server is asked.
    found = files_fingerprint(here) if len(here) == len(files) else None
    return found and digest_of([person.model_dump_json(), found])


def _roster(lines: Iterable[Line | RowProblem], base: Path, shown: str, unit: str) -> Roster:
    """Paths lead from ``base``. Messages call the whole ``shown``, and each line a ``unit``."""
    people: list[Person] = []
    problems: list[RowProblem] = []
    first: dict[str, Line] = {}
    for line in lines:
        if isinstance(line, RowProblem):
            problems.append(line)
            continue
        wrong: set[str | None] = set()
        try:
            people.append(_person(Row.model_validate(line.values, context=base), base))
        except ValidationError as error:
            found = [_problem(line.number, each) for each in error.errors()]
            problems += found
            wrong = {each.column for each in found}
        # A line without a valid name repeats no other.
        if "person" in line.values and "person" not in wrong:
            # As file systems compare that ignore case and the form of Unicode.
            same = unicodedata.normalize("NFC", str(line.values["person"])).casefold()
            before = first.setdefault(same, line)
            if before is not line:
                problems.append(_again(line, before, unit))
    if problems:
        raise _error(shown, sorted(problems, key=lambda each: each.line), unit)
    if not people:
        raise UsageError(f"{shown} holds nobody: write one line for each person")

    def entry(person: Person) -> RosterEntry:
        return RosterEntry(person.slug, _fingerprint(person), lambda _: person)

    return Roster(tuple(map(entry, people)))


def _problem(number: int, error: ErrorDetails) -> RowProblem:
    column = str(error["loc"][0]) if error["loc"] else None
    if column is not None and error["type"] == "extra_forbidden":
        return RowProblem(number, None, unknown_words(column, COLUMNS, what="column"))
    return RowProblem(number, column, _WORDS.get(error["type"], error["msg"]))


def _again(line: Line, first: Line, unit: str) -> RowProblem:
    person, before = line.values["person"], first.values["person"]
    alike = "" if person == before else f", {before}: many disks take both names for one"
    message = f"{person} is the person of {unit} {first.number}{alike}"
    return RowProblem(line.number, "person", message)


def _person(row: Row, base: Path) -> Person:
    given = row.model_fields_set & Settings.model_fields.keys()
    return Person(
        slug=row.person,
        settings=Settings.model_construct(**{name: getattr(row, name) for name in given}),
        assigned=tuple(
            AssignedFile(role=role, path=_file(place, base), why="the manifest names it")
            for role, place in row.places.items()
        ),
        statement=base / row.statement if row.statement else None,
    )


def _file(place: str, base: Path) -> File:
    if is_url(place):
        return RemoteFile(url=place)
    # Path.resolve raises RuntimeError at a link that leads to itself, before Python 3.13.
    return Path(os.path.realpath(base / place))


def _error(shown: str, problems: Sequence[RowProblem], unit: str) -> ManifestError:
    lines = [
        f"{shown} has {counted(len(problems), 'mistake', 'mistakes')}, and nothing was started:"
    ]
    for each in problems:
        where = f"{unit} {each.line}, {each.column}" if each.column else f"{unit} {each.line}"
        lines.append(f"  {where}: {' '.join(each.message.split())}")
    return ManifestError("\n".join(lines), problems=tuple(problems))

"""A manifest becomes people: one row for each, checked as a whole before anything starts."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from palprep.batch.fingerprint import Fingerprint, digest_of, files_fingerprint
from palprep.batch.people.files import File, RemoteFile, is_url
from palprep.batch.people.manifest_rows import COLUMNS, Line, ManifestRow, identity, read_lines
from palprep.batch.people.person import AssignedFile, Person, Roster, RosterEntry
from palprep.batch.people.settings import Settings, setting_words
from palprep.errors import ManifestError, RowProblem, UsageError
from palprep.values import Role

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


class _Row(NamedTuple):
    """One person's row. ``sound`` holds the columns without a mistake; ``row`` is None if any has
    one.
    """

    number: int
    sound: Mapping[str, Any]
    row: ManifestRow | None


def people_of_manifest(path: Path, at: dt.datetime) -> Roster:
    """The people of a manifest, in its order; their files as seen ``at`` this time, which is now.

    The file's suffix says what it is: ``.csv``, ``.jsonl`` or ``.ndjson``, ``.parquet``. Paths
    in it lead from its own folder.

    Raises ManifestError with every mistake in it, UsageError when it cannot be read, ToolMissing
    for Parquet without pyarrow.
    """
    problems: list[RowProblem] = []
    rows: list[_Row] = []
    for line in read_lines(path):
        if isinstance(line, RowProblem):
            problems.append(line)
        else:
            rows.append(_row(line, problems))
    people = _people(rows, path.resolve().parent, problems, str(path), "line")
    return _given(people, at)


def people_of_rows(rows: Iterable[ManifestRow], at: dt.datetime) -> Roster:
    """The people of rows that a script has made. Raises ManifestError with every mistake."""
    checked: list[_Row] = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, ManifestRow):
            raise UsageError(
                f"People are a folder, a manifest, or ManifestRow values; number {number} is "
                f"of type {type(row).__name__}"
            )
        checked.append(_Row(number, row.model_dump(by_alias=True, exclude_none=True), row))
    return _given(_people(checked, Path.cwd(), [], "The list of people", "row"), at)


def _given(people: Iterable[Person], at: dt.datetime) -> Roster:
    return Roster(
        tuple(
            RosterEntry(each.slug, _fingerprint(each, at), partial(_same, each)) for each in people
        )
    )


def _same(person: Person) -> Person:
    return person


def _fingerprint(person: Person, at: dt.datetime) -> Fingerprint | None:
    files = [each for each in (*person.sources.values(), person.statement) if each is not None]
    here = [each for each in files if isinstance(each, Path)]
    # A change of a file on the web shows only when its server is asked.
    found = files_fingerprint(here, at) if len(here) == len(files) else None
    return found and Fingerprint(digest_of([person.model_dump_json(), found.digest]), found.sure)


def _row(line: Line, problems: list[RowProblem]) -> _Row:
    try:
        return _Row(line.number, line.values, ManifestRow.model_validate(line.values))
    except ValidationError as error:
        found = error.errors()
    problems += (_problem(line.number, each) for each in found)
    wrong = {_column(each) for each in found}
    sound = {name: value for name, value in line.values.items() if name not in wrong}
    return _Row(line.number, sound, None)


def _column(error: ErrorDetails) -> str:
    return str(error["loc"][0]) if error["loc"] else ""


def _problem(number: int, error: ErrorDetails) -> RowProblem:
    column = _column(error)
    if error["type"] == "extra_forbidden":
        return RowProblem(number, None, setting_words(error, column, COLUMNS, what="column"))
    return RowProblem(number, column, _WORDS.get(error["type"], error["msg"]))


def _people(
    rows: Sequence[_Row], base: Path, problems: list[RowProblem], shown: str, unit: str
) -> tuple[Person, ...]:
    first: dict[str, _Row] = {}
    people: list[Person] = []
    for each in rows:
        problems += (
            RowProblem(each.number, column, message)
            for column, message in (
                *_again(each, first.setdefault(_identity(each), each), unit),
                *_file_problems(each, base),
            )
        )
        if each.row is not None:
            people.append(_person(each.row, base))
    if problems:
        raise _error(shown, sorted(problems, key=lambda each: each.line), unit)
    if not people:
        raise UsageError(f"{shown} holds nobody: write one line for each person")
    return tuple(people)


def _identity(row: _Row) -> str:
    # A row without a valid name repeats no other.
    person = row.sound.get("person")
    return f"line {row.number}" if person is None else f"person {identity(str(person))}"


def _again(row: _Row, first: _Row, unit: str) -> Iterator[tuple[str, str]]:
    if first is row:
        return
    person, before = row.sound["person"], first.sound["person"]
    alike = "" if person == before else f", {before}: many disks take both names for one"
    yield "person", f"{person} is the person of {unit} {first.number}{alike}"


def _file_problems(row: _Row, base: Path) -> Iterator[tuple[str | None, str]]:
    roles = [role.value for role in Role]
    if row.row is not None and not row.row.places:
        yield None, f"names no file: give at least one of {', '.join(roles)}"
    for column in (*roles, "statement"):
        place = row.sound.get(column)
        if place is None:
            continue
        if is_url(place):
            if column == "statement":
                yield column, "must be a file on this machine"
            continue
        path = base / place
        try:
            if not path.exists():
                yield column, f"{place} is not there"
            elif not path.is_file():
                yield column, f"{place} is no file"
        except (OSError, ValueError) as error:
            yield column, f"{place} cannot be read: {error}"


def _person(row: ManifestRow, base: Path) -> Person:
    settings = {name: getattr(row, name) for name in Settings.model_fields}
    return Person(
        slug=row.person,
        settings=Settings.model_construct(**settings),
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
    count = "1 mistake" if len(problems) == 1 else f"{len(problems):,} mistakes"
    said = ((each, " ".join(each.message.split())) for each in problems)
    lines = (
        f"  {unit} {each.line}, {each.column}: {message}"
        if each.column
        else f"  {unit} {each.line}: {message}"
        for each, message in said
    )
    head = f"{shown} has {count}, and nothing was started:"
    return ManifestError("\n".join((head, *lines)), problems=tuple(problems))

"""The people whom a run is given, and which of them it works on. The rows of a manifest are all
checked before anything starts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from unicodedata import normalize

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from palprep.batch.people.files import File, RemoteFile, digest_of, files_fingerprint, is_url
from palprep.batch.people.folder import Shard, find_people, people_in_bucket, shards_in
from palprep.batch.people.manifest_rows import (
    COLUMNS,
    Line,
    ManifestRow,
    Row,
    is_manifest,
    read_lines,
)
from palprep.batch.people.person import AssignedFile, Person, Roster, RosterEntry
from palprep.batch.people.settings import Settings, plain_words, unknown_words
from palprep.errors import ManifestError, RowProblem, UsageError
from palprep.journal import JOURNAL_NAME
from palprep.journal.runs import PersonStatus
from palprep.rules.texts import counted, some_of
from palprep.storage import is_bucket, is_folder, is_there
from palprep.values import typed_fields
from palprep.vocabulary import did_you_mean, same_name

People = str | os.PathLike[str] | Iterable[ManifestRow]
"""A folder with one subfolder for each person, here or in a bucket; a manifest; or the rows of
one."""


def find_everybody(people: People, into: Path) -> Roster:
    """Everybody who is given. No media is fetched; what must be read of a bucket before the work
    begins goes into the folder ``into``.

    Raises UsageError where there is nobody, ManifestError with every mistake of a manifest,
    ToolMissing for Parquet without pyarrow, and StorageError.
    """
    if not isinstance(people, str | os.PathLike):
        return people_of_rows(people)
    if isinstance(people, str) and is_bucket(people):
        return people_in_bucket(people, into)
    path = Path(people)
    if is_manifest(path) and is_there(path) and not is_folder(path):
        return _roster(read_lines(path), path.resolve().parent, str(path), "line")
    return find_people(path)


WENT_WRONG = frozenset[PersonStatus]({"failed", "redo", "needs_answer", "needs_decision"})
"""The statuses of the people whom ``failed`` selects."""


@typed_fields
@dataclass(frozen=True)
class Selection:
    """Who is worked on. Conditions add up; without any it is everybody.

    ``only`` holds names or patterns (``*``, ``?``, ``[a-z]``). One of them must match the person's
    name. ``failed`` takes those who failed, or needed files, an answer or a decision when they were
    last worked on. ``shard`` takes one of several parts. ``limit`` takes the first so many of those
    who are left.
    """

    only: Sequence[str] = ()
    limit: int | None = None
    failed: bool = False
    shard: Shard | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"A limit must be at least 1, not {self.limit}")

    @property
    def everybody(self) -> bool:
        """Whether nobody is left out, except the people of other shards."""
        return not self.only and self.limit is None and not self.failed

    def place(self, into: Path) -> Path:
        """The output folder: ``into``, or the shard's own in it.

        Raises UsageError where ``into`` holds a run of another division of the people, or is the
        folder of one of its parts: its journal would not know what this one creates.
        """
        shard, others = self.shard, shards_in(into)
        part = Shard.of_folder(into.absolute().name)
        if part is not None and is_there(into / JOURNAL_NAME):
            raise UsageError(
                f"{into} is the folder of shard {part}, and a run in it would create the people of "
                f"other shards again: give --shard {part} --into {into.absolute().parent}"
            )
        if shard is None:
            if others:
                raise UsageError(
                    f"{into} holds {others[0].folder}, and a run without --shard would create the "
                    "same again: give --shard as before, or another --into folder"
                )
            return into
        if is_there(into / JOURNAL_NAME):
            raise UsageError(
                f"{into} holds a journal without shards, of a run, of callbacks or of codes: a "
                "shard would not know it, and create the same again. Give another --into folder"
            )
        for other in others:
            if other.count != shard.count:
                raise UsageError(
                    f"{into} holds {other.folder}, a part of another division of the people. "
                    f"Divide by the same number as before, or give another --into folder"
                )
        return into / shard.folder

    def of(
        self, people: Sequence[RosterEntry], ended: Mapping[str, PersonStatus] | None
    ) -> tuple[RosterEntry, ...]:
        """The people who are selected, in their order. ``ended`` says how each person of the last
        run ended; None: there was none. Raises UsageError for a pattern that matches nobody, and
        for ``failed`` without a run."""
        if self.failed and ended is None:
            raise UsageError(
                "--failed works on those who failed in an earlier run, and there was none here: "
                "run without it, or name the --into folder of that run"
            )
        known = [each.slug for each in people]
        # Unicode has two forms of many letters, which look the same.
        names = {slug: normalize("NFC", slug) for slug in known}
        only, there = [normalize("NFC", one) for one in self.only], frozenset(names.values())

        def is_meant(slug: str, one: str) -> bool:
            return names[slug] == one if one in there else fnmatchcase(names[slug], one)

        for pattern in only:
            if not any(is_meant(slug, pattern) for slug in known):
                hint = did_you_mean(pattern, known, f"there are {some_of(known)}")
                raise UsageError(f"--only {pattern} names nobody; {hint}")
        found = [
            each
            for each in people
            if (self.shard is None or self.shard.holds(each.slug))
            and (not only or any(is_meant(each.slug, one) for one in only))
            and (ended is None or not self.failed or ended.get(each.slug) in WENT_WRONG)
        ]
        return tuple(found[: self.limit])


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
            before = first.setdefault(same_name(str(line.values["person"])), line)
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
    return RowProblem(number, column, plain_words(error))


def _again(line: Line, first: Line, unit: str) -> RowProblem:
    # Tables store employee numbers as numbers.
    person, before = str(line.values["person"]), str(first.values["person"])
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

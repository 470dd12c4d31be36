"""What people cost who come where very many are done already.

    uv run benchmarks/grown.py [--people 10000 100000] [--json] [--save]

To make a hundred thousand people takes hours, and the last of them are the ones in question. So
five hundred are made from nothing to done, and written down again under other names until they are
as many as wanted: their folders and prepared files (hard links), and what the journal has of them,
as a run would have written it. Then more come, one for twenty who are there, and are made by the
same command. What one of them costs is held against what one of the first did, in processor time.

The page is written once before anything is measured. It is what a run writes of people whose page
has not changed since that is measured here, and not what their first pages cost.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from palprep.batch import write_report
from palprep.batch.people.person import RosterEntry
from palprep.batch.people.selection import find_everybody
from palprep.batch.work.connection import Connection
from palprep.batch.work.context import RunContext, RunOptions, Stop, tell_no_one
from palprep.batch.work.memory import Unchanged
from palprep.journal import JOURNAL_NAME, Journal
from palprep.journal.entries.bodies import Entry, read_body
from palprep.journal.file import packed, plain
from palprep.journal.runs import projection
from palprep.preflight import media_workers
from palprep.rules import load_profile
from side_by_side import Benchmark, Figure, Spent, options, run
from synthetic_people import Job, short_recordings

MADE = 500
"""People who are made from nothing to done, to be written down again."""

ONE_IN = 20
"""For so many who are there one more comes: what a run costs that looks at all of them is shared by
those who come."""

GROWTH = 1.2
"""How much dearer a person may be who comes to many than one of the first."""

AGAIN_S = 3.0
"""What a run of 10,000 may take which finds nothing to do."""

SETTLED_S = 1.0
"""A file that has only just changed is not trusted to be as it was."""

_ONCE = frozenset({"asset_prepared", "creation_used", "person_ended"})
"""Entries of those who were made that a later run writes of them, too."""


class Row(NamedTuple):
    """An entry of the journal as the file has it."""

    at: str
    person: str | None
    kind: str
    key: str | None
    body: str


def grown(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """A few more people, who come to so many."""
    for count in sorted(arguments.people):
        place = folder / f"{count}"
        short_recordings(place / "people", MADE)
        with Job.at(place) as job:
            first = Spent.on(job.make_everybody).cpu / MADE
            multiply(job, count)
            write_report(job.out)
            again = Spent.on(job.ask)
            yield Figure(
                f"{count:,} people, nothing to do, s by the clock",
                again.wall,
                AGAIN_S * max(1.0, count / 10_000),
                f"{again.cpu:.1f} s of processor",
            )
            more = max(MADE, count // ONE_IN)
            newcomers(job, count, more)
            spent = Spent.on(job.make_everybody)
        mib = (job.out / JOURNAL_NAME).stat().st_size / (1 << 20)
        detail = (
            f"{more:,} came: {spent.wall:.0f} s by the clock, {spent.cpu:.0f} s of "
            f"processor; a journal of {mib:,.0f} MiB"
        )
        yield Figure(
            f"a person who comes to {count:,} / one of the first {MADE}, processor",
            spent.cpu / more / first,
            GROWTH,
            detail,
        )


def newcomers(job: Job, count: int, more: int) -> None:
    """So many people more."""
    apart = job.place / "more"
    short_recordings(apart, more)
    for number, folder in enumerate(sorted(apart.iterdir())):
        recording = folder / "recording.m4a"
        # Told apart from those who were there first by one more box that readers skip.
        with recording.open("ab") as file:
            file.write((16).to_bytes(4, "big") + b"free" + f"{count + number:08}".encode())
        folder.rename(job.place / "people" / name_of(count + number))


def multiply(job: Job, count: int) -> None:
    """Write those who were made down again, until they are ``count``."""
    for number in range(MADE, count):
        for parent in (job.place / "people", job.out / "prepared"):
            linked(parent / name_of(number % MADE), parent / name_of(number))
    time.sleep(SETTLED_S)
    given = find_everybody(job.place / "people", job.out / "sources").people
    people = {each.slug: each for each in given}
    with sqlite3.connect(job.out / JOURNAL_NAME) as journal:
        # A power cut may cost this benchmark its journal.
        journal.execute("PRAGMA synchronous = OFF")
        Copies(journal, people, unchanged_of(job)).write(count)
    journal.close()


def unchanged_of(job: Job) -> Unchanged:
    """What a run of the job's would tell people by who are as they were."""
    asked = RunOptions(connection=Connection(base_url=job.service.url))
    profiles = {asked.profile: load_profile(asked.profile)}
    with Journal.of(job.out) as journal, media_workers(1) as engine:
        return Unchanged(RunContext(asked, job.out, journal, engine, profiles, tell_no_one, Stop()))


def linked(folder: Path, other: Path) -> None:
    """The same files under another folder."""
    for root, _, files in os.walk(folder):
        here = other / Path(root).relative_to(folder)
        here.mkdir(parents=True)
        for file in files:
            os.link(Path(root, file), here / file)


def name_of(number: int) -> str:
    """The name of a person's folder."""
    return f"person-{number:06}"


class Copies:
    """Entries of people who were made, written again under other names."""

    def __init__(
        self, journal: sqlite3.Connection, people: Mapping[str, RosterEntry], unchanged: Unchanged
    ) -> None:
        self._journal = journal
        self._people = people
        self._unchanged = unchanged
        journal.create_function("plain", 1, plain)
        asked = "SELECT at, person, kind, key, plain(body) FROM entry ORDER BY seq"
        self._rows = [Row(*each) for each in journal.execute(asked)]

    def write(self, count: int) -> None:
        """One more run, of ``count`` people."""
        self._begin(count)
        entries: dict[str, list[Row]] = {}
        for row in self._rows:
            if row.person is not None:
                entries.setdefault(row.person, []).append(row)
        for number in range(count):
            source = name_of(number % MADE)
            for row in entries[source]:
                if number < MADE and row.kind in _ONCE:
                    self._add(self._ended(row, source))
                elif number >= MADE:
                    self._add(self._copied(row, source, number))

    def _begin(self, count: int) -> None:
        started = [row for row in self._rows if row.kind == "run_started"][-1]
        told = json.loads(started.body)
        listed: Sequence[Mapping[str, Any]] = told["people"]
        told["people"] = [
            {**listed[number % MADE], "slug": name_of(number), "name": name_of(number)}
            for number in range(count)
        ]
        self._add(started._replace(body=json.dumps(told)))

    def _copied(self, row: Row, source: str, number: int) -> Row:
        name = name_of(number)
        body = row.body.replace(source, name)
        if row.kind in {"created", "polled"}:
            told = json.loads(body)
            told["snapshot"]["id"] += f"{number:06x}"
            body = json.dumps(told)
        key = row.key and f"{row.key}-{number}"
        if key and row.kind == "asset_prepared":  # It begins with the file: each has their own.
            key = f"prepared-{hashlib.sha256(key.encode()).hexdigest()}-{number}"
        return self._ended(row._replace(person=name, key=key, body=body), name)

    def _ended(self, row: Row, name: str) -> Row:
        """The same; how a person ended, with the files as they are now."""
        told = json.loads(row.body)
        if row.kind != "person_ended" or told["state"] is None:
            return row
        told["state"] = self._unchanged.to_record(self._people[name])
        return row._replace(body=json.dumps(told))

    def _add(self, row: Row) -> None:
        added = self._journal.execute(
            "INSERT INTO entry (at, person, kind, key, body) VALUES (?, ?, ?, ?, ?)",
            (row.at, row.person, row.kind, row.key, packed(row.body)),
        )
        body = read_body(row.kind, row.body)
        entry = Entry(added.lastrowid or 0, row.at, row.person, row.key, body)
        projection.update(self._journal, entry)


BENCHMARKS: Mapping[str, Benchmark] = {"grown": grown}


def main() -> int:
    """Run it with the options of the command line."""
    parser = options(__doc__, BENCHMARKS)
    parser.add_argument("--people", type=int, nargs="+", default=[10_000, 100_000])
    return run(BENCHMARKS, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())

"""What a journal of many people costs: on the disk, to ask where they stand, to write results and
pages.

    python benchmarks/journal.py [--people N ...] [--json]

For each number of people a journal is written as a run writes it, with the real report of a
sample recording, a voice and a replica each. Then the whole commands ``palprep status`` and
``palprep report`` are run on it, and results.jsonl is written from it. ``growth`` is the cost of a
person at the largest number against that at the smallest.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from palprep.batch.outputs import write_results
from palprep.journal import Journal
from palprep.journal.entries.bodies import (
    AssetPrepared,
    CalledBack,
    Created,
    CreationUsed,
    Intent,
    PersonEnded,
    PersonNames,
    RunStarted,
    Snapshot,
)
from palprep.journal.runs import PersonOutcome, RunReader
from palprep.preflight import Asset, check
from palprep.values import Role
from side_by_side import Benchmark, Figure, Spent, options, run

CHECKOUT = Path(__file__).resolve().parents[1]
RECORDING = CHECKOUT / "sample_media" / "people" / "jane-carter" / "recording.m4a"

STATUS_S = 1.0
"""What ``palprep status`` of 10,000 people may take; of more, in proportion."""

MOST_MIB = 300.0
"""What a command may hold, however many people there are."""

TELLING = """\
import atexit, sys
from pathlib import Path
from palprep.cli import main

atexit.register(lambda: print(Path("/proc/self/status").read_text(), file=sys.stderr))
main()
"""
"""A command that tells its memory at the end (Linux). What the system counts of a process that has
ended has in it what the one held that started it."""

GROWTH = 1.5
"""How much dearer a person may be among many than among few."""


@dataclass(frozen=True)
class Cost:
    """Of one number of people."""

    people: int
    written: Spent
    file_kib: float
    status_s: float
    status_mib: float
    page_s: float
    page_mib: float
    results: Spent


def measure(folder: Path, size: int) -> Cost:
    """Write the journal of a run of so many people, and read it."""
    into = folder / str(size)
    into.mkdir()
    written = Spent.on(lambda: write(into, size))
    results = Spent.on(lambda: results_of(into))
    kib = sum(file.stat().st_size for file in into.glob("journal.sqlite*")) / 1024
    return Cost(
        size, written, kib, *command_on(into, "status"), *command_on(into, "report", 1), results
    )


def write(into: Path, size: int) -> None:
    """What a run writes of people whose voice and replica are done."""
    report = check(RECORDING, role=Role.VOICE_AUDIO)
    names = [f"person-{number:06}" for number in range(size)]
    started = RunStarted(
        people=tuple(PersonNames(slug=each, name=each, full_name=each) for each in names),
        target="embedded sandbox",
        profile="core-4",
        dry_run=False,
        palprep_version="0",
    )
    with Journal.of(into, lock=True, create=True) as journal:
        journal.append(started)
        for name in names:
            own = report.model_copy(update={"path": f"/in/{name}/recording.m4a"})
            for role in (Role.VOICE_AUDIO, Role.TRAINING_VIDEO):
                asset = Asset(
                    role=role, source=own.path, source_sha256=None, source_report=own, seconds=1.0
                )
                journal.append(AssetPrepared(asset=asset), person=name, key=f"{role}-{name}")
            for what in ("voice", "replica"):
                make(journal, what, name)
            outcome = PersonOutcome(status="done", complete=True)
            journal.append(PersonEnded(outcome=outcome), person=name)


def make(journal: Journal, what: str, name: str) -> None:
    """The entries of one creation, from the intent to its callback."""
    key, resource = f"{what}-{name}", f"{what[0]}-{name}"
    steps = (
        CreationUsed.model_validate({"what": what}),
        Intent.model_validate({"what": what, "request": {"name": name, "target": "embedded"}}),
        Created(snapshot=Snapshot(id=resource, status="started")),
        CalledBack(snapshot=Snapshot(id=resource, status="completed"), received={"id": resource}),
    )
    for step in steps:
        journal.append(step, person=name, key=key)


def results_of(into: Path) -> None:
    """results.jsonl, from the journal."""
    with Journal.of(into) as journal:
        write_results(into, RunReader(journal))


def command_on(into: Path, name: str, runs: int = 3) -> tuple[float, float]:
    """Seconds of processor, of the best run, and the most MiB of the whole command."""
    command = [sys.executable, "-c", TELLING, name, str(into)]
    best, most = float("inf"), 0.0
    for _ in range(runs):
        with (
            tempfile.TemporaryFile() as told,
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told) as process,
        ):
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
            told.seek(0)
            [peak_kib] = re.findall(rb"VmHWM:\s+(\d+) kB", told.read())
        best = min(best, usage.ru_utime + usage.ru_stime)
        most = max(most, int(peak_kib) / 1024)
    return best, most


def at_size(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """The figures at every number of people, and how they grow."""
    costs = [measure(folder, people) for people in sorted(arguments.people)]
    for cost in costs:
        detail = (
            f"journal {cost.file_kib / cost.people:.1f} KiB, written in "
            f"{1000 * cost.written.cpu / cost.people:.2f} ms, results in "
            f"{1000 * cost.results.cpu / cost.people:.2f} ms of processor a person"
        )
        more = max(1.0, cost.people / 10_000)
        yield Figure(f"status of {cost.people:,} in s", cost.status_s, STATUS_S * more, detail)
        yield Figure(f"status of {cost.people:,} in MiB", cost.status_mib, MOST_MIB)
        told = f"{cost.page_s:.1f} s of processor"
        yield Figure(f"page of {cost.people:,} in MiB", cost.page_mib, MOST_MIB, told)
    few, many = costs[0], costs[-1]
    for name in ("written", "results"):
        before, after = (getattr(each, name).cpu / each.people for each in (few, many))
        yield Figure(f"growth of {name}, a person", after / before, GROWTH)


BENCHMARKS: dict[str, Benchmark] = {"size": at_size}


def main() -> int:
    """Run it with the options of the command line."""
    parser = options(__doc__, BENCHMARKS)
    parser.add_argument("--people", type=int, nargs="+", default=[100, 1000, 10_000])
    return run(BENCHMARKS, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())

"""What a run of many people costs: two workers against one, a person among many, the page.

    uv run benchmarks/batch.py [--only jobs|people|dask] [--people 100 1000] [--json] [--save]

``jobs``: portraits of 12 megapixels and recordings of a minute, prepared by one worker and by two.
Of two workers on two cores each has one thread. One worker alone may take more of them, so it is
measured with one thread, too, and then as it comes. ``dask``: the same images by two
workers of a Dask cluster on this machine. ``people``: synthetic people with a short recording
each, from nothing to a trained voice, through a sandbox whose clock is virtual; then the whole page
once more, and the same run once more, which finds nothing to do. ``--people 100 10000`` takes half
an hour. ``dask`` makes people likewise, ``--people-on-dask`` so many.

Every file has bytes of its own, so that nothing is reused. Memory is the proportional set size of
each process, and what each process works is its processor time (both Linux). On a busy machine that
says what two workers gain, and the clock does not: the work of one worker is done one file after
the other, that of two at the same time, and two cores share all of it.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from palprep.batch import write_report
from side_by_side import Benchmark, Figure, Spent, family_cpu_s, options, run
from synthetic_people import Job, portraits, recordings, short_recordings

SPEED_UP = 1.7
"""How much faster two workers on two cores are than one."""

WORKER_MIB = 500.0
GROWTH = 1.2
"""How much dearer a person may be among many than among few."""

PAGE_S, PAGE_PEOPLE = 10.0, 1000
"""What the page of so many people may take, whose thumbnails are there."""

AGAIN_S = 3.0
"""What a run may take which finds nothing to do."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")
"""What says in the environment how many threads a worker's libraries start."""

LOOK_S = 0.1


def jobs(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """Media work alone: nothing is asked for."""
    for what, make, count in (
        ("images", portraits, arguments.images),
        ("recordings", recordings, arguments.recordings),
    ):
        people = make(folder / what, count)
        name = f"{count} {what}, two workers / one"
        one, two = (prepared(folder, people, number, threads=1) for number in (1, 2))
        yield two.spent.against(one.spent, f"{name}, one thread a worker", 1 / SPEED_UP)
        detail = f"{two.worked}; {one.worked}; {two.spent.cpu / count:.2f} s each"
        least = two.at_least_s / one.at_least_s
        yield Figure(f"{name}, by what each process works", least, 1 / SPEED_UP, detail)
        as_it_comes = prepared(folder, people, 1)
        yield two.spent.against(as_it_comes.spent, f"{name}, which may take both cores", 1.0)
        largest = max(each.largest_mib for each in (one, two, as_it_comes))
        yield Figure(f"a worker at {what}, MiB", largest, WORKER_MIB)


def dask(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """The same images, and people from nothing to done, on a Dask cluster of two workers."""
    from distributed import Client, LocalCluster  # noqa: PLC0415 -- of an extra

    people = portraits(folder / "images", arguments.images)
    two = prepared(folder, people, 2)
    start: Any = LocalCluster  # distributed has no types
    connect: Any = Client
    with (
        start(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        connect(cluster) as client,
    ):
        crew = Crew(
            cluster.scheduler_address.replace("tcp://", "dask://"),
            ", on Dask",
            lambda: sum(client.run(family_cpu_s).values()),
        )
        before = crew.cpu_s()
        there = prepared(folder, people, 2, engine=crew.engine)
        workers = crew.cpu_s() - before
        name = f"{arguments.images} images, two workers of Dask / two here"
        yield there.spent.against(two.spent, name, 1.5)
        cpu = there.spent.cpu + workers
        detail = f"{cpu:.0f} s, {workers:.0f} s of them the workers / {two.spent.cpu:.0f} s"
        yield Figure(f"{name}, processor", cpu / two.spent.cpu, 1.5, detail)
        yield from made(folder, arguments.people_on_dask, crew)


@dataclass(frozen=True)
class Crew:
    """Who prepares the files: ``engine``, as ``palprep run`` takes it."""

    engine: str = "local"
    named: str = ""
    """How figures say that it is they."""
    cpu_s: Callable[[], float] = float
    """Seconds of processor so far, of those that are no children of this process."""


def people(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """Everything, from nothing to done, on this machine."""
    yield from made(folder, arguments.people, Crew())


def made(folder: Path, counts: Sequence[int], crew: Crew) -> Iterator[Figure]:
    """So many people, from nothing to done."""
    few = min(counts)
    first = 0.0
    for count in sorted(counts):
        place = folder / f"people-{count}"
        short_recordings(place / "people", count)
        before = crew.cpu_s()
        with Family(os.getpid()) as family, Job.at(place, crew.engine) as job:
            spent, looking_s = Spent.on(job.make_everybody), family.looking_s
            # A run begins in a process of its own. In this one its garbage collector would walk
            # through what the service keeps of everybody.
            gc.collect()
            gc.freeze()
            again = Spent.on(job.ask)
            gc.unfreeze()
        # To ask what a process with networks holds takes the kernel 8 ms: a tenth of a person.
        cpu = spent.cpu - looking_s + crew.cpu_s() - before
        first = first or cpu / count
        detail = (
            f"in all {spent.wall:.0f} s by the clock, {cpu:.0f} s of processor, at most "
            f"{family.together_mib:.0f} MiB; {kib(place / 'out') / count:.0f} KiB of output a "
            f"person, {kib(place / 'out' / 'journal.sqlite') / count:.0f} KiB of them journal"
        )
        name = f"a person among {count:,} / one among {few:,}{crew.named}, processor"
        yield Figure(name, cpu / count / first, GROWTH, detail)
        name = f"{count:,} people again{crew.named}, nothing to do, s"
        yield Figure(name, again.wall, AGAIN_S, f"{again.cpu:.1f} s of processor")
        if count <= PAGE_PEOPLE and not crew.named:
            page = Spent.on(partial(write_report, place / "out"))
            yield Figure(f"the page of {count:,} people again, s", page.wall, PAGE_S)
        shutil.rmtree(place)


@dataclass(frozen=True)
class Measured:
    """What one command took with so many ``workers``, how much its largest worker held, and the
    processor time of the command's own process and of all workers together."""

    workers: int
    spent: Spent
    largest_mib: float
    own_s: float
    workers_s: float

    @property
    def at_least_s(self) -> float:
        """What it takes on two cores that do nothing else, where each worker has one thread."""
        return max(self.own_s, self.workers_s / self.workers, (self.own_s + self.workers_s) / 2)

    @property
    def worked(self) -> str:
        """Who worked how long."""
        who = "1 worker" if self.workers == 1 else f"{self.workers} workers"
        return f"{who} {self.workers_s:.0f} s and {self.own_s:.0f} s besides"


def prepared(
    folder: Path, given: Path, workers: int, *, engine: str = "local", threads: int | None = None
) -> Measured:
    """``palprep run --dry-run`` as a whole. Workers have so many ``threads``, or as it comes."""
    into = folder / "out"
    shutil.rmtree(into, ignore_errors=True)
    command = [sys.executable, "-m", "palprep", "run", str(given), "--into", str(into)]
    command += ["--dry-run", "--quiet", "--engine", engine]
    command += ["--jobs", str(workers)] if engine == "local" else []
    environment = {name: value for name, value in os.environ.items() if name not in THREADS}
    environment |= dict.fromkeys(THREADS, str(threads)) if threads else {}
    seen: list[Family] = []

    def go() -> None:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as process:
            with Family(process.pid) as family:
                code = process.wait()
            seen.append(family)
        if code != 0:
            raise SystemExit(f"{' '.join(command)} ended with {code}")

    spent = Spent.on(go)
    [family] = seen
    return Measured(workers, spent, family.largest_child_mib, family.own_s, family.children_s)


class Family:
    """A process and its children, looked at ten times a second: their memory, as proportional set
    sizes, and their processor time."""

    def __init__(self, pid: int) -> None:
        self.largest_child_mib = self.together_mib = self.own_s = 0.0
        self.looking_s = 0.0
        """What it takes to look, in the process that does."""
        self._children_s: dict[int, float] = {}
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def children_s(self) -> float:
        """What all children have worked, with the programs that they have run."""
        return sum(self._children_s.values())

    def _look(self) -> None:
        while not self._over.wait(LOOK_S):
            children = children_of(self._pid)
            held = [pss_mib(pid) for pid in children]
            self.largest_child_mib = max(self.largest_child_mib, *held, 0.0)
            self.together_mib = max(self.together_mib, sum(held) + pss_mib(self._pid))
            self.own_s = max(self.own_s, cpu_s(self._pid))
            for pid in children:
                worked = cpu_s(pid, with_ended=True)
                self._children_s[pid] = max(worked, self._children_s.get(pid, 0.0))
            self.looking_s = time.thread_time()


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, whichever of its threads did."""
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, thread.read_text().split())
    return found


def pss_mib(pid: int) -> float:
    """The proportional set size; 0 once the process has ended."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024
    return 0.0


def cpu_s(pid: int, *, with_ended: bool = False) -> float:
    """Seconds of processor so far, in user and kernel mode; 0 once the process has ended.

    ``with_ended``: also those of the programs that it has run, once they have ended.
    """
    with contextlib.suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks = sum(map(int, fields[11 : 15 if with_ended else 13]))
        return ticks / os.sysconf("SC_CLK_TCK")
    return 0.0


def kib(path: Path) -> float:
    """What a file or a folder takes."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(each.stat().st_size for each in files if each.is_file()) / 1024


BENCHMARKS: Mapping[str, Benchmark] = {"jobs": jobs, "people": people, "dask": dask}


def main() -> int:
    """Run it with the options of the command line."""
    parser = options(__doc__, BENCHMARKS)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--recordings", type=int, default=20)
    parser.add_argument("--people", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--people-on-dask", type=int, nargs="+", default=[100, 1000])
    return run(BENCHMARKS, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())

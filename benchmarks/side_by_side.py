"""What the benchmarks share: taking turns, figures with their bounds, and the command line.

Contenders take turns on the same machine, so that a slow or busy machine slows all of them, and
what is judged is a ratio of one run. With ``--save`` the figures go into ``results/``, from which
scripts/make_docs.py writes docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import imageio_ffmpeg
import psutil

FFMPEG: str = imageio_ffmpeg.get_ffmpeg_exe()

RESULTS = Path(__file__).parent / "results"

Action = Callable[[], object]


@dataclass(frozen=True)
class Figure:
    """What was measured, what it should be at most, and what it is made of."""

    name: str
    measured: float
    at_most: float
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether it is no more than that."""
        return self.measured <= self.at_most


Benchmark = Callable[[Path, argparse.Namespace], Iterator[Figure]]
"""Measures with the options of the command line.

All share one folder, so that what takes long to make is made once.
"""


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock, and of all processors together."""

    wall: float
    cpu: float

    @classmethod
    def on(cls, action: Action) -> Spent:
        """What one run takes."""
        cpu, start = _cpu_seconds(), time.perf_counter()
        action()
        wall = time.perf_counter() - start
        return cls(wall, _cpu_seconds() - cpu)

    def against(self, other: Spent, name: str, at_most: float) -> Figure:
        """The ratio of the times by the clock; next to it the one of processor time.

        The latter tells more where others are at work on the machine.
        """
        detail = f"{self.wall:.3g} s / {other.wall:.3g} s"
        if other.cpu:
            detail += f" (CPU {self.cpu / other.cpu:.3f})"
        return Figure(name, self.wall / other.wall, at_most, detail)


def family_cpu_s() -> float:
    """Processor seconds of this process, of those that it runs, and of those that they have run.

    Asked of a worker of a cluster: it opens files in processes of its own.
    """
    this = psutil.Process()
    return sum(sum(each.cpu_times()[:4]) for each in (this, *this.children(recursive=True)))


def turns(rounds: int, *actions: Action) -> list[list[Spent]]:
    """What every run of each action took, the actions taken in turns."""
    runs: list[list[Spent]] = [[] for _ in actions]
    for _ in range(rounds):
        for taken, action in zip(runs, actions, strict=True):
            taken.append(Spent.on(action))
    return runs


def best_of(rounds: int, *actions: Action) -> list[Spent]:
    """The least that each action took, the actions taken in turns."""
    return [
        Spent(min(run.wall for run in runs), min(run.cpu for run in runs))
        for runs in turns(rounds, *actions)
    ]


def options(doc: str | None, names: Mapping[str, Benchmark]) -> argparse.ArgumentParser:
    """``--only`` and ``--json``; benchmarks add their own."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--only", choices=sorted(names))
    parser.add_argument("--json", action="store_true", help="one object per line")
    parser.add_argument("--save", action="store_true", help="keep the figures in results/")
    return parser


def run(benchmarks: Mapping[str, Benchmark], arguments: argparse.Namespace) -> int:
    """Print one line per figure; the exit status is 1 when one does not hold."""
    # Images of containers set it. Each command would then compile whatever it imports: no user's
    # second command does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    held = True
    found: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="palprep-benchmark-") as folder:
        for name, benchmark in benchmarks.items():
            if arguments.only not in {None, name}:
                continue
            for figure in benchmark(Path(folder), arguments):
                held &= figure.holds
                found.append(figure)
                print(_line(figure, as_json=arguments.json), flush=True)
    if arguments.save:
        save(RESULTS / f"{Path(sys.argv[0]).stem}.json", found, whole=arguments.only is None)
    return 0 if held else 1


def save(path: Path, figures: Sequence[Figure], *, whole: bool) -> None:
    """Keep the figures with the day and the machine; those that were kept before, too, unless this
    is the ``whole`` benchmark."""
    kept = {} if whole or not path.exists() else json.loads(path.read_text(encoding="utf-8"))
    now = {
        "on": datetime.now(UTC).date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        # Processes that wanted a core in the last minute: more than there are cores is a busy
        # machine, whose times by the clock say little.
        "load": round(os.getloadavg()[0], 1),
    }
    kept |= {figure.name: {**asdict(figure), **now} for figure in figures}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def ffmpeg(*arguments: str) -> None:
    """Run the ffmpeg that palprep runs."""
    subprocess.run([FFMPEG, "-v", "error", "-nostdin", "-y", *arguments], check=True)


def _line(figure: Figure, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({**asdict(figure), "holds": figure.holds})
    verdict = "holds" if figure.holds else "MISSED"
    return (
        f"{figure.name:<44}{figure.measured:9.3f}   at most {figure.at_most:7.3f}   {verdict:<6}"
        f"   {figure.detail}"
    ).rstrip()


def _cpu_seconds() -> float:
    """Of this process with all its threads, and of the children that it has waited for."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)

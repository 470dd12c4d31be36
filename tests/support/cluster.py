"""A real Dask cluster on loopback whose workers share no folder with the tests."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bucket import free_ports

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"

FENCE = '''
"""Loaded at the start of a worker: what lies in the folder of the tests cannot be opened."""

import os
import sys


def refuse(event, args, fenced=os.environ["FENCED"]):
    if event in {"open", "os.listdir", "os.mkdir", "os.rename", "os.remove"}:
        if str(args[0]).startswith(fenced):
            raise PermissionError(f"{event} {args[0]}: a worker shares no folder")


sys.addaudithook(refuse)
if os.environ.get("NO_ROOM"):
    import tempfile

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    tempfile.TemporaryFile = tempfile.TemporaryDirectory = full
if os.environ.get("OTHER_VERSION"):
    import palprep._version

    palprep._version.__version__ = os.environ["OTHER_VERSION"]
'''


@dataclass
class Cluster:
    """A scheduler and its workers, each in a process and a folder of its own."""

    home: Path
    fenced: Path
    variables: Mapping[str, str]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    scheduler: subprocess.Popen[bytes] | None = None
    port: int = 0
    started: int = 0

    @property
    def address(self) -> str:
        return f"dask://127.0.0.1:{self.port}"

    def start(self, count: int) -> None:
        [self.port] = free_ports(1)
        self.scheduler = self._spawn(
            "scheduler", "scheduler", "--host", "127.0.0.1", "--port", str(self.port),
            "--no-dashboard", "--dashboard-address", "127.0.0.1:0", "--no-show",
        )  # fmt: skip
        for _ in range(count):
            self.add()

    def add(self, **variables: str) -> subprocess.Popen[bytes]:
        """Start one worker more."""
        self.started += 1
        worker = self._spawn(
            f"worker-{self.started}", "worker", f"tcp://127.0.0.1:{self.port}",
            "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard",
            "--dashboard-address", "127.0.0.1:0",
            **variables,
        )  # fmt: skip
        self.workers.append(worker)
        return worker

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a worker or the scheduler, without a word."""
        process.kill()
        process.wait()
        self.workers = [each for each in self.workers if each is not process]

    def stop(self) -> None:
        for process in (*self.workers, *([self.scheduler] if self.scheduler else [])):
            self.kill(process)

    def _spawn(self, name: str, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
        place = self.home / name
        place.mkdir()
        (place / "sitecustomize.py").write_text(FENCE)
        given = {
            "PATH": os.environ["PATH"],
            "HOME": str(place),
            "TMPDIR": str(place),
            "PYTHONPATH": os.pathsep.join((str(place), str(SOURCES), str(HERE))),
            "FENCED": str(self.fenced),
            "OMP_NUM_THREADS": "1",
            **self.variables,
            **variables,
        }
        with (place / "log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments],
                cwd=place, env=given, stdout=log, stderr=log,
            )  # fmt: skip


@contextlib.contextmanager
def real_cluster(
    home: Path, fenced: Path, *, workers: int, variables: Mapping[str, str]
) -> Iterator[Cluster]:
    """A cluster whose workers see nothing of ``fenced``. ``variables`` are for all of them."""
    cluster = Cluster(home, fenced, variables)
    try:
        cluster.start(workers)
        yield cluster
    finally:
        cluster.stop()

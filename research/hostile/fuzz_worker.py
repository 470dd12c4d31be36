"""A process that checks and fixes one file after another, and is watched while it does."""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import resource
import shutil
import time
import traceback
import warnings
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import NamedTuple

from palprep.errors import FixError, PalprepError
from palprep.preflight import check, prepare

MOST_CPU_S = 60.0
"""Processor time for one file, that of its ffmpeg included."""
MOST_MIB = 1024.0
LEAST_CASES = 20
"""Before a run of seconds may end: loading the networks takes some."""
_CASES_PER_WORKER = 500
_LOOK_S = 0.1


class Ended(NamedTuple):
    """How a case ended. ``failed`` is None for a report, or an error of palprep's own."""

    end: str
    failed: str | None
    cpu_s: float
    mib: float


class Worker:
    """The process; a new one after each that had to be ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._done = 0

    def run(self, path: Path, *, fix: bool) -> Ended:
        """Check or fix a file. Linux tells of the memory; elsewhere it counts as none."""
        process, pipe = self._started()
        cpu_before, mib = _cpu_s(process.pid), 0.0
        with contextlib.suppress(OSError):  # a dead process is told from below
            pipe.send((str(path), fix))
        while not pipe.poll(_LOOK_S):
            cpu_s, mib = _cpu_s(process.pid) - cpu_before, max(mib, _peak_mib(process.pid))
            if mib > MOST_MIB or cpu_s > MOST_CPU_S:
                self.end()
                what = "memory" if mib > MOST_MIB else "time"
                return Ended(what, f"takes too much {what}", cpu_s, mib)
        mib = max(mib, _peak_mib(process.pid))
        try:
            end, failed, cpu_s = pipe.recv()
        except (EOFError, OSError):
            process.join()
            died = f"dies with exit status {process.exitcode}"
            self.end()
            return Ended("died", died, 0.0, mib)
        self._done += 1
        if self._done >= _CASES_PER_WORKER:
            self.end()
        return Ended(end, failed, cpu_s, mib)

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None and self._pipe is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
        self._process = self._pipe = None
        self._done = 0

    def _started(self) -> tuple[SpawnProcess, Connection]:
        if self._process is None or self._pipe is None:
            self._pipe, other = multiprocessing.get_context("spawn").Pipe()
            self._process = multiprocessing.get_context("spawn").Process(
                target=_work, args=(other, self._folder / "out"), daemon=True
            )
            self._process.start()
            other.close()
        return self._process, self._pipe


def _work(pipe: Connection, out: Path) -> None:
    warnings.simplefilter("ignore")
    while True:
        try:
            path, fix = pipe.recv()
        except EOFError:
            return
        _forget_peak()
        before = _own_cpu_s()
        end, failed = _tried(Path(path), out, fix=fix)
        pipe.send((end, failed, _own_cpu_s() - before))


def _tried(path: Path, out: Path, *, fix: bool) -> tuple[str, str | None]:
    digest = _digest(path)
    out.mkdir(exist_ok=True)
    try:
        if fix:
            end = prepare(path, into=out).report.verdict.value
        else:
            report = check(path)
            report.to_json()
            end = report.error.code if report.error else report.verdict.value
    except FixError as error:
        end = error.code
    except PalprepError as error:
        end = error.code
    except Exception as error:  # noqa: BLE001 - what else is raised is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        return "raised", f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
    left = [each.name for each in out.rglob("*") if each.name.startswith(".palprep-")]
    shutil.rmtree(out, ignore_errors=True)
    if left:
        return "left", "leaves a file half written"
    if _digest(path) != digest:
        return "changed", "changes its source"
    return end, None


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _own_cpu_s() -> float:
    times = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in times)


def _forget_peak() -> None:
    """Let Linux count the peak of memory anew (proc(5), clear_refs)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_mib(pid: int | None) -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    _, _, rest = status.partition("VmHWM:")
    return int(rest.split()[0]) / 1024 if rest else 0.0


def _cpu_s(pid: int | None) -> float:
    """Of a process and its children; where Linux does not tell, the time that has passed."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return time.monotonic()
    return sum(int(each) for each in fields[11:15]) / os.sysconf("SC_CLK_TCK")

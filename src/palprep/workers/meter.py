"""How much memory and processor time a process takes, together with the programs that it runs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

_LOOK_FOR_CHILDREN_S = 0.25
"""Where the kernel does not name them, finding them means looking at every process there is."""


class Use(NamedTuple):
    """What a process and its children take: the resident set, seconds of processor since the meter
    was made, and how many they are."""

    memory_bytes: int
    processor_s: float
    processes: int


class Meter:
    """Measures one process and its children, from outside.

    The system's own limits will not do. RLIMIT_AS counts addresses: a network that is mapped, or
    the stack of a thread that is never used, takes of it and no memory. RLIMIT_DATA makes a decoder
    fail in the middle, which then looks like a damaged file, or like a crash; and neither counts
    what ffmpeg takes. RLIMIT_CPU counts from the start of a process, which does many tasks, and
    each program that it runs anew.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._processes: Sequence[psutil.Process] = ()
        self._looked = float("-inf")
        self._began_s = 0.0
        self._began_s = self.use().processor_s

    def use(self) -> Use:
        """What all of them take now; nothing when they have ended."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_FOR_CHILDREN_S:
            self._processes, self._looked = _family(self._pid), now
        took = [_taken(each) for each in self._processes]
        spent_s = sum(seconds for _, seconds in took) - self._began_s
        return Use(sum(size for size, _ in took), max(0.0, spent_s), len(took))


def _family(pid: int) -> Sequence[psutil.Process]:
    try:
        process = psutil.Process(pid)
        try:
            return [process, *_named_children(pid)]
        except OSError:  # Not every system names them.
            return [process, *process.children(recursive=True)]
    except psutil.Error:
        return ()


def _named_children(pid: int) -> Iterator[psutil.Process]:
    """As Linux names them (proc_pid_task(5), ``children``). Raises OSError."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (thread / "children").read_text().split()):
            with contextlib.suppress(psutil.Error, OSError):
                yield psutil.Process(child)
                yield from _named_children(child)


def _taken(process: psutil.Process) -> tuple[int, float]:
    """Memory in bytes, and seconds of processor with those of children that have ended."""
    try:
        with process.oneshot():
            times = process.cpu_times()
            seconds = times.user + times.system + times.children_user + times.children_system
            return int(process.memory_info().rss), seconds
    except psutil.Error:
        return 0, 0.0

"""How much memory a process holds, together with the programs that it runs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

_LOOK_FOR_CHILDREN_S = 0.5
"""Where the kernel does not name them, finding them means looking at every process there is."""


class MemoryMeter:
    """Measures one process and its children: the resident set, which is what `top` shows.

    The system's own limits will not do. RLIMIT_AS counts addresses: a network that is mapped, or
    the stack of a thread that is never used, takes of it and no memory. RLIMIT_DATA makes a decoder
    fail in the middle, which then looks like a damaged file, or like a crash; and neither counts
    what ffmpeg takes.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._processes: Sequence[psutil.Process] = ()
        self._looked = float("-inf")

    def used_bytes(self) -> int:
        """What all of them hold now; 0 when they have ended."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_FOR_CHILDREN_S:
            self._processes, self._looked = _family(self._pid), now
        return sum(map(_resident, self._processes))


def _family(pid: int) -> Sequence[psutil.Process]:
    try:
        process = psutil.Process(pid)
        named = _descendants(pid)
        return [process, *(process.children(recursive=True) if named is None else named)]
    except psutil.Error:
        return ()


def _descendants(pid: int) -> list[psutil.Process] | None:
    """The children and theirs, as Linux names them (proc_pid_task(5), ``children``); None where
    the system does not."""
    try:
        return list(_named_children(pid))
    except OSError:
        return None


def _named_children(pid: int) -> Iterator[psutil.Process]:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (thread / "children").read_text().split()):
            with contextlib.suppress(psutil.Error, OSError):
                yield psutil.Process(child)
                yield from _named_children(child)


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0

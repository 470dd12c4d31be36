"""How much memory a process holds, with the programs that it runs."""

from __future__ import annotations

import time
from collections.abc import Sequence

import psutil

_LOOK_FOR_CHILDREN_S = 0.5
"""Finding them means looking at every process of the machine."""


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
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return ()


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0

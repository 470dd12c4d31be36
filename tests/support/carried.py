"""Work for a cluster's workers, in the tests of how files are carried to them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from palprep.batch.engines.tasks import AssetTask
from palprep.media.sources import Source


def look_into(source: Source) -> tuple[int, str, str, str]:
    """The worker, where its copy lies, what reports call it, and its SHA-256."""
    return os.getppid(), str(source.path), source.shown, source.sha256


def read_here(path: str) -> bytes:
    return Path(path).read_bytes()


def pause(seconds: float, number: int) -> tuple[int, int]:
    """The number, and the worker whose process this is."""
    time.sleep(seconds)
    return number, os.getppid()


def die() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def fill_memory(megabytes: int) -> int:
    held = bytearray(megabytes << 20)
    time.sleep(60)
    return len(held)


def process_of(task: AssetTask) -> int:
    """The process that does the task."""
    return os.getpid()


def die_once(task: AssetTask) -> int:
    """As a worker does that is told to end: the first one of all, which leaves a mark where a task
    may write.
    """
    Path(task.into).mkdir(parents=True, exist_ok=True)
    try:
        os.close(os.open(Path(task.into, "mark"), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return os.getppid()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)
    return 0

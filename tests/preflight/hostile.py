"""Files that do to a worker what no committed file can: for the tests of isolation."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from pathlib import Path

from palprep.fixes import unproved_in
from palprep.media.sources import Source


class Crashing(Source):
    """Crashes whatever decodes it."""

    def open(self):
        os.kill(os.getpid(), signal.SIGSEGV)


class Hanging(Source):
    """Keeps a decoder busy, in C and with the interpreter's lock."""

    def open(self):
        ctypes.PyDLL(None).sleep(60)


class Greedy(Source):
    """Fills the memory."""

    def open(self):
        kept = []
        while True:
            kept.append(bytearray(os.urandom(1)) * 50_000_000)


class Unforeseen(Source):
    """Is opened with an error that nobody foresaw."""

    def open(self):
        raise IndexError("index 3 is out of bounds")


def not_to_be_proved(*positional: object, into: Path, **others: object) -> None:
    """Stands for a fix whose result kills whoever reads it."""
    with unproved_in(into) as unproved:
        Path(unproved, "ready.jpg").write_text("whole")
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)


def half_written(*positional: object, into: Path, **others: object) -> None:
    """Stands for a fix that is killed in the middle."""
    Path(into).mkdir(exist_ok=True)
    Path(into, f".palprep-{os.getpid()}-0123456789ab.part.jpg").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def said_by(*command: str) -> str:
    return subprocess.check_output(command, text=True)

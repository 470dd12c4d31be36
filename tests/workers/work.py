"""Work that goes wrong in every way, for the tests of what runs it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from palprep.errors import UnsupportedMedia


def double(number: int) -> int:
    return 2 * number


def opencv_threads() -> int:
    import cv2  # noqa: PLC0415 -- in a worker only

    return cv2.getNumThreads()


def take_all_files() -> None:
    while True:
        os.dup(0)


def refuse(name: str) -> None:
    raise UnsupportedMedia(f"{name} is a spreadsheet", name=name)


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def leave() -> None:
    os._exit(3)


def hang() -> None:
    time.sleep(600)


def pause(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def run_a_child(marks: str) -> None:
    """A task that waits for a program, as those do that run ffmpeg."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(marks, "child").write_text(str(child.pid))
    try:
        child.wait()
    finally:
        child.kill()
        child.wait()
        Path(marks, "cleaned").write_text("yes")


def hang_in_c() -> None:
    """Like a decoder that never returns: no signal handler of Python's runs."""
    libc = ctypes.PyDLL(None)  # Keeps the interpreter's lock.
    while True:
        libc.sleep(60)


def fill_memory() -> None:
    """Takes 50 MB after the other, and would take 20 GB."""
    kept = []
    for _ in range(400):
        kept.append(bytearray(os.urandom(1)) * 50_000_000)
        time.sleep(0.002)


def fill_memory_and_tell(*, on_share: Callable[[float], object]) -> None:
    """Takes a megabyte after the other, up to a thousand, and tells each one."""
    kept = []
    for number in range(10_000):
        if number < 1_000:
            kept.append(bytearray(os.urandom(1)) * 1_000_000)
        on_share(number / 10_000)
        time.sleep(0.001)


def fill_memory_of_a_child(marks: str) -> None:
    """A program that the task runs takes the memory."""
    program = "import time; kept = bytearray(600_000_000); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", program])
    Path(marks, "child").write_text(str(child.pid))
    child.wait()


class Unreadable(Exception):
    """Can be pickled, and not read again."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def raise_what_cannot_be_read() -> None:
    raise Unreadable(1, 2)


def refuse_with_what_cannot_be_sent() -> None:
    raise UnsupportedMedia("a spreadsheet", lock=threading.Lock(), sheets=3)


def answer_with_what_cannot_be_sent() -> object:
    return threading.Lock()


def answer_with_another_type() -> int:
    answer: Any = "many"
    return answer


def burn(seconds: float) -> None:
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        pass


def recurse() -> int:
    return 1 + recurse()


def count(to: int, told: Callable[[int], None]) -> int:
    for number in range(to):
        told(number)
    return to


def tell_without_end(told: Callable[[int], None]) -> None:
    while True:
        told(0)
        time.sleep(0.005)


def talk() -> str:
    """Whatever a library says on its own account."""
    warnings.warn("a warning of a library", UserWarning, stacklevel=1)
    os.write(2, b"written by a decoder\n")
    sys.stdout.write("printed by a library\n")
    sys.stdout.flush()
    return tempfile.gettempdir()


def leave_temporary_files() -> str:
    folder = tempfile.mkdtemp()
    Path(folder, "half").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
    return folder

"""Media work that goes wrong in every way, for the engines' tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from palprep.errors import UnsupportedMedia


def double(number: int) -> int:
    return 2 * number


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

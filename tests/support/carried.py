"""Work for a cluster's workers, in the tests of how files are carried to them."""

from __future__ import annotations

import os
import time
from pathlib import Path

from palprep.media.source import Source


def look_into(source: Source) -> tuple[int, str, str, str]:
    """The worker's process, where its copy lies, what reports call it, and its SHA-256."""
    return os.getpid(), str(source.path), source.shown, source.sha256


def read_here(path: str) -> bytes:
    return Path(path).read_bytes()


def pause(seconds: float, number: int) -> tuple[int, int]:
    time.sleep(seconds)
    return number, os.getpid()

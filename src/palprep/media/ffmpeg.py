"""The only place that runs the ffmpeg binary.

The caller must keep inputs from opening other files or addresses, and prevent half-written outputs.
A run that is interrupted or fails ends its process before it returns.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import imageio_ffmpeg

from palprep.errors import ToolFailed, ToolMissing
from palprep.system import gives_no_more

_GLOBAL = ("-hide_banner", "-nostdin", "-nostats", "-loglevel", "error", "-y")
_LAST_LINES = 5
_ADDRESS = re.compile(r"\[[^\]]*@ 0x[0-9a-f]+\] ?")


_ANOTHER = "name another ffmpeg: the program itself, and no script that starts it"
"""Processes that open media run no shell."""


def ffmpeg_binary() -> Path:
    """The ffmpeg to run: what the environment names in IMAGEIO_FFMPEG_EXE, else imageio-ffmpeg's.

    Raises ToolMissing when there is none.
    """
    try:
        return Path(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError:
        raise ToolMissing(
            "No ffmpeg: run pip install --force-reinstall imageio-ffmpeg, or name one"
        ) from None


def ffmpeg_version() -> str:
    """The version that the binary prints, for example ``7.1``. Raises ToolMissing."""
    program = ffmpeg_binary()
    try:
        return str(imageio_ffmpeg.get_ffmpeg_version())
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolMissing(f"{program} does not run ({error}); {_ANOTHER}") from None


def run_ffmpeg(
    command: Sequence[str] | Any,
    *,
    duration_s: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> str:
    """Run ffmpeg on an argument list or on an ffmpeg-python output node.

    ``progress`` is called with fractions from 0 to 1 of ``duration_s``, never falling, and
    with 1.0 at the end. Returns what ffmpeg wrote to its error stream, for filters that print
    their measures there (raise their level with ``-loglevel info``).

    Raises ToolFailed with ffmpeg's last words, ToolMissing without a binary.
    """
    given = command.get_args() if hasattr(command, "get_args") else command
    arguments = [os.fsdecode(argument) for argument in given]
    report = ("-progress", "pipe:1") if progress is not None else ()
    full = [os.fspath(ffmpeg_binary()), *_GLOBAL, *report, *arguments]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as words:
        status = _watch(full, words, duration_s, progress)
        words.seek(0)
        said = words.read()
    if status != 0:
        lines = [_ADDRESS.sub("", line).strip() for line in said.splitlines()]
        last = "; ".join([line for line in lines if line][-_LAST_LINES:])
        raise ToolFailed(f"ffmpeg gave up: {last or f'exit status {status}'}")
    if progress is not None:
        progress(1.0)
    return said


def _watch(
    command: list[str],
    words: IO[str],
    duration_s: float | None,
    progress: Callable[[float], None] | None,
) -> int:
    """Run to the end and return the exit status; on any exception the process is killed."""
    try:
        # No shell; every argument was built by palprep.
        process = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if progress is not None else subprocess.DEVNULL,
            stderr=words,
            text=True,
        )
    except OSError as error:
        if gives_no_more(error):
            raise
        raise ToolMissing(f"{command[0]} does not run ({error}); {_ANOTHER}") from None
    reached = 0.0
    with process:
        try:
            for line in process.stdout or ():
                key, _, value = line.strip().partition("=")
                if progress and duration_s and key == "out_time_us" and value.lstrip("-").isdigit():
                    reached = min(1.0, max(reached, int(value) / 1e6 / duration_s))
                    progress(reached)
            return process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise

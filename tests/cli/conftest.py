"""The command line: in the process of the tests, or the console script as a shell starts it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from measured_once import FOLDER
from spoken import coded_consent, spoken_consent
from warm_workers import WarmWorkers

from palprep.cli.app import run
from palprep.preflight import preflight

__all__ = ["coded_consent", "spoken_consent"]

SCRIPT = Path(sys.executable).with_name("palprep")


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Standard output as one JSON object per line; anything else fails the test."""
        return [json.loads(line) for line in self.out.splitlines()]


Palprep = Callable[..., Ran]


def environment(**given: str) -> dict[str, str]:
    """What a command finds: no ffmpeg on PATH, and no setting of the developer's own."""
    names = {"HOME", "LANG", "PYTHONPATH", "PALPREP_JOBS", FOLDER}
    threads = ("OMP_", "OPENBLAS_", "OPENCV_")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in names or name.startswith(threads)
    }
    return {**kept, "PATH": str(SCRIPT.parent), "COLUMNS": "140", **given}


@pytest.fixture(autouse=True)
def _measured_once(measured_once: None) -> None:
    """Tests of what is measured have a fixture of this name that does nothing."""


@pytest.fixture
def palprep(tmp_path: Path, warm_workers: WarmWorkers) -> Palprep:
    """Run ``palprep`` with these arguments, in this process: what it says, writes and ends with.

    Its worker is one that other commands have used. What a process of its own is needed for,
    signals, limits, what is loaded, how output is encoded, takes :func:`script`; each command that
    reads media has a test with that, too.
    """

    def in_process(*arguments: object, cwd: Path = tmp_path, **given: str) -> Ran:
        asked = ["palprep", *map(str, arguments)]
        out, err = _Stream(), _Stream()
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(cwd)
            for name in tuple(os.environ):
                patch.delenv(name)
            for name, value in environment(**given).items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", asked)
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            # Not at the door: whoever is imported meanwhile would keep it.
            patch.setattr(preflight, "LocalEngine", warm_workers)
            code = run(asked[1:])
        return Ran(code, out.text, err.text)

    return in_process


@pytest.fixture
def script(tmp_path: Path) -> Palprep:
    """Start the console script with these arguments."""

    def start(*arguments: object, cwd: Path = tmp_path, **given: str) -> Ran:
        done = subprocess.run(
            [str(SCRIPT), *map(str, arguments)],
            cwd=cwd,
            env=environment(**given),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    return start


@contextlib.contextmanager
def started(*arguments: object, **how: Any) -> Iterator[subprocess.Popen[str]]:
    """The console script while it runs. One whose test has failed is not waited for."""
    pipe = subprocess.PIPE
    command = [SCRIPT, *map(str, arguments)]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, **how) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


class _Stream(io.TextIOWrapper):
    """A pipe's end, kept in memory."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, "utf-8", "backslashreplace", newline="", write_through=True)

    @property
    def text(self) -> str:
        """All that was written, with the ends of lines as a reader of text sees them."""
        self.flush()
        return self._bytes.getvalue().decode("utf-8").replace("\r\n", "\n")

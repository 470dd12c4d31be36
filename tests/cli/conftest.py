"""The real console script, as a shell starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

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


@pytest.fixture
def palprep(tmp_path: Path) -> Palprep:
    """Run ``palprep`` with these arguments, without any ffmpeg on PATH."""

    def run(*arguments: object, cwd: Path = tmp_path, **environment: str) -> Ran:
        kept = {
            name: os.environ[name]
            for name in ("HOME", "LANG", "PYTHONPATH", "PALPREP_JOBS")
            if name in os.environ
        }
        done = subprocess.run(
            [str(SCRIPT), *map(str, arguments)],
            cwd=cwd,
            env={**kept, "PATH": str(SCRIPT.parent), "COLUMNS": "120", **environment},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    return run

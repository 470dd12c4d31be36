"""Ctrl-C, a closed terminal, `kill`: nothing is left behind, and one line says what was kept."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import imageio_ffmpeg
import psutil
import pytest

from .conftest import SCRIPT


@pytest.fixture
def _measured_once() -> None:
    """Each command measures its files itself."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_a_fix_leaves_nothing_half_written(tmp_path: Path, number: int) -> None:
    source, into, scratch = (tmp_path / name for name in ("source.mp4", "out", "scratch"))
    scratch.mkdir()
    command = (
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-f", "lavfi"),
        *("-i", "testsrc2=size=640x360:rate=30:duration=12", "-c:v", "libx264"),
        *("-preset", "ultrafast", "-pix_fmt", "yuv422p", str(source)),
    )
    subprocess.run(command, check=True)
    process = subprocess.Popen(
        [str(SCRIPT), "fix", str(source), "--into", str(into)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    deadline = time.monotonic() + 200
    while not any(each.stat().st_size for each in into.glob(".palprep-*/*/*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    family = psutil.Process(process.pid).children(recursive=True)
    assert "ffmpeg" in " ".join(each.name() for each in family)
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    [line] = err.splitlines()
    assert out == ""
    assert line.startswith("Interrupted: 0 of 1 files were fixed. Go on with: palprep fix ")
    assert not into.exists()
    assert list(scratch.iterdir()) == []
    assert not [each for each in family if each.is_running()]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["scratch", "source.mp4"]

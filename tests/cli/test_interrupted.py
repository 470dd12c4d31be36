"""Ctrl-C in a shell: the whole group of processes gets it, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import imageio_ffmpeg

from .conftest import SCRIPT


def test_ctrl_c_during_a_repair_leaves_nothing_half_written(tmp_path: Path) -> None:
    source, into = tmp_path / "source.mp4", tmp_path / "out"
    command = (
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-f", "lavfi"),
        *("-i", "testsrc2=size=1280x720:rate=30:duration=12", "-c:v", "libx264"),
        *("-preset", "ultrafast", "-pix_fmt", "yuv422p", str(source)),
    )
    subprocess.run(command, check=True)
    process = subprocess.Popen(
        [str(SCRIPT), "fix", str(source), "--into", str(into)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 200
    while not any(each.stat().st_size for each in into.glob(".palprep-*")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err) == ("", "")
    assert list(into.iterdir()) == []
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "source.mp4"]

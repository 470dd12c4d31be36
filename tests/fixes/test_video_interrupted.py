"""Ctrl-C in the middle of a video leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from videos import video_plan

from palprep.fixes.carry_out import apply
from palprep.media.sources import Source


def test_a_real_ctrl_c_leaves_neither_file_nor_process(make, tmp_path):
    made = make(
        "long.mp4",
        *("-f", "lavfi", "-i", "testsrc2=size=640x360:rate=30:duration=60"),
        *("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"),
    )
    code = (
        "import pathlib, sys\n"
        "from palprep.fixes.carry_out import apply\n"
        "from palprep.media.sources.source import Source\n"
        "from palprep.rules.plans.values import VideoPlan\n"
        "plan = VideoPlan(reasons=(), copy_video=False, copy_audio=False)\n"
        "apply(plan, Source.of(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2]))\n"
    )
    target = tmp_path / "out" / "ada"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(made), str(target)], stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 30
    while not any(each.stat().st_size for each in target.parent.glob(".palprep-*")):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in said
    assert not list(target.parent.iterdir())
    open_by = [
        each for each in Path("/proc").glob("[0-9]*/cmdline") if str(target) in _cmdline(each)
    ]
    assert not open_by


def _cmdline(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""  # it ended meanwhile


@pytest.mark.parametrize("copy", [True, False])
def test_ctrl_c_leaves_nothing(phone_video, tmp_path, copy):
    def interrupt(done: float) -> None:
        if done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apply(video_plan(copy=copy), Source.of(phone_video), tmp_path / "ada", progress=interrupt)
    assert not list(tmp_path.iterdir())

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import ffmpeg
import pytest

from palprep.errors import ToolFailed, ToolMissing
from palprep.media.ffmpeg import ffmpeg_binary, ffmpeg_version, run_ffmpeg

from .conftest import sine

TONE = ("-f", "lavfi", "-i", "sine=frequency=440:duration=2")


def test_the_bundled_binary_runs():
    assert ffmpeg_binary().is_file()
    assert ffmpeg_version()[0] in "n0123456789N"


def test_a_named_binary_wins_and_must_run(tmp_path, monkeypatch):
    fake = tmp_path / "ffmpeg"
    fake.write_text("#!/bin/sh\necho ffmpeg version 99-fake built\n")
    fake.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(fake))
    assert ffmpeg_binary() == fake
    assert ffmpeg_version() == "99-fake"
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "gone"))
    with pytest.raises(ToolMissing, match="does not run"):
        ffmpeg_version()
    with pytest.raises(ToolMissing, match="does not run"):
        run_ffmpeg([*TONE, str(tmp_path / "a.wav")])


def test_progress_rises_to_one(tmp_path):
    fractions: list[float] = []
    out = tmp_path / "a.wav"
    run_ffmpeg([*TONE, str(out)], duration_s=2.0, progress=fractions.append)
    assert out.stat().st_size > 100_000
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_a_node_of_ffmpeg_python(tmp_path, make_wav):
    path = make_wav(sine(1.0))
    out = tmp_path / "out.flac"
    source = ffmpeg.input(f"file:{path}", f="wav", protocol_whitelist="file")
    run_ffmpeg(ffmpeg.output(source, str(out)))
    assert out.read_bytes()[:4] == b"fLaC"


def test_measures_of_filters_are_returned(tmp_path):
    said = run_ffmpeg([*TONE, "-loglevel", "info", "-af", "volumedetect", "-f", "null", "-"])
    assert "mean_volume" in said


def test_failure_carries_the_last_words(tmp_path):
    path = tmp_path / "broken.mp4"
    path.write_bytes(b"\0\0\0\x14ftypisom\0\0\0\0isom")
    with pytest.raises(ToolFailed, match="moov atom not found") as caught:
        run_ffmpeg(["-f", "mov", "-protocol_whitelist", "file", "-i", str(path), "-f", "null", "-"])
    assert "0x" not in str(caught.value)


def test_an_exception_in_progress_ends_the_process(tmp_path):
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    long_tone = ("-re", "-f", "lavfi", "-i", "sine=duration=600")
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_ffmpeg([*long_tone, str(tmp_path / "a.wav")], duration_s=600.0, progress=interrupt)
    assert time.monotonic() - started < 30


def test_ctrl_c_leaves_no_process_behind(tmp_path):
    """A real SIGINT to a real process that waits for ffmpeg, not one still starting it."""
    pid_file = tmp_path / "pid"
    fake = tmp_path / "ffmpeg"
    fake.write_text(
        "#!/bin/sh\nsleep 1\n"
        f"echo $$ > {pid_file}.new && mv {pid_file}.new {pid_file}\n"
        "exec sleep 60\n"
    )
    fake.chmod(0o755)
    code = (
        "from palprep.media.ffmpeg import run_ffmpeg\nrun_ffmpeg(['-f', 'lavfi', '-i', 'x', 'y'])\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stderr=subprocess.DEVNULL,
        env={**os.environ, "IMAGEIO_FFMPEG_EXE": str(fake)},
    )
    deadline = time.monotonic() + 30
    while not pid_file.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    child = int(pid_file.read_text())
    parent.send_signal(signal.SIGINT)
    assert parent.wait(20) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)

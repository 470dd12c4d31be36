"""What a browser writes while it records, in a container that others can read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import imageio_ffmpeg
import pytest

from palprep.errors import DamagedMedia, UnsupportedMedia
from palprep.fixes import keep_recording
from palprep.media import probe_video
from palprep.media.sources import Source


def recorded(source: Path, target: Path, *options: str) -> Source:
    """The beginning of a file as MediaRecorder writes it."""
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin", "-i", source, "-t", "2"]
    subprocess.run([*command, "-vf", "scale=320:180", *options, target], check=True)
    return Source.of(target)


@pytest.mark.parametrize(
    ("options", "suffix"),
    [
        (("-c:v", "libx264", "-c:a", "libopus", "-live", "1", "-f", "matroska"), ".mp4"),
        (("-c:v", "libx264", "-c:a", "aac", "-movflags", "empty_moov+frag_keyframe", "-f", "mp4"),
         ".mp4"),
        (("-c:v", "libvpx", "-c:a", "libopus", "-live", "1", "-f", "webm"), ".webm"),
    ],
    ids=["matroska", "fragments", "webm"],
)  # fmt: skip
def test_packets_are_copied(
    spoken: Path, tmp_path: Path, options: tuple[str, ...], suffix: str
) -> None:
    source = recorded(spoken, tmp_path / "recorded.bin", *options)
    kept = keep_recording(source, tmp_path / "kept", from_browser=True)
    assert kept == tmp_path / f"kept{suffix}"
    before, after = (probe_video(each) for each in (source, Source.of(kept)))
    assert (after.codec, after.frames) == (before.codec, before.frames)
    assert after.duration_s == pytest.approx(2, abs=0.15)
    assert after.moov_position == ("front" if suffix == ".mp4" else None)
    # Another of the same name is kept as well.
    again = keep_recording(Source.of(spoken), tmp_path / "kept", from_browser=False)
    assert again.name == ("kept-2.mp4" if suffix == ".mp4" else "kept.mp4")
    assert again.samefile(spoken)


@pytest.fixture
def spoken(light_people: Path) -> Path:
    return light_people / "jane-carter" / "consent.mp4"


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    text, broken = tmp_path / "text", tmp_path / "broken"
    text.write_text("no media at all")
    with pytest.raises(UnsupportedMedia):
        keep_recording(Source.of(text), tmp_path / "kept", from_browser=True)
    broken.write_bytes(bytes.fromhex("1a45dfa3a342868101428287776562 6d".replace(" ", "")) * 9)
    with pytest.raises((DamagedMedia, UnsupportedMedia)):
        keep_recording(Source.of(broken), tmp_path / "kept", from_browser=True)
    assert not list(tmp_path.glob("kept*"))

"""Speech for the tests: a short voice from the sample media, decoded once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from numpy.typing import NDArray

from palprep.media.sound import stream_samples
from palprep.media.sources import Source


def decode(path: Path, rate_hz: int = 16_000) -> NDArray[np.float32]:
    """All of a file's sound as one channel."""
    return np.concatenate(list(stream_samples(Source.of(path), rate_hz=rate_hz, channels=1)))


@pytest.fixture(scope="session")
def spoken_consent(light_people: Path) -> Path:
    """A video in which the default statement is spoken, by a synthetic voice."""
    return light_people / "jane-carter" / "consent.mp4"


@pytest.fixture(scope="session")
def speech(spoken_consent: Path) -> NDArray[np.float32]:
    """Its sound at 16 kHz."""
    return decode(spoken_consent)


@pytest.fixture(scope="session")
def other_talk(light_people: Path) -> NDArray[np.float32]:
    """Speech of the same voice that is no statement, at 16 kHz."""
    return decode(light_people / "jane-carter" / "recording.m4a")


@pytest.fixture(scope="session")
def coded_consent(
    spoken_consent: Path, sample_media: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The same video, in which "Tiger, lemon, cactus" is said after the statement."""
    path = tmp_path_factory.mktemp("coded") / "consent.mp4"
    inputs = (spoken_consent, spoken_consent, sample_media / "code.m4a")
    picture = "[1:v]trim=duration=3,setpts=PTS-STARTPTS[on];[0:v][on]concat[v]"
    command = [
        *(imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-nostdin"),
        *(part for each in inputs for part in ("-i", str(each))),
        *("-filter_complex", f"{picture};[0:a][2:a]concat=v=0:a=1", "-map", "[v]"),
        *("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"),
        *("-movflags", "+faststart", str(path)),
    ]
    subprocess.run(command, check=True)
    return path

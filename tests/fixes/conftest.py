"""Media for the fixes, made by a bare ffmpeg, and readers that know nothing of palprep."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import av
import imageio_ffmpeg
import pytest

Make = Callable[..., Path]


@pytest.fixture(scope="session")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """``make("name.mp4", *ffmpeg_arguments)``: a file by bare ffmpeg, made once per session."""
    folder = tmp_path_factory.mktemp("made")
    exe = imageio_ffmpeg.get_ffmpeg_exe()

    def made(name: str, *arguments: str) -> Path:
        key = hashlib.sha256("\0".join(arguments).encode()).hexdigest()[:12]
        path = folder / key / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            command = [exe, "-v", "error", "-nostdin", "-y", *arguments, str(path)]
            subprocess.run(command, check=True)
        return path

    return made


@pytest.fixture(scope="session")
def tone() -> tuple[str, ...]:
    """ffmpeg arguments for two seconds of stereo, 440 Hz left and 660 Hz right."""
    return ("-f", "lavfi", "-i", "aevalsrc=0.3*sin(440*2*PI*t)|0.2*sin(660*2*PI*t):s=44100:d=2")


@pytest.fixture(scope="session")
def picture() -> tuple[str, ...]:
    """ffmpeg arguments for two seconds of a moving test picture, 320x180 at 30 fps."""
    return ("-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30:duration=2")


@pytest.fixture(scope="session")
def phone_video(make: Make, picture: tuple[str, ...], tone: tuple[str, ...]) -> Path:
    """A .mov as a phone writes it: upright by rotation, index at the end, place and device."""
    flat = make(
        "flat.mov",
        *(*picture, *tone, "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"),
        *("-c:a", "aac", "-g", "15", "-bf", "2"),
    )
    return make(
        "phone.mov",
        *("-display_rotation:v:0", "90", "-i", str(flat), "-c", "copy"),
        *("-movflags", "+use_metadata_tags", "-metadata", "title=Ada at home"),
        *("-metadata", "com.apple.quicktime.location.ISO6709=+51.5007-000.1246/"),
        *("-metadata", "com.apple.quicktime.model=Secretphone 12"),
    )


@pytest.fixture(scope="session")
def packets() -> Callable[[Path, str], list[str]]:
    """``packets(path, "audio")``: SHA-256 of each packet of the first stream of that kind."""

    def of(path: Path, kind: str) -> list[str]:
        with av.open(str(path)) as container:
            stream = getattr(container.streams, kind)[0]
            return [
                hashlib.sha256(bytes(packet)).hexdigest()
                for packet in container.demux(stream)
                if packet.size
            ]

    return of


@pytest.fixture(scope="session")
def top_level_boxes() -> Callable[[Path], list[str]]:
    """Types of an mp4's boxes in the order of the file."""

    def of(path: Path) -> list[str]:
        data, at, boxes = path.read_bytes(), 0, []
        while at < len(data):
            size = int.from_bytes(data[at : at + 4])
            boxes.append(data[at + 4 : at + 8].decode("latin-1"))
            at += size or len(data)
        return boxes

    return of

from __future__ import annotations

import errno
import hashlib
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from palprep.errors import FileMissing, FileUnreadable, UnsupportedMedia
from palprep.media.container import open_container
from palprep.media.images.stills import open_image
from palprep.media.sources.source import MOST_BYTES, Source
from palprep.preflight import check
from palprep.values import Kind


def test_a_source_is_what_the_file_holds_and_what_its_index_says(make_video, tmp_path):
    path = make_video()
    disguised = path.rename(tmp_path / "a.jpg")
    source = Source.of(disguised)
    assert (source.type.kind, source.type.format) == (Kind.VIDEO, "mp4")
    assert source.content.movie.video_tracks
    assert source.size_bytes == disguised.stat().st_size
    assert Source.of(source) is source
    assert source.facts.name == "a.jpg"


def test_the_hash_is_read_once_and_travels_with_the_source(make_video):
    path = make_video()
    source = Source.of(path)
    assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert source.content.movie
    path.unlink()
    arrived = pickle.loads(pickle.dumps(source))  # noqa: S301 -- what was just written
    assert arrived == source
    assert arrived.sha256 == source.sha256
    assert arrived.content.movie == source.content.movie


def test_a_source_sent_before_it_was_hashed_can_be_hashed_there(make_video):
    path = make_video()
    arrived = pickle.loads(pickle.dumps(Source.of(path)))  # noqa: S301 -- likewise
    assert arrived.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(path.read_bytes() + b"more"),
        lambda path: os.utime(path, ns=(1, 1)),
    ],
    ids=["longer", "written again"],
)
def test_a_file_that_changed_is_refused_wherever_it_is_opened(make_video, change):
    path = make_video()
    source = Source.of(path)
    change(path)
    with pytest.raises(FileUnreadable, match="changed while palprep worked on it"):
        _ = source.sha256
    with pytest.raises(FileUnreadable, match="run again"), open_container(source):
        pass
    assert Source.of(path) != source


def test_a_file_that_is_gone_is_missing(make_video):
    path = make_video()
    source = Source.of(path)
    path.unlink()
    with pytest.raises(FileMissing):
        source.open()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no files of the kernel")
def test_a_file_without_a_size_is_not_read():
    """The kernel's files claim to be regular; reading some of them waits for ever."""
    source = Source.of("/proc/self/status")
    assert source.type.description == "an empty file"
    assert source.sha256 == hashlib.sha256().hexdigest()


def test_what_takes_minutes_to_read_is_named_and_not_read(tmp_path):
    path = tmp_path / "long.wav"
    with path.open("wb") as file:
        file.write(b"RIFF\0\0\0\0WAVEfmt ")
        file.truncate(MOST_BYTES + 1)
    source = Source.of(path)
    assert source.type.format == "wav"
    with pytest.raises(UnsupportedMedia, match="reads files of at most 8,589,934,592"):
        _ = source.sha256
    assert check(path).error.code == "media_unsupported"


def test_nothing_is_read_before_somebody_asks_what_it_is(make_video, monkeypatch):
    path = make_video()

    def parsed(*_):
        raise AssertionError("read in the wrong process")

    monkeypatch.setattr("palprep.media.sources.source.recognise", parsed)
    source = Source.of(path)
    assert (source.name, source.stem, source.size_bytes) == (
        path.name,
        path.stem,
        path.stat().st_size,
    )
    assert source.sha256
    arrived = pickle.loads(pickle.dumps(source))  # noqa: S301 -- what was just written
    monkeypatch.undo()
    assert arrived.type.format == "mp4"


@pytest.mark.skipif(sys.platform != "linux", reason="limits what a process may address")
def test_memory_that_runs_out_is_no_damage(tmp_path):
    """Damage is remembered until the file changes."""
    path = tmp_path / "a.png"
    Image.new("RGB", (6000, 6000), "teal").save(path)
    decoding = f"""
import resource
from palprep.errors import MediaTooHeavy
from palprep.media.images.stills import open_image
from palprep.media.sources.source import Source
source = Source.of({str(path)!r})
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (32 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    open_image(source)
except MediaTooHeavy as error:
    print(error)
"""
    command = [sys.executable, "-c", decoding]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.stdout.startswith("a.png takes more memory than this machine gives"), ran.stderr


def test_a_disk_that_fails_is_no_damage(tmp_path):
    """Damage is remembered until the file changes."""

    class Disk(io.FileIO):
        def read(self, size: int = -1) -> bytes:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    class Failing(Source):
        def open(self):
            return Disk(self.path)

    Image.new("RGB", (64, 48)).save(tmp_path / "a.png")
    with pytest.raises(FileUnreadable, match=r"a\.png cannot be read: Input/output error"):
        open_image(Failing.of(tmp_path / "a.png"))

"""Whether files are as they were: every change shows."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from palprep.batch.people.files import files_fingerprint, folder_fingerprint


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "ada"
    (place / "takes").mkdir(parents=True)
    (place / "a.wav").write_bytes(b"one")
    (place / "takes" / "b.wav").write_bytes(b"two")
    return place


def state(folder: Path) -> str:
    seen = folder_fingerprint(folder)
    assert seen is not None
    return seen


def test_what_nobody_touched_is_the_same(folder: Path) -> None:
    assert state(folder) == state(folder)
    (folder / "a.wav").read_bytes()
    assert folder_fingerprint(str(folder)) == state(folder)


def overwrite_and_set_the_time_back(folder: Path) -> None:
    path = folder / "a.wav"
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # Within one tick nothing can show.
        path.write_bytes(b"eno")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_with_the_same_size_and_time(folder: Path) -> None:
    path = folder / "a.wav"
    other = folder.parent / "other"
    other.write_bytes(b"eno")
    shutil.copystat(path, other)
    other.replace(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "a.wav").write_bytes(b"more"),
        lambda folder: (folder / "takes" / "b.wav").write_bytes(b"longer"),
        lambda folder: (folder / "a.wav").rename(folder / "c.wav"),
        lambda folder: (folder / "a.wav").unlink(),
        lambda folder: (folder / ".hidden").write_bytes(b""),
        lambda folder: (folder / "person.toml").write_text("name = 'Ada'"),
        overwrite_and_set_the_time_back,
        replace_with_the_same_size_and_time,
    ],
)
def test_every_change_shows(folder: Path, change) -> None:
    before = state(folder)
    change(folder)
    assert state(folder) != before


def test_a_link_to_a_file_is_that_file(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.wav"
    target.write_bytes(b"one")
    (folder / "link.wav").symlink_to(target)
    before = state(folder)
    target.write_bytes(b"more")
    assert state(folder) != before


def test_what_cannot_be_seen_tells_nothing(folder: Path, tmp_path: Path) -> None:
    assert folder_fingerprint(tmp_path / "gone") is None
    assert files_fingerprint([folder / "gone.wav"]) is None
    (folder / "b.wav").symlink_to(tmp_path / "gone")
    assert folder_fingerprint(folder) is None
    (folder / "b.wav").unlink()
    (folder / "more").symlink_to(tmp_path)
    assert folder_fingerprint(folder) is None

"""Whether files are as they were: every change shows, and what might hide one is not trusted."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from pathlib import Path

import pytest

from palprep.batch.fingerprint import files_fingerprint, folder_fingerprint
from palprep.journal import utc_now

LATER = dt.timedelta(hours=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "ada"
    (place / "takes").mkdir(parents=True)
    (place / "a.wav").write_bytes(b"one")
    (place / "takes" / "b.wav").write_bytes(b"two")
    return place


def state(folder: Path) -> str:
    seen = folder_fingerprint(folder, utc_now())
    assert seen is not None
    return seen.digest


def test_what_nobody_touched_is_the_same(folder: Path) -> None:
    assert state(folder) == state(folder)
    (folder / "a.wav").read_bytes()
    assert folder_fingerprint(str(folder), utc_now() + LATER).digest == state(folder)


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
    now = utc_now()
    assert folder_fingerprint(tmp_path / "gone", now) is None
    assert files_fingerprint([folder / "gone.wav"], now) is None
    (folder / "b.wav").symlink_to(tmp_path / "gone")
    assert folder_fingerprint(folder, now) is None
    (folder / "b.wav").unlink()
    (folder / "more").symlink_to(tmp_path)
    assert folder_fingerprint(folder, now) is None


def changed(path: Path) -> dt.datetime:
    return dt.datetime.fromtimestamp(path.stat().st_ctime_ns / 1e9, dt.UTC)


def test_a_file_that_had_just_changed_is_not_trusted(folder: Path) -> None:
    path = folder / "a.wav"
    for late, sure in ((0.001, False), (0.015, False), (0.025, True), (3, True)):
        seen = files_fingerprint([path], changed(path) + dt.timedelta(seconds=late))
        assert (late, seen.sure) == (late, sure)
    older = files_fingerprint([path], changed(path) - LATER)
    assert not older.sure  # By a clock that went back.


def test_where_the_file_system_keeps_whole_seconds_it_takes_longer() -> None:
    class Coarse:
        def stat(self) -> os.stat_result:
            times = dict.fromkeys(("st_ctime_ns", "st_mtime_ns"), 10 * 1_000_000_000)
            return os.stat_result((0o100644, 7, 1, 1, 0, 0, 3, 10, 10, 10), times)

    for at, sure in ((10.5, False), (11.9, False), (12.1, True)):
        seen = files_fingerprint([Coarse()], dt.datetime.fromtimestamp(at, dt.UTC))
        assert (at, seen.sure) == (at, sure)

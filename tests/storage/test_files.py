"""What is written is there whole or not at all, and private."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from palprep.errors import OutputUnwritable, ToolFailed, UsageError
from palprep.storage import atomic_output, output_folder, write_text


def test_the_target_appears_only_when_all_is_written(tmp_path: Path):
    target = tmp_path / "new" / "out.bin"
    with atomic_output(target) as temporary:
        temporary.write_bytes(b"whole")
        assert not target.exists()
        assert temporary.parent == target.parent
        assert temporary.suffix == ".bin"
    assert target.read_bytes() == b"whole"
    assert [each.name for each in target.parent.iterdir()] == ["out.bin"]


def test_a_drive_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(path: Path, *_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))

    monkeypatch.setattr(Path, "mkdir", missing)
    with pytest.raises(OutputUnwritable, match="out cannot be written: No such file"):
        output_folder(tmp_path / "out")


def test_a_disk_that_goes_away_while_a_text_is_written_is_told(tmp_path: Path):
    def lines() -> Iterator[str]:
        yield "half"
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.raises(OutputUnwritable, match=r"a\.txt cannot be written: Input/output error"):
        write_text(tmp_path / "a.txt", lines())
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_what_is_made_is_private_whatever_the_umask(tmp_path: Path, umask: int):
    target = tmp_path / "made" / "out.bin"
    before = os.umask(umask)
    try:
        with atomic_output(target) as temporary:
            temporary.write_bytes(b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert stat.S_IMODE(target.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit, ValueError])
def test_an_interruption_leaves_nothing_and_keeps_the_old_target(
    tmp_path: Path, interruption: type[BaseException]
):
    target = tmp_path / "out.bin"
    target.write_bytes(b"old")

    def interrupted() -> None:
        with atomic_output(target) as temporary:
            temporary.write_bytes(b"half")
            raise interruption

    with pytest.raises(interruption):
        interrupted()
    assert [each.name for each in tmp_path.iterdir()] == ["out.bin"]
    assert target.read_bytes() == b"old"


def test_a_full_disk_is_told_in_words(tmp_path: Path):
    with (
        pytest.raises(
            OutputUnwritable, match=r"out\.bin cannot be written: the disk is full"
        ) as full,
        atomic_output(tmp_path / "out.bin"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert full.value.disk_full
    assert not list(tmp_path.iterdir())


def test_a_really_full_device_is_told_in_words(tmp_path: Path):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")

    def write() -> None:
        with atomic_output(tmp_path / "out.bin") as temporary:
            temporary.unlink()
            temporary.symlink_to("/dev/full")
            temporary.write_bytes(b"x")

    with pytest.raises(OutputUnwritable, match="the disk is full"):
        write()
    assert not list(tmp_path.iterdir())


def test_ffmpegs_full_disk_is_told_in_words(tmp_path: Path):
    with (
        pytest.raises(OutputUnwritable, match="the disk is full"),
        atomic_output(tmp_path / "out.bin"),
    ):
        raise ToolFailed("ffmpeg: av_interleaved_write_frame(): No space left on device")


def test_other_failures_stay_what_they_are(tmp_path: Path):
    with pytest.raises(ToolFailed), atomic_output(tmp_path / "out.bin"):
        raise ToolFailed("ffmpeg: Invalid data found when processing input")
    with pytest.raises(FileNotFoundError), atomic_output(tmp_path / "out.bin"):
        (tmp_path / "source").read_bytes()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_told_in_words(tmp_path: Path):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(OutputUnwritable, match="cannot be written to"):
            atomic_output(tmp_path / "out.bin").__enter__()
        with pytest.raises(OutputUnwritable, match="cannot be written to"):
            output_folder(tmp_path)
    finally:
        tmp_path.chmod(0o755)


def test_a_read_only_file_system_is_told_in_words():
    # Nobody, root included, may create a file there.
    if not Path("/proc/self").exists():
        pytest.skip("this system has no /proc")
    with pytest.raises(OutputUnwritable, match=r"/proc/self/out\.bin cannot be written"):
        atomic_output(Path("/proc/self/out.bin")).__enter__()
    with pytest.raises(OutputUnwritable, match="/proc/self cannot be written"):
        output_folder(Path("/proc/self"))


def test_a_file_in_place_of_the_folder_is_told_in_words(tmp_path: Path):
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(OutputUnwritable, match="a file stands where the folder should be"):
        atomic_output(tmp_path / "taken" / "out.bin").__enter__()
    with pytest.raises(OutputUnwritable, match="a part of its path is a file"):
        atomic_output(tmp_path / "taken" / "deeper" / "out.bin").__enter__()


def test_a_folder_that_can_never_be_made_is_told_in_words():
    for folder in ("/proc/nowhere", "a\0b"):
        with (
            pytest.raises(OutputUnwritable, match="cannot be written"),
            atomic_output(Path(folder, "out.txt")),
        ):
            pass


@pytest.mark.parametrize("folder", ["~", "~/out/deep"])
def test_no_folder_is_made_of_a_tilde_that_no_shell_has_replaced(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    for place in (Path(folder), Path(folder).resolve()):
        with pytest.raises(UsageError, match="write out your home folder in place of ~"):
            output_folder(place)
    assert not list(tmp_path.iterdir())
    (tmp_path / "~").mkdir()  # Somebody means it.
    output_folder(Path(folder))


def test_a_folder_in_place_of_the_target_is_told_in_words(tmp_path: Path):
    (tmp_path / "out.bin").mkdir()
    with pytest.raises(OutputUnwritable, match=r"out\.bin"), atomic_output(tmp_path / "out.bin"):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["out.bin"]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "results.jsonl"
    write_text(path, "old")
    write_text(path, ["new ", "\ud800 ä\n"])
    assert path.read_bytes() == "new \\ud800 ä\n".encode()
    assert [each.name for each in tmp_path.iterdir()] == ["results.jsonl"]
    with pytest.raises(OutputUnwritable, match="cannot be written"):
        write_text(path / "results.jsonl", ["x"])
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputUnwritable, match="cannot be written"):
        write_text(tmp_path / "folder", ["x"])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "results.jsonl"]

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from palprep.errors import OutputUnwritable, ToolFailed, UsageError
from palprep.fixes.output import atomic_output, move_into, new_output


def test_the_target_appears_only_when_all_is_written(tmp_path: Path):
    target = tmp_path / "new" / "out.bin"
    with atomic_output(target) as temporary:
        temporary.write_bytes(b"whole")
        assert not target.exists()
        assert temporary.parent == target.parent
        assert temporary.suffix == ".bin"
    assert target.read_bytes() == b"whole"
    assert [each.name for each in target.parent.iterdir()] == ["out.bin"]


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
        pytest.raises(OutputUnwritable, match=r"out\.bin cannot be written: the disk is full"),
        atomic_output(tmp_path / "out.bin"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
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
    finally:
        tmp_path.chmod(0o755)


def test_a_read_only_file_system_is_told_in_words():
    # Nobody, root included, may create a file there.
    if not Path("/proc/self").exists():
        pytest.skip("this system has no /proc")
    with pytest.raises(OutputUnwritable, match=r"/proc/self/out\.bin cannot be written"):
        atomic_output(Path("/proc/self/out.bin")).__enter__()


def test_a_file_in_place_of_the_folder_is_told_in_words(tmp_path: Path):
    (tmp_path / "taken").write_bytes(b"")
    with pytest.raises(OutputUnwritable, match="a file stands where the folder should be"):
        atomic_output(tmp_path / "taken" / "out.bin").__enter__()
    with pytest.raises(OutputUnwritable, match="a part of its path is a file"):
        atomic_output(tmp_path / "taken" / "deeper" / "out.bin").__enter__()


def test_a_folder_in_place_of_the_target_is_told_in_words(tmp_path: Path):
    (tmp_path / "out.bin").mkdir()
    with pytest.raises(OutputUnwritable, match=r"out\.bin"), atomic_output(tmp_path / "out.bin"):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["out.bin"]


def test_the_source_is_never_the_target(tmp_path: Path):
    source = tmp_path / "ada.v2.jpg"
    source.write_bytes(b"x")
    assert written(tmp_path / "ada.v2", ".png", b"y", source=source) == tmp_path / "ada.v2.png"
    with pytest.raises(UsageError, match="is the source itself"):
        written(tmp_path / "ada.v2", ".jpg", b"y", source=source, overwrite=True)
    (tmp_path / "linked.jpg").symlink_to(source)
    with pytest.raises(UsageError, match="is the source itself"):
        written(tmp_path / "linked", ".jpg", b"y", source=source)
    assert source.read_bytes() == b"x"


def written(
    stem: Path, suffix: str, content: bytes, *, source: Path, overwrite: bool = False
) -> Path:
    with new_output(stem, suffix, source=source, overwrite=overwrite) as output:
        output.temporary.write_bytes(content)
    return output.path


@pytest.fixture(params=["hard links", "no hard links"])
def names(request, tmp_path: Path, monkeypatch) -> Path:
    """A folder, of a memory card that knows no hard links, too."""
    if request.param == "no hard links":

        def refused(self: Path, target: Path) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(Path, "hardlink_to", refused)
    (tmp_path / "source").touch()
    return tmp_path / "out"


def test_no_other_file_is_overwritten(names: Path, tmp_path: Path):
    source = tmp_path / "source"
    made = [written(names / "ada", ".jpg", each, source=source) for each in (b"1", b"2", b"3")]
    assert [each.name for each in made] == ["ada.jpg", "ada-2.jpg", "ada-3.jpg"]
    assert [each.read_bytes() for each in made] == [b"1", b"2", b"3"]
    assert len(list(names.iterdir())) == 3


def test_the_same_output_has_the_same_name(names: Path, tmp_path: Path):
    contents = [b"1", b"2", b"2", b"1"]
    made = [
        written(names / "a", ".jpg", each, source=tmp_path / "source").name for each in contents
    ]
    assert made == ["a.jpg", "a-2.jpg", "a-2.jpg", "a.jpg"]


def test_overwriting_is_asked_for(names: Path, tmp_path: Path):
    for content in (b"1", b"2"):
        written(names / "ada", ".jpg", content, source=tmp_path / "source", overwrite=True)
    assert [each.read_bytes() for each in names.iterdir()] == [b"2"]


def test_a_folder_of_the_name_is_stepped_over(names: Path, tmp_path: Path):
    (names / "ada.jpg").mkdir(parents=True)
    made = written(names / "ada", ".jpg", b"1", source=tmp_path / "source")
    assert made == names / "ada-2.jpg"


def test_a_file_moves_into_a_folder_and_replaces_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "apart"
    for text, kept in (("one", "a.txt"), ("two", "a-2.txt"), ("one", "a.txt")):
        (tmp_path / "a.txt").write_text(text)
        moved = move_into(tmp_path / "a.txt", folder)
        assert moved == folder / kept
        assert moved.read_text() == text
        assert not (tmp_path / "a.txt").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["a-2.txt", "a.txt"]
    (tmp_path / "a.txt").write_text("three")
    with pytest.raises(OutputUnwritable, match="b"):
        move_into(tmp_path / "a.txt", folder / "a.txt" / "b")
    assert (tmp_path / "a.txt").read_text() == "three"

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from palprep.errors import OutputUnwritable, UsageError
from palprep.fixes.output import move_into, new_output


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

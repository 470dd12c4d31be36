"""Files that are not on the disk: copied there while they are used, and no longer."""

from __future__ import annotations

import gc
import gzip
import io
import os
import tempfile
from pathlib import Path

import pytest
from raw import JPEG

from palprep.errors import FileMissing, FileUnreadable, OutputUnwritable, UsageError
from palprep.media.sources.source import Source, name_of


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the copies are put."""
    folder = tmp_path / "room"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, io.BytesIO])
def test_a_copy_lives_as_long_as_its_source(room: Path, kind: type):
    source = Source.of(kind(JPEG))
    assert source.type.format == "jpeg"
    assert [each.read_bytes() for each in room.iterdir()] == [JPEG]
    assert (source.shown, source.name, source.stem) == ("<bytes>", "<bytes>", "image")
    del source
    gc.collect()
    assert not list(room.iterdir())


def test_a_file_on_the_disk_is_not_copied(room: Path, tmp_path: Path):
    path = tmp_path / "ada.jpg"
    path.write_bytes(JPEG)
    assert Source.of(path).path == path
    assert not list(room.iterdir())


def test_a_file_is_read_from_where_it_stands(tmp_path: Path):
    path = tmp_path / "mail.eml"
    path.write_bytes(b"header" + JPEG)
    with path.open("rb") as opened:
        opened.seek(6)
        source = Source.of(opened)
        assert opened.tell() == 6
        assert Source.of(opened).path.read_bytes() == JPEG
        opened.read()
        with pytest.raises(UsageError, match=r"mail\.eml stands at its end.*seek\(0\)"):
            Source.of(opened)
    assert source.type.format == "jpeg"
    assert source.path.read_bytes() == JPEG
    assert (source.shown, source.stem) == (str(path), "mail")


def test_bytes_need_not_lie_side_by_side():
    assert Source.of(memoryview(JPEG)[::-1]).path.read_bytes() == JPEG[::-1]


def test_an_upload_keeps_its_name():
    upload = io.BytesIO(JPEG)
    upload.name = "Ada.jpeg"
    source = Source.of(upload)
    assert (source.name, source.stem, source.facts.path) == ("Ada.jpeg", "Ada", "Ada.jpeg")


def test_a_pipe_is_read_to_its_end():
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as end:
        end.write(JPEG)
    with os.fdopen(reading, "rb") as pipe:
        assert Source.of(pipe).path.read_bytes() == JPEG


@pytest.mark.parametrize(
    ("file", "error", "words"),
    [
        (io.StringIO("text"), UsageError, "open it with mode 'rb'"),
        (7, UsageError, "not as int"),
        (None, UsageError, "not as NoneType"),
    ],
)
def test_what_is_no_binary_file_is_said(room: Path, file, error, words):
    with pytest.raises(error, match=words):
        Source.of(file)
    assert not list(room.iterdir())


def test_a_file_that_cannot_be_read_is_said(room: Path):
    closed = io.BytesIO(JPEG)
    closed.close()
    with pytest.raises(
        FileUnreadable, match=r"<bytes> cannot be read: .*closed file; open it again"
    ):
        Source.of(closed)
    assert not list(room.iterdir())


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    monkeypatch.setattr(
        tempfile, "mkstemp", lambda prefix: (os.open("/dev/full", os.O_WRONLY), "/nowhere")
    )
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok=False: None)
    with pytest.raises(OutputUnwritable, match=r"free some space.*TMPDIR"):
        Source.of(b"x" * (1 << 20))


def test_a_path_in_bytes_is_one_where_the_system_gives_it(tmp_path: Path):
    (tmp_path / "ada.jpg").write_bytes(JPEG)
    with os.scandir(os.fsencode(tmp_path)) as found:
        [entry] = [each for each in found if each.is_file()]
    assert Source.of(entry).path == tmp_path / "ada.jpg"
    assert name_of(entry) == str(tmp_path / "ada.jpg")


def test_an_empty_path_is_no_folder():
    with pytest.raises(FileMissing, match="The path is empty"):
        Source.of("")


@pytest.mark.parametrize("around", [lambda unpacking: unpacking, io.BufferedReader])
def test_what_unpacks_a_file_gives_what_was_packed(tmp_path: Path, around):
    packed = tmp_path / "ada.jpg.gz"
    packed.write_bytes(gzip.compress(JPEG))
    with gzip.open(packed) as unpacking:
        source = Source.of(around(unpacking))
    assert source.path.read_bytes() == JPEG
    assert source.shown == str(packed)


def test_a_file_in_text_mode_is_refused_whatever_is_in_it(tmp_path: Path):
    path = tmp_path / "ada.jpg"
    path.write_bytes(JPEG)
    with path.open(encoding="utf-8") as text, pytest.raises(UsageError, match="mode 'rb'"):
        Source.of(text)


def test_a_file_whose_read_must_be_awaited_is_told(recwarn: pytest.WarningsRecorder):
    class UploadFile:
        async def read(self, size: int = -1) -> bytes:
            return b""

    with pytest.raises(UsageError, match=r"UploadFile is read with await: .*UploadFile\.file"):
        Source.of(UploadFile())  # type: ignore[arg-type]
    gc.collect()
    assert not recwarn.list

"""Images whose header claims no pixels: a finding in words on every way, never a traceback."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pillow_heif
import pytest
from PIL import Image

import palprep
from palprep.errors import DamagedMedia, MediaError
from palprep.values import Role


def heic(portrait: Path, target: Path) -> bytes:
    """The portrait as a HEIC without turns: libheif opens it without its size, too."""
    opened = pillow_heif.open_heif(portrait).to_pillow().resize((64, 64))
    pillow_heif.from_pillow(opened).save(target)
    return target.read_bytes()


def without_size(content: bytes) -> bytes:
    assert b"ispe" in content
    return content.replace(b"ispe", b"free")


@pytest.fixture(params=["portrait", "encoded again"])
def sizeless(request, sample_media: Path, tmp_path: Path) -> Path:
    portrait = sample_media / "people/jane-carter/portrait.heic"
    path = tmp_path / "sizeless.heic"
    content = portrait.read_bytes() if request.param == "portrait" else heic(portrait, path)
    path.write_bytes(without_size(content))
    return path


def test_a_heic_without_its_size_is_damaged(sizeless: Path, tmp_path: Path) -> None:
    report = palprep.check(sizeless, role=Role.FACE_IMAGE)
    assert (report.error.code, report.verdict) == ("media_damaged", "fail")
    assert "sizeless.heic" in report.error.message
    assert "export it again" in report.error.message
    with pytest.raises(DamagedMedia, match="export it again"):
        palprep.prepare(sizeless, into=tmp_path / "out")
    with pytest.raises(DamagedMedia, match="export it again"):
        palprep.pick_best([sizeless])
    assert not list((tmp_path / "out").glob("*"))


def png(content: bytearray, width: int, height: int) -> None:
    content[16:24] = struct.pack(">II", width, height)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))


def jpeg(content: bytearray, width: int, height: int) -> None:
    at = content.index(b"\xff\xc0")
    content[at + 5 : at + 9] = struct.pack(">HH", height, width)


def webp(content: bytearray, width: int, height: int) -> None:
    at = content.index(b"\x9d\x01\x2a")
    content[at + 3 : at + 7] = struct.pack("<HH", width, height)


def gif(content: bytearray, width: int, height: int) -> None:
    content[6:10] = struct.pack("<HH", width, height)


def bmp(content: bytearray, width: int, height: int) -> None:
    content[18:26] = struct.pack("<II", width, height)


def tiff(content: bytearray, width: int, height: int) -> None:
    (at,) = struct.unpack_from("<I", content, 4)
    (count,) = struct.unpack_from("<H", content, at)
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        (tag,) = struct.unpack_from("<H", content, entry)
        if tag in {256, 257}:
            content[entry + 4 : entry + 8] = struct.pack("<I", 1)
            content[entry + 8 : entry + 12] = struct.pack("<I", width if tag == 256 else height)


@pytest.mark.parametrize("size", [(0, 0), (0, 64), (64, 0)])
@pytest.mark.parametrize("claim", [png, jpeg, webp, gif, bmp, tiff], ids=lambda each: each.__name__)
def test_no_format_may_claim_nothing(tmp_path: Path, claim, size: tuple[int, int]) -> None:
    path = tmp_path / f"nothing.{claim.__name__}"
    Image.new("RGB", (64, 64), "red").save(path)
    content = bytearray(path.read_bytes())
    claim(content, *size)
    assert bytes(content) != path.read_bytes()
    path.write_bytes(content)
    report = palprep.check(path, role=Role.FACE_IMAGE)
    assert report.error.code in {"media_damaged", "media_unsupported"}
    assert path.name in report.error.message
    with pytest.raises(MediaError):
        palprep.prepare(path, into=tmp_path / "out")

"""What an image is: one table answers the checks, the clients and the sandbox alike."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from raw import Raw

from palprep.api.records.fields import ImageMime
from palprep.client import open_upload
from palprep.media.sources import Source
from palprep.sandbox import Sandbox


def ftyp(*brands: bytes) -> bytes:
    body = b"ftyp" + brands[0] + b"\0\0\0\0" + b"".join(brands[1:])
    return (len(body) + 4).to_bytes(4, "big") + body


HEADS: dict[str, tuple[bytes, str | None]] = {
    "jpeg": (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "image/jpeg"),
    "png": (b"\x89PNG\r\n\x1a\n", "image/png"),
    "webp": (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    **{
        brand: (ftyp(brand.encode()), "image/heic")
        for brand in ("heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs")
    },
    **{
        brand: (ftyp(brand.encode()), "image/heif")
        for brand in ("mif1", "mif2", "msf1", "miaf", "1pic")
    },
    "heic among others": (ftyp(b"heic", b"mif1", b"avif"), "image/heic"),
    "mif1 with heic": (ftyp(b"mif1", b"miaf", b"heic"), "image/heic"),
    "mif1 with avif": (ftyp(b"mif1", b"avif"), None),
    "avif": (ftyp(b"avif", b"mif1"), None),
    "avis": (ftyp(b"avis", b"avif"), None),
    "isom with heic": (ftyp(b"isom", b"heic"), "image/heic"),
    "mp4": (ftyp(b"isom", b"mp42"), None),
    "mov": (ftyp(b"qt  "), None),
    "cr3": (ftyp(b"crx ", b"isom"), None),
    "gif": (b"GIF89a", None),
    "tiff": (b"II*\0", None),
    "jxl": (b"\xff\x0a", None),
    "wav": (b"RIFF\0\0\0\0WAVEfmt ", None),
    "mp3": (b"ID3\4\0\0\0\0\0\0\xff\xfb\x90\x64", None),
    "text": (b"not an image", None),
    "nothing": (b"", None),
}


@pytest.fixture(scope="module")
def raw() -> Iterator[Raw]:
    with Sandbox() as sandbox, Raw(sandbox) as running:
        yield running


@pytest.mark.parametrize(("head", "mime"), HEADS.values(), ids=HEADS)
def test_every_door_gives_the_same_answer(
    raw: Raw, tmp_path: Path, head: bytes, mime: str | None
) -> None:
    content = head + bytes(2000) if head else b""
    path = tmp_path / "file"
    path.write_bytes(content)
    found = Source.of(path).type
    assert (found.mime if found.kind == "image" else None) == mime
    assert open_upload(content).mime() == mime
    body = {"imageBase64": base64.b64encode(content or b"-").decode()}
    accepted = {
        claimed.replace("heif", "heic")
        for claimed in get_args(ImageMime)
        if raw.send("POST", "/v2/faces/image-validation", body | {"mimeType": claimed}).is_success
    }
    assert accepted == ({mime.replace("heif", "heic")} if mime else set())


def test_every_image_that_checks_accept_is_one_that_the_service_takes() -> None:
    assert {mime for _, mime in HEADS.values() if mime} == set(get_args(ImageMime))

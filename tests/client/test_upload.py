"""The validation image on its way: exact, bounded, typed by content, from any source."""

from __future__ import annotations

import asyncio
import base64
import gc
import hashlib
import io
import json
import os
import threading
import tracemalloc
from pathlib import Path

import httpx
import pytest
from hypothesis import given, strategies as st
from loopback import answer, loopback

from palprep import errors
from palprep.api import StreamedBody
from palprep.client import AsyncClient, Client
from palprep.client.resources import PIECE_BYTES, open_upload

JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) * 4
RESULT = b'{"passed":true,"message":"","checks":[],"details":{}}'
MIB = 1024 * 1024
LARGEST = 22_020_096
"""29,360,128 / 4 * 3."""


def ftyp(*brands: bytes) -> bytes:
    body = b"ftyp" + brands[0] + b"\0\0\0\0" + b"".join(brands[1:])
    return (len(body) + 4).to_bytes(4, "big") + body + bytes(16)


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (JPEG, "image/jpeg"),
        (b"\x89PNG\r\n\x1a\n" + bytes(24), "image/png"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (ftyp(b"heic", b"mif1"), "image/heic"),
        (ftyp(b"mif1", b"heic"), "image/heic"),
        (ftyp(b"mif1", b"miaf"), "image/heif"),
        (ftyp(b"avif", b"mif1"), None),
        (ftyp(b"mif1", b"avif"), None),
        (ftyp(b"isom", b"mp42"), None),
        (b"GIF89a" + bytes(20), None),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", None),
        (b"", None),
    ],
)
def test_the_type_is_found_by_content(head: bytes, mime: str | None) -> None:
    assert open_upload(head).mime() == mime


class Pipe(io.RawIOBase):
    """Cannot seek, and gives little at a time."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data
        self._at = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece = self._data[self._at : self._at + max(1, size // 500)]
        self._at += len(piece)
        return piece


@pytest.mark.parametrize("kind", ["str", "path", "bytes", "bytearray", "view", "file", "pipe"])
def test_any_source_gives_the_same_body(api, service, tmp_path, kind) -> None:
    path = tmp_path / "face.png"
    path.write_bytes(JPEG)
    later = io.BytesIO(b"skipped" + JPEG)
    later.seek(7)
    image = {
        "str": str(path), "path": path, "bytes": JPEG, "bytearray": bytearray(JPEG),
        "view": memoryview(JPEG), "file": later, "pipe": Pipe(JPEG),
    }[kind]  # fmt: skip
    # The first attempt fails after sending, so that the body is made twice.
    service.will(httpx.Response(502), httpx.Response(200, content=RESULT))
    assert api("faces.validate_image", image, model="core-4").passed
    for request in service.requests:
        assert json.loads(request.read()) == {
            "imageBase64": base64.b64encode(JPEG).decode(),
            "mimeType": "image/jpeg",
            "model": "core-4",
        }
        assert request.headers["content-length"] == str(len(request.read()))


def test_a_file_is_left_where_it_stood_and_its_end_is_told(api, service) -> None:
    image = io.BytesIO(b"skipped" + JPEG)
    image.seek(7)
    for _ in range(2):
        service.will(httpx.Response(200, content=RESULT))
        assert api("faces.validate_image", image, model="core-4").passed
        assert image.tell() == 7
    image.read()
    with pytest.raises(errors.UsageError, match="stands at its end"):
        api("faces.validate_image", image, model="core-4")


@given(st.integers(0, 3 * PIECE_BYTES + 2))
def test_the_length_is_exact(size: int) -> None:
    upload = open_upload(bytes(size))
    assert upload.chars == len(base64.b64encode(bytes(size)))
    assert sum(map(len, upload)) == upload.chars
    body = StreamedBody(b'{"imageBase64":"', upload, b'","mimeType":"image/png"}')
    assert sum(map(len, body)) == len(body)


def test_what_is_logged_of_an_upload_is_its_length(service) -> None:
    seen = []
    service.will(httpx.Response(200, content=RESULT))
    with Client(
        api_key="k",
        base_url="https://e.com",
        transport=httpx.MockTransport(service),
        on_request=[lambda call: seen.append(call.describe()["body"])],
    ) as client:
        client.replicas.validate_image(image=JPEG)
    assert seen == [{"imageBase64": "<1372 characters>", "mimeType": "image/jpeg"}]


@pytest.mark.parametrize("over", [0, 1])
def test_the_limit_is_exact_to_the_byte(service, tmp_path, over) -> None:
    path = tmp_path / "large.jpg"
    with path.open("wb") as file:
        file.write(JPEG)
        file.truncate(LARGEST + over)

    def count(request: httpx.Request) -> httpx.Response:
        document = json.loads(request.read())
        assert len(document["imageBase64"]) == 29_360_128
        return httpx.Response(200, content=RESULT)

    service.will(count)
    with Client(
        api_key="k", base_url="https://e.com", transport=httpx.MockTransport(service)
    ) as client:
        if not over:
            assert client.faces.validate_image(path).passed
            return
        for image in (path, path.read_bytes(), Pipe(path.read_bytes())):
            with pytest.raises(errors.InvalidRequest, match="29,360,128") as refused:
                client.faces.validate_image(image)
            assert refused.value.field == "imageBase64"
        assert service.requests == []


def test_what_cannot_be_an_image_is_refused(api, service, tmp_path) -> None:
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "text.jpg").write_text("not a picture, whatever its name")
    for image, kind, said in [
        (tmp_path / "none.jpg", errors.FileMissing, "does not exist"),
        (tmp_path, errors.FileMissing, "is a folder"),
        ("a\0b", errors.FileMissing, "no possible file name"),
        (tmp_path / "empty.jpg", errors.InvalidRequest, "empty"),
        (tmp_path / "text.jpg", errors.InvalidRequest, "mimeType"),
        (io.StringIO("text"), errors.UsageError, "rb"),
        (7, errors.UsageError, "int"),
    ]:
        with pytest.raises(kind, match=said):
            api("faces.validate_image", image)
    with pytest.raises(errors.InvalidRequest, match="mimeType"):
        api("faces.validate_image", JPEG, mime_type="image/gif")
    assert service.requests == []


@pytest.mark.parametrize("before", ["", "data:image/jpeg;base64,"])
def test_base64_in_place_of_a_file_is_not_shown_whole(api, service, before) -> None:
    text = before + base64.b64encode(JPEG * 9_000).decode()
    with pytest.raises(errors.FileMissing, match=r"file name; .* bytes") as refused:
        api("faces.validate_image", text)
    assert len(refused.value.message) < 250
    assert service.requests == []


def test_a_file_that_shrinks_while_it_is_sent_is_told(tmp_path) -> None:
    path = tmp_path / "face.jpg"
    path.write_bytes(JPEG)
    upload = open_upload(path)
    os.truncate(path, 10)
    with pytest.raises(errors.FileUnreadable, match="changed"):
        list(upload)


@pytest.mark.parametrize("later", [b"\xff\xd8\xff\xe0" + bytes(2 * MIB), b"\xff" * (3 * MIB)])
def test_a_file_that_is_written_to_while_it_is_sent_is_not_sent_whole(tmp_path, later) -> None:
    path = tmp_path / "face.jpg"
    path.write_bytes(JPEG[:4] + b"\xff" * (2 * MIB))
    body = StreamedBody(b'{"imageBase64":"', open_upload(path), b'"}')
    pieces = iter(body)
    sent = [next(pieces) for _ in range(3)]
    path.write_bytes(later)
    with pytest.raises(errors.FileUnreadable, match=r"face\.jpg changed"):
        sent.extend(pieces)
    assert sum(map(len, sent)) < len(body)


def _large(tmp_path: Path, size: int) -> tuple[Path, str]:
    """A file of incompressible size, and the digest of the body that must arrive."""
    path = tmp_path / "large.jpg"
    digest = hashlib.sha256(b'{"imageBase64":"')
    piece = JPEG[:4] + os.urandom(3 * MIB - 4)
    with path.open("wb") as file:
        for at in range(0, size, len(piece)):
            part = piece[: size - at]
            file.write(part)
            digest.update(base64.b64encode(part))
    digest.update(b'","mimeType":"image/jpeg"}')
    return path, digest.hexdigest()


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_21_mib_image_needs_little_memory(tmp_path, kind) -> None:
    path, digest = _large(tmp_path, 21 * MIB)
    with loopback(answer(RESULT)) as server:
        options = {"api_key": "k", "base_url": server.url, "trust_env": False}

        async def upload_async() -> None:
            async with AsyncClient(**options) as client:
                await client.faces.validate_image(path)

        def upload() -> None:
            with Client(**options) as client:
                client.faces.validate_image(path)

        run = upload if kind == "sync" else lambda: asyncio.run(upload_async())
        run()
        gc.collect()
        assert threading.active_count() < 10
        tracemalloc.start()
        try:
            run()
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert server.arrived[1].sha256 == digest
        assert server.arrived[1].size == int(server.arrived[1].headers["content-length"])
    assert peak < 8 * MIB


def test_a_file_that_cannot_be_read_is_told(tmp_path) -> None:
    path = tmp_path / "ada.jpg"
    path.write_bytes(JPEG)
    with path.open(encoding="utf-8") as text, pytest.raises(errors.UsageError, match="mode 'rb'"):
        _ = open_upload(text).mime
    with path.open("rb") as closed:
        pass
    with pytest.raises(errors.FileUnreadable, match="closed file"):
        open_upload(closed)


def test_calls_at_once_with_one_file_send_all_of_it_each(tmp_path) -> None:
    path, digest = _large(tmp_path, 1 * MIB)
    sent: list[str] = []

    async def take(request: httpx.Request) -> httpx.Response:
        body = hashlib.sha256()
        async for piece in request.stream:  # type: ignore[union-attr]
            body.update(piece)
            await asyncio.sleep(0)
        sent.append(body.hexdigest())
        return httpx.Response(200, content=RESULT)

    class Slow(httpx.AsyncBaseTransport):
        handle_async_request = staticmethod(take)

    async def upload() -> None:
        async with AsyncClient(api_key="k", base_url="https://e.com", transport=Slow()) as client:
            with path.open("rb") as image:
                calls = [client.faces.validate_image(image) for _ in range(4)]
                await asyncio.gather(*calls)

    asyncio.run(upload())
    assert sent == [digest] * 4


def test_a_file_stands_where_it_stood_after_a_call_that_was_given_up() -> None:
    image = io.BytesIO(b"skipped" + JPEG * 1000)
    image.seek(7)
    upload = open_upload(image)
    given_up = iter(upload)
    first = next(given_up)
    assert image.tell() == 7
    again = iter(upload)
    assert next(again) == first
    given_up.close()  # type: ignore[attr-defined]
    assert base64.b64decode(first + b"".join(again)) == JPEG * 1000

"""Files on the web: what is fetched, how far, and what is never said of a link."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator

import httpx
import pytest
from loopback import answer, loopback, stop_halfway

from palprep.errors import OutputUnwritable, StorageError
from palprep.storage import fetch_url, look_at_url, web

LINK = "https://user:pass@files.example/ada/voice.wav?X-Signature=secret"
SHOWN = "https://files.example/ada/voice.wav"
BODY = b"RIFF" * 1000


UNFETCHABLE = (
    "https://xn--/a.mp4?secret",
    "https://a..b/",
    f"https://{'a' * 64}.com/",
    "https://[::1/a?secret",
    "https://127.0.0.1:99999/",
    "https://xn--ls8h.la/",
)


@pytest.fixture(autouse=True)
def names(monkeypatch):
    """Every name but that of the intranet is of the web, and nobody is asked about it."""

    def public(host: str) -> list[str]:
        if host.startswith(("127.", "localhost")):
            return [host]
        return ["10.0.0.7" if host.startswith("intra") else "93.184.215.14"]

    monkeypatch.setattr(web, "resolved", public)


def server(*replies: httpx.Response, asked: list[httpx.Request] | None = None):
    left = list(replies)

    def handle(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(request)
        return left.pop(0)

    return {"transport": httpx.MockTransport(handle)}


def to(place: str) -> httpx.Response:
    return httpx.Response(302, headers={"Location": place})


def test_a_file_is_fetched_whole(tmp_path):
    asked: list[httpx.Request] = []
    reply = httpx.Response(200, content=BODY, headers={"ETag": '"7"'})
    found = fetch_url(LINK, tmp_path / "a", max_bytes=len(BODY), **server(reply, asked=asked))
    assert (tmp_path / "a").read_bytes() == BODY
    assert found == (hashlib.sha256(BODY).hexdigest(), len(BODY), '"7"')
    assert asked[0].url.query == b"X-Signature=secret"
    assert [each.name for each in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("headers", "tag"),
    [({"ETag": '"7"', "Last-Modified": "x"}, '"7"'), ({"Last-Modified": "Sun"}, "Sun"), ({}, None)],
)
def test_what_changes_with_the_file(headers, tag):
    found = look_at_url(LINK, **server(httpx.Response(200, content=BODY, headers=headers)))
    assert found == (SHOWN, len(BODY), tag)


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        ([httpx.Response(404)], "there is no such file"),
        ([httpx.Response(403)], "A signed link may have expired"),
        ([httpx.Response(401)], "asks for credentials"),
        ([httpx.Response(503)], "with status 503: the server is busy, or has a problem. Try again"),
        ([httpx.Response(429)], "with status 429: the server is busy"),
        ([httpx.Response(400)], "with status 400: check the address"),
        ([to("http://files.example/a")], "without https"),
        ([to("https://intra.example/a")], "private network"),
        ([to(SHOWN)] * 6, "redirects more than 5 times"),
        ([to("https://xn--/a")], "cannot be fetched"),
        ([to("https://[::1/a")], "cannot be fetched"),
    ],
)
def test_what_cannot_be_fetched_is_a_sentence_without_secrets(tmp_path, replies, said):
    with pytest.raises(StorageError) as caught:
        fetch_url(LINK, tmp_path / "a", max_bytes=10**6, **server(*replies))
    assert said in str(caught.value)
    assert SHOWN in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "pass" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("link", UNFETCHABLE)
def test_an_address_that_no_one_can_ask(tmp_path, link):
    with pytest.raises(StorageError, match="cannot be fetched") as caught:
        fetch_url(link, tmp_path / "a", max_bytes=10**6)
    assert "secret" not in str(caught.value)


def test_a_link_may_lead_on_and_an_intranet_may_be_meant(tmp_path):
    replies = (to("https://cdn.example/b"), httpx.Response(200, content=BODY))
    assert fetch_url(LINK, tmp_path / "a", max_bytes=10**6, **server(*replies)).size_bytes == len(
        BODY
    )
    replies = (to("http://intra.example/b"), httpx.Response(200, content=BODY))
    found = fetch_url(
        "https://intra.example/a", tmp_path / "b", max_bytes=10**6, **server(*replies)
    )
    assert found.size_bytes == len(BODY)


def test_the_body_of_a_redirect_is_not_read(tmp_path):
    def endless() -> Iterator[bytes]:
        raise AssertionError("read")
        yield b""

    moved = httpx.Response(302, headers={"Location": SHOWN}, content=endless())
    replies = server(moved, httpx.Response(200, content=BODY))
    assert fetch_url(LINK, tmp_path / "a", max_bytes=10**6, **replies).size_bytes == len(BODY)


def test_size_and_time_are_bounded(tmp_path):
    options = server(httpx.Response(200, content=BODY))
    with pytest.raises(StorageError, match=r"more than 3,999 bytes"):
        fetch_url(LINK, tmp_path / "a", max_bytes=3999, **options)
    now = iter((0.0, 61.0))
    options = {**server(httpx.Response(200, content=BODY)), "clock": lambda: next(now)}
    with pytest.raises(StorageError, match="not arrived within 60 s"):
        fetch_url(LINK, tmp_path / "a", max_bytes=4000, within_s=60.0, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_connection_that_breaks_off(tmp_path):
    with loopback(stop_halfway) as broken, pytest.raises(StorageError, match="cut off"):
        fetch_url(f"{broken.url}/a", tmp_path / "a", max_bytes=1000)
    with pytest.raises(StorageError, match="Check the address and the network"):
        fetch_url(f"{broken.url}/a", tmp_path / "a", max_bytes=1000)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "what://x"),
        ("ALL_PROXY", "http://u:secret/@h"),
        ("SSL_CERT_FILE", "/nowhere.pem"),
    ],
)
def test_a_proxy_or_certificates_that_cannot_be_used_are_told(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(StorageError, match="or these certificates, cannot") as caught:
        look_at_url(LINK)
    assert "secret" not in str(caught.value)


def test_a_head_that_drips(tmp_path):
    def drip(connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nx-endless: ")
        with contextlib.suppress(OSError):
            for _ in range(100):
                connection.sendall(b" ")
                time.sleep(0.05)

    with loopback(drip) as slow:
        started = time.monotonic()
        with pytest.raises(StorageError, match="the server did not answer in time"):
            fetch_url(f"{slow.url}/a", tmp_path / "a", max_bytes=1000, within_s=0.3)
        assert time.monotonic() - started < 3
    assert list(tmp_path.iterdir()) == []


def test_over_a_real_connection(tmp_path):
    with loopback(answer(BODY)) as real:
        assert look_at_url(f"{real.url}/a").size_bytes == len(BODY)
        fetch_url(f"{real.url}/a", tmp_path / "a", max_bytes=4000)
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_folder_that_cannot_be_made(tmp_path):
    reply = httpx.Response(200, content=BODY)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputUnwritable, match="a file stands where the folder should be"):
        fetch_url(LINK, tmp_path / "file" / "a", max_bytes=4000, **server(reply))

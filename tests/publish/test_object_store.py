"""A bucket: files are uploaded once, links are tried, and what is wrong is said before the work."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from bucket import KEYS, real_bucket
from scripted_bucket import answering

from palprep.errors import PublishError, StorageError, UsageError
from palprep.publish import Content, ObjectStorePublisher
from palprep.storage import PROBE, Bucket

pytestmark = pytest.mark.usefixtures("impatient")
HTTP: Any = {"allow_http": True}


@pytest.fixture
def clip(tmp_path) -> Path:
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom" + b"x" * 2_000_000)
    return path


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[str]:
    """The endpoint of a real S3 on loopback with an empty bucket ``media``."""
    with real_bucket(tmp_path_factory.mktemp("s3")) as endpoint:
        yield endpoint


@pytest.fixture
def s3() -> Iterator[Callable[..., ObjectStorePublisher]]:
    """Opens publishers into ``s3://media/people`` at an endpoint."""
    with contextlib.ExitStack() as stack:

        def opened(
            endpoint: str, transport: httpx.BaseTransport | None = None, **config: str
        ) -> ObjectStorePublisher:
            publisher = ObjectStorePublisher(
                "s3://media/people",
                config={**KEYS, **HTTP, "endpoint": endpoint, **config},
                transport=transport,
            )
            return stack.enter_context(publisher)

        yield opened


def stored(endpoint: str) -> Bucket:
    return Bucket("s3://media/people", config={**KEYS, **HTTP, "endpoint": endpoint})


@pytest.mark.parametrize("url", ["http://example.com/x", "file:///tmp", "memory://", "bucket"])
def test_only_buckets_that_can_sign(url):
    with pytest.raises(UsageError, match="give one of s3://BUCKET"):
        ObjectStorePublisher(url)


@pytest.mark.parametrize("expires", [timedelta(hours=23), timedelta(days=7, seconds=1)])
def test_urls_last_from_one_day_to_seven(expires):
    with pytest.raises(UsageError, match="from 1 day up to 7 days"):
        ObjectStorePublisher("s3://bucket", expires=expires)
    with pytest.raises(UsageError, match="expires takes timedelta, not int"):
        ObjectStorePublisher("s3://bucket", expires=2)
    for days in (1, 7):
        ObjectStorePublisher("s3://bucket", expires=timedelta(days=days)).close()


def test_a_real_bucket_hands_the_file_to_whoever_has_the_url(clip, server, s3):
    url = s3(server).publish(clip, "Zoë.mp4")
    fetched = httpx.get(url)
    assert fetched.status_code == 200
    assert fetched.content == clip.read_bytes()
    assert fetched.headers["content-type"] == "video/mp4"
    assert urlsplit(url).path == f"/media/people/{Content.of(clip).stored_name('Zoë.mp4')}"
    assert "X-Amz-Expires=172800" in url
    assert httpx.get(url.split("?")[0]).status_code == 403


def test_what_is_there_already_is_not_uploaded_again(clip, server, monkeypatch, s3):
    publisher = s3(server)
    first = publisher.publish(clip, "again.mp4")
    monkeypatch.setattr(Bucket, "put", lambda *_: pytest.fail("uploaded twice"))
    second = publisher.publish(clip, "again.mp4")
    assert urlsplit(second).path == urlsplit(first).path
    assert httpx.get(second).content == clip.read_bytes()


def test_a_key_without_the_right_to_list_publishes(clip, server, monkeypatch, s3):
    """S3 then answers 403 to a question for what is not there: nothing was ever published."""

    def refuse(bucket: Bucket, name: str) -> None:
        raise StorageError(f"{bucket.url}/{name}: AccessDenied")

    monkeypatch.setattr(Bucket, "look", refuse)
    assert httpx.get(s3(server).publish(clip, "unlisted.mp4")).content == clip.read_bytes()


def test_something_else_under_the_name_is_written_again(clip, server, s3):
    """Of another program, or half of an upload: as long, and with another content or type."""
    key = Content.of(clip).stored_name("other.mp4")
    for content, mime in ((b"y" * clip.stat().st_size, "video/mp4"), (clip.read_bytes(), "a/b")):
        stored(server).put(key, content, mime)
        fetched = httpx.get(s3(server).publish(clip, "other.mp4"))
        assert fetched.content == clip.read_bytes()
        assert fetched.headers["content-type"] == "video/mp4"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (httpx.Response(403), "gets status 403. The service would get the same; let whoever"),
        (httpx.Response(503), "gets status 503. The service would get the same; try again later"),
        (httpx.Response(200, content=b"short"), "gives 5 bytes instead of 2,000,024"),
        (
            httpx.Response(200, headers={"content-length": "2000024", "content-type": "text/html"}),
            "gives the type text/html instead of video/mp4",
        ),
        (
            httpx.Response(200, content=b"z" * 2_000_024, headers={"content-type": "video/mp4"}),
            "gives other content than was written",
        ),
        (httpx.ConnectError("no route"), "does not work from here: no route. The service could"),
    ],
)
def test_a_link_that_gives_something_else_is_never_handed_out(clip, server, answer, said, s3):
    """As where a proxy, or a rule of the bucket's, stands between the service and the file."""

    def between(request: httpx.Request) -> httpx.Response:
        assert "authorization" not in request.headers
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(PublishError, match=r"The link to \w+-clip\.mp4 at 127\.0\.0\.1") as caught:
        s3(server, httpx.MockTransport(between)).publish(clip)
    assert said in str(caught.value)
    assert "Signature" not in str(caught.value)


def test_trying_a_link_reads_only_the_beginning(clip, server, s3):
    read = 0

    class Stream(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            nonlocal read
            content = clip.read_bytes()
            for at in range(0, len(content), 4096):
                read += 1
                yield content[at : at + 4096]

    headers = {"content-type": "video/mp4", "content-length": str(clip.stat().st_size)}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, headers=headers, stream=Stream()))
    assert s3(server, transport).publish(clip)
    assert 1 <= read < 5


def test_a_long_session_token_makes_too_long_a_url(clip, server, monkeypatch, s3):
    publisher = s3(server, session_token="t" * 2000)
    monkeypatch.setattr(Bucket, "look", lambda *_: None)
    monkeypatch.setattr(Bucket, "put", lambda *_: None)
    with pytest.raises(PublishError, match="temporary session tokens"):
        publisher.publish(clip, clip.name)


def test_the_clouds_environment_variables_are_enough(clip, server, monkeypatch):
    """As `palprep run --publish-to` finds them, plain http included."""
    for name, value in (*KEYS.items(), ("endpoint", server), ("allow_http", "true")):
        monkeypatch.setenv(f"AWS_{name.upper()}", value)
    with ObjectStorePublisher("s3://media/people") as publisher:
        assert publisher.probe() == ()
        url = publisher.publish(clip, "environment.mp4")
    assert httpx.get(url).content == clip.read_bytes()


def test_a_probe_writes_one_small_file_and_reads_it_by_its_link(server, s3):
    publisher = s3(server)
    assert publisher.probe() == publisher.probe() == ()
    found = stored(server).look(PROBE.name)
    assert found is not None
    assert 0 < found.size_bytes < 200


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            {"secret_access_key": "wrong"},
            "are not accepted (SignatureDoesNotMatch)",
        ),
        ({"endpoint": "http://127.0.0.1:9"}, "http://127.0.0.1:9 does not answer"),
    ],
)
def test_a_probe_says_what_is_wrong(clip, server, config, said, s3):
    publisher = s3(**{"endpoint": server, **config})
    with pytest.raises(PublishError, match="Nothing can be published: s3://media") as caught:
        publisher.probe()
    assert said in str(caught.value)
    assert KEYS["secret_access_key"] not in str(caught.value)
    with pytest.raises(PublishError, match=r"clip\.mp4 could not be published"):
        publisher.publish(clip)


def test_a_link_is_followed_and_asked_for_without_a_proxy_on_loopback(server, monkeypatch, s3):
    def moved(request: httpx.Request) -> httpx.Response:
        if request.url.path != "/moved":
            return httpx.Response(307, headers={"location": "/moved"})
        return httpx.Response(200, content=PROBE.content, headers={"content-type": "text/plain"})

    monkeypatch.setattr(Bucket, "put", lambda *_: None)
    assert s3(server, httpx.MockTransport(moved)).probe() == ()
    with answering(404, "of a proxy") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy)
        with pytest.raises(PublishError, match="does not work from here"):
            s3("http://127.0.0.1:9").probe()


def test_a_bucket_that_is_missing_is_named_before_the_work(s3):
    with (
        answering(404, "NoSuchBucket") as address,
        pytest.raises(PublishError, match="there is no such bucket"),
    ):
        s3(address).probe()


@pytest.mark.parametrize(
    ("environ", "when"),
    [
        ({}, "with their session, after some hours"),
        ({"AWS_CREDENTIAL_EXPIRATION": "soon"}, "with their session, after some hours"),
        (
            {"AWS_CREDENTIAL_EXPIRATION": "2026-11-22T16:05:00+02:00"},
            "with their session, on 2026-11-22 at 14:05 UTC",
        ),
    ],
)
def test_temporary_credentials_are_told(environ, when, server, monkeypatch, s3):
    monkeypatch.delenv("AWS_CREDENTIAL_EXPIRATION", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Bucket, "put", lambda *_: None)
    plain = {"content-type": "Text/plain; charset=utf-8"}
    fine = httpx.MockTransport(lambda _: httpx.Response(200, content=PROBE.content, headers=plain))
    [note] = s3(server, fine, session_token="token").probe()
    assert when in note


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ALL_PROXY", "what://x", "Unknown scheme for proxy"),
        ("ALL_PROXY", "http://proxy:port", "cannot be read"),
        ("SSL_CERT_FILE", "/nowhere.pem", "No such file"),
    ],
)
def test_a_proxy_or_certificates_that_cannot_be_used_are_told(monkeypatch, name, value, said):
    monkeypatch.setenv(name, value)
    with pytest.raises(PublishError, match=said):
        ObjectStorePublisher("s3://bucket")

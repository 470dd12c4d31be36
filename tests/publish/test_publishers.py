"""Publishing: content-addressed names, bounded URLs, and errors that say what to do."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import httpx
import pytest
from scripted_bucket import answering

from palprep.errors import PublishError, ServiceUnreachable, UsageError
from palprep.publish import Content, ObjectStorePublisher, SandboxPublisher
from palprep.publish.content import MAX_URL_CHARS, checked_url


@pytest.fixture
def clip(tmp_path) -> Path:
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"x" * 3_000_000)
    return path


class Host:
    """An asset host in memory."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}
        self.answer = lambda name: httpx.Response(200, json={"url": f"http://h/assets/t/{name}"})

    def __call__(self, request: httpx.Request) -> httpx.Response:
        assert request.method == "PUT"
        name = unquote(request.url.path.removeprefix("/_sandbox/assets/"))
        assert request.headers["content-length"] == str(len(request.read()))
        assert "transfer-encoding" not in request.headers
        self.stored[name] = request.content
        return self.answer(name)


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def publisher(host) -> SandboxPublisher:
    return SandboxPublisher("http://127.0.0.1:1", transport=httpx.MockTransport(host))


def test_names_hold_the_content_and_the_extension(clip):
    digest = hashlib.sha256(clip.read_bytes()).hexdigest()
    assert Content.of(clip).stored_name("Zoë's clip.MP4") == f"{digest[:20]}-Zoe-s-clip.mp4"
    assert Content.of(clip).stored_name("../../etc/passwd.mp4") == f"{digest[:20]}-passwd.mp4"
    assert Content.of(clip).stored_name("日本.mp4") == f"{digest[:20]}-file.mp4"
    assert Content.of(clip).stored_name("no-extension").endswith("-no-extension.mp4")
    assert Content.of(clip).stored_name("n" * 300) == f"{digest[:20]}-{'n' * 80}.mp4"


class Prepared(NamedTuple):
    """As much of what ``prepare`` returns as publishing needs."""

    path: Path
    sha256: str
    mime: str | None


def test_what_prepare_returns_brings_its_type_along(clip, publisher, host):
    digest = hashlib.sha256(clip.read_bytes()).hexdigest()
    ready = Prepared(path=clip, sha256=digest, mime="video/mp4")
    assert Content.of(ready).mime == "video/mp4"
    assert publisher.publish(ready).endswith(f"/{digest[:20]}-clip.mp4")
    assert host.stored[f"{digest[:20]}-clip.mp4"] == clip.read_bytes()


def test_what_changed_since_it_was_judged_is_not_published(clip, publisher, host):
    digest = hashlib.sha256(clip.read_bytes()).hexdigest()
    ready = Prepared(path=clip, sha256=digest, mime="video/mp4")
    clip.write_bytes(b"y" * 3_000_000)
    with pytest.raises(
        PublishError, match=r"clip\.mp4 has changed since it was judged: prepare it"
    ):
        publisher.publish(ready)
    clip.unlink()
    with pytest.raises(PublishError, match=r"cannot be read \(No such file.*prepare it again"):
        publisher.publish(ready)
    assert host.stored == {}


def test_what_takes_the_place_of_a_file_while_it_is_sent_is_not_handed_on(clip, publisher, host):
    digest = hashlib.sha256(clip.read_bytes()).hexdigest()
    taken, answer = clip.with_name("taken.mp4"), host.answer
    taken.write_bytes(b"y" * 3_000_000)

    def swapped(name: str) -> httpx.Response:
        taken.replace(clip)
        return answer(name)

    host.answer = swapped
    with pytest.raises(PublishError, match="has changed since it was judged"):
        publisher.publish(Prepared(path=clip, sha256=digest, mime="video/mp4"))


@pytest.mark.parametrize("name", ["clip.wav", None])
def test_bytes_and_binary_files_are_published(clip, publisher, host, name):
    wav = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data\0\0\0\0"
    digest = hashlib.sha256(wav).hexdigest()[:20]
    wanted = f"{digest}-{'clip' if name else 'audio'}.wav"
    assert publisher.publish(wav, name).endswith(wanted)
    assert publisher.publish(io.BytesIO(wav), name).endswith(wanted)
    assert host.stored == {wanted: wav}
    with clip.open("rb") as opened:
        assert publisher.publish(opened).endswith("-clip.mp4")


def test_a_publisher_is_closed_at_the_end_of_its_block(clip, host):
    with SandboxPublisher("http://127.0.0.1:1", transport=httpx.MockTransport(host)) as opened:
        pass
    with pytest.raises(UsageError, match="publisher is closed"):
        opened.publish(clip)


def test_a_name_without_any_extension_is_refused(tmp_path):
    bare = tmp_path / "bare"
    bare.write_bytes(b"x")
    with pytest.raises(PublishError, match="needs its usual extension"):
        Content.of(bare).stored_name("bare")


def test_a_file_that_is_gone_is_a_publish_error(tmp_path, publisher):
    with pytest.raises(PublishError, match=r"gone\.mp4 does not exist"):
        publisher.publish(tmp_path / "gone.mp4", "gone.mp4")


def test_the_sandbox_gets_the_whole_file_and_gives_its_url(clip, publisher, host):
    first = publisher.publish(clip, clip.name)
    assert publisher.publish(clip, clip.name) == first
    [(name, body)] = host.stored.items()
    assert body == clip.read_bytes()
    assert first == f"http://h/assets/t/{name}"
    assert urlsplit(first).path.endswith(".mp4")


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (
            httpx.Response(404, json={"error": "no"}),
            "clip.mp4 could not be sent .* '404 Not Found'",
        ),
        (httpx.Response(200, text="hello"), "clip.mp4 could not be sent"),
        (httpx.Response(200, json={"nope": 1}), "clip.mp4 could not be sent .*: 'url'"),
        (httpx.Response(200, json={"url": "http://h/" + "x" * 2048}), "2057 characters"),
    ],
)
def test_a_host_that_answers_oddly(clip, publisher, host, response, said):
    host.answer = lambda name: response
    with pytest.raises(PublishError, match=said):
        publisher.publish(clip, clip.name)


def test_a_host_that_is_not_there_is_asked_without_the_proxy(clip, monkeypatch):
    with answering(404, "of a proxy") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy)
        with pytest.raises(ServiceUnreachable, match="not be sent to the sandbox's asset host"):
            SandboxPublisher("http://127.0.0.1:9").publish(clip, clip.name)


def test_the_longest_url():
    assert checked_url("u" * MAX_URL_CHARS)
    with pytest.raises(PublishError, match="2049 characters"):
        checked_url("u" * (MAX_URL_CHARS + 1))


def test_what_is_no_file_is_told(publisher):
    with pytest.raises(UsageError, match="not as NoneType"):
        publisher.publish(None)


@pytest.mark.parametrize(
    ("publisher", "said"),
    [
        (SandboxPublisher, "base_url takes str, not NoneType; help.palprep.SandboxPublisher."),
        (ObjectStorePublisher, "url takes str, not NoneType; help.palprep.ObjectStorePublisher."),
    ],
)
def test_a_variable_that_is_not_set_is_no_place(publisher, said):
    with pytest.raises(UsageError, match=said):
        publisher(None)

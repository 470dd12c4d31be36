"""Callbacks over a real socket: the secret path, the bounds, and what the sink gets."""

from __future__ import annotations

import asyncio
import socket
import threading
from functools import partial
from urllib.parse import urlsplit

import httpx
import pytest

from palprep.api.records.replies import ReplicaTraining, VoiceStatusChanged
from palprep.callbacks.server import CallbackServer, Delivery, PublicCallbacks, callback_app
from palprep.errors import JournalError, UnexpectedReply, UsageError

NONCE = "s3cret-path"
VOICE = {"voice_id": "v1", "voice_name": "Ada", "status": "completed"}


class Inbox(list):
    """Keeps what arrives; a sink."""

    def __call__(self, delivery):
        self.append(delivery)

    def look(self, tag):
        return tuple(each for each in self if each.tag == tag)


@pytest.fixture(scope="module")
def served():
    """A server for all tests of this file, and what it hands everything to."""
    inbox = Inbox()
    with CallbackServer(inbox, nonce=NONCE) as running:
        yield running, inbox


@pytest.fixture
def server(served):
    return served[0]


@pytest.fixture
def inbox(served):
    served[1].clear()
    return served[1]


def post(server, path, **options):
    return httpx.post(f"{server.origin}/{path}", trust_env=False, **options)


def test_an_event_reaches_the_sink_before_it_is_answered(server, inbox):
    assert post(server, f"{NONCE}/voice-1", json=VOICE).status_code == 204
    [delivery] = inbox.look("voice-1")
    assert isinstance(delivery.event, VoiceStatusChanged)
    assert delivery.event.status == "completed"
    assert delivery.body == VOICE


def test_the_address_is_the_one_to_hand_out(server, inbox):
    assert server.url_for("replica-1") == f"http://127.0.0.1:{server.port}/{NONCE}/replica-1"
    httpx.post(server.url_for(), json={"replica_id": "r", "status": "error"}, trust_env=False)
    [delivery] = inbox.look(None)
    assert isinstance(delivery.event, ReplicaTraining)


def test_without_a_nonce_each_server_has_its_own(inbox):
    with CallbackServer(inbox) as one, CallbackServer(inbox) as other:
        first, second = (urlsplit(each.url_for()).path for each in (one, other))
        assert first != second
        assert len(first) > 30
        assert httpx.post(one.url_for("t"), json=VOICE, trust_env=False).status_code == 204
    assert inbox.look("t")


def test_a_body_of_unknown_shape_is_kept_whole(server, inbox):
    for body in ({"hello": [1]}, [1, 2], "text", {"voice_id": None, "status": "started"}):
        assert post(server, f"{NONCE}/x", json=body).status_code == 204
    deliveries = inbox.look("x")
    assert [delivery.event for delivery in deliveries] == [None] * 4
    assert deliveries[0].body == {"hello": [1]}


@pytest.mark.parametrize("path", ["", "wrong", "wrong/voice-1", f"{NONCE}x", f"{NONCE}/a/b"])
def test_other_paths_are_not_found(server, inbox, path):
    assert post(server, path, json=VOICE).status_code == 404
    assert inbox.look("voice-1") == ()


def test_whoever_watches_over_it_is_told_that_it_is_ready(server, inbox):
    told = httpx.get(server.url_for("x").replace(f"{NONCE}/x", "health"), trust_env=False)
    assert (told.status_code, told.text) == (200, "ready")
    assert inbox.look("x") == ()


def test_only_posts(server):
    assert httpx.get(server.url_for("x"), trust_env=False).status_code == 405


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"NaN",
        b'{"a": Infinity}',
        b"[" * 60_000,
        b"1e999",
        b"[" * 300 + b"]" * 300,
    ],
)
def test_what_is_not_json_is_refused(server, inbox, body):
    assert post(server, f"{NONCE}/x", content=body).status_code == 400
    assert inbox.look("x") == ()


def test_halves_of_characters_are_mended(server, inbox):
    cut = b'{"voice_id": "v\\ud800", "status": "error", "\\udfff": ["\\ud83d\\ude00"]}'
    assert post(server, f"{NONCE}/x", content=cut).status_code == 204
    [delivery] = inbox.look("x")
    assert delivery.event.voice_id == "v\ufffd"
    assert delivery.body["\ufffd"] == ["\U0001f600"]


@pytest.mark.parametrize("path", ["/guess", "/a/b/c", f"/{NONCE}x/", "/"])
def test_a_stranger_gets_one_answer_for_a_connection(server, path):
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as caller:
        caller.sendall(head.encode())  # The body never comes.
        answer = b"".join(iter(lambda: caller.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert b"location" not in answer.lower()


def test_the_body_is_bounded_whatever_its_length_says(server, inbox):
    assert post(server, f"{NONCE}/x", content=b"1" * 65_537).status_code == 413
    chunks = (b" " * 40_000 for _ in range(3))
    assert post(server, f"{NONCE}/x", content=chunks).status_code == 413
    assert inbox.look("x") == ()


async def test_a_slow_body_is_given_up():
    app = callback_app(lambda delivery: None, nonce=NONCE, within_s=0.05)

    async def trickle():
        yield b"{"
        await asyncio.sleep(5)

    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        reply = await client.post(f"/{NONCE}/x", content=trickle())
    assert reply.status_code == 408


def test_a_sink_that_fails_asks_the_sender_to_come_again_and_tells_what_may_be_lost(caplog):
    def full(delivery):
        raise JournalError("the disk is full")

    with CallbackServer(full, nonce=NONCE) as server:
        assert post(server, f"{NONCE}/x", json=VOICE).status_code == 503
    [told] = caplog.records
    assert told.levelname == "WARNING"
    assert "A callback was not taken, and may not come again. the disk is full." in told.message
    assert "'voice_id': 'v1'" in told.message


def test_slow_sinks_do_not_stop_other_callbacks():
    gate = threading.Barrier(4, timeout=10)
    with CallbackServer(lambda delivery: gate.wait() and None, nonce=NONCE) as server:
        replies = []
        threads = [
            threading.Thread(
                target=lambda n=n: replies.append(post(server, f"{NONCE}/{n}", json=VOICE))
            )
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [reply.status_code for reply in replies] == [204] * 4


def test_a_public_address_in_front(inbox):
    server = CallbackServer(inbox, nonce=NONCE, public_url="https://tunnel.example/")
    assert server.url_for("a") == f"https://tunnel.example/{NONCE}/a"
    server.close()


def test_a_taken_port_is_named(inbox):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"127.0.0.1:{port}.*choose another port"):
            CallbackServer(inbox, nonce=NONCE, port=port)
    with pytest.raises(UsageError, match="choose another port or host"):
        CallbackServer(inbox, nonce=NONCE, host="192.0.2.1")


def test_a_closed_server_hands_out_no_address(inbox):
    with CallbackServer(inbox.append) as server:
        pass
    with pytest.raises(UsageError, match="closed: keep it open"):
        server.url_for("order-7")


def test_the_port_is_free_again_afterwards(inbox):
    with CallbackServer(inbox, nonce=NONCE) as server:
        port = server.port
        post(server, f"{NONCE}/x", json=VOICE)
    with CallbackServer(inbox, nonce=NONCE, port=port) as server:
        assert post(server, f"{NONCE}/x", json=VOICE).status_code == 204


class Awaiting:
    """No async function, and yet what it returns must be awaited."""

    def __call__(self, sink, delivery):
        return sink(delivery)


def test_an_error_of_a_sink_that_is_not_palprep_s_is_a_server_error_and_loses_nothing(caplog):
    def broken(delivery):
        raise ZeroDivisionError("of its own")

    with CallbackServer(broken, nonce=NONCE) as server:
        assert post(server, f"{NONCE}/x", json=VOICE).status_code == 500
    told = [each.message for each in caplog.records if each.name.startswith("palprep.callbacks")]
    assert len(told) == 1
    assert "may not come again. of its own." in told[0]
    assert "'voice_id': 'v1'" in told[0]


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_async_sink_is_awaited_before_the_sender_is_told(wrapped):
    kept = []

    async def sink(delivery):
        await asyncio.sleep(0.05)
        if delivery.tag == "full":
            raise JournalError("the disk is full")
        kept.append(delivery)

    given = partial(Awaiting(), sink) if wrapped else sink
    with CallbackServer(given, nonce=NONCE) as server:
        assert post(server, f"{NONCE}/x", json=VOICE).status_code == 204
        assert [delivery.body for delivery in kept] == [VOICE]
        assert post(server, f"{NONCE}/full", json=VOICE).status_code == 503


@pytest.mark.parametrize(
    "url",
    [
        "https://xn--/",
        "https://a..b",
        f"https://{'a' * 64}.com",
        "https://h:99999",
        "https://a b/",
        "https://u:secret@h/",
        "https://[::1%eth0]/",
        "https://[::1",
        "https://h/a\n",
        "https://h/?tenant=a",
        "https://h/#a",
        "ftp://h/",
        "h",
    ],
)
def test_a_public_address_that_no_one_can_ask(inbox, url):
    with pytest.raises(UsageError, match="The public URL") as caught:
        CallbackServer(inbox, public_url=url)
    assert "secret" not in str(caught.value)
    with pytest.raises(UsageError, match="The public URL"):
        PublicCallbacks(url, "path")


@pytest.mark.parametrize("secret", ["a/b", "ä", "a b", "a?", "%61", "a\n", "", b"bytes"])
def test_a_secret_path_behind_which_nothing_would_arrive(inbox, secret):
    for receiver in (CallbackServer, callback_app):
        with pytest.raises(UsageError, match="The secret path of callbacks is one segment"):
            receiver(inbox, nonce=secret)
    with pytest.raises(UsageError, match="The secret path of callbacks is one segment"):
        PublicCallbacks("https://h", secret)


def test_a_variable_that_is_not_set_is_no_secret_path(inbox):
    with pytest.raises(UsageError, match="The secret path of callbacks is one segment"):
        PublicCallbacks("https://h", None)
    with pytest.raises(UsageError, match="The secret path of callbacks is one segment"):
        callback_app(inbox, nonce=None)


@pytest.mark.parametrize("tag", ["Ada Müller", "50%", "a?b#c", "a%2Fb"])
def test_any_tag_without_a_slash_comes_back(server, inbox, tag):
    assert httpx.post(server.url_for(tag), json=VOICE, trust_env=False).status_code == 204
    assert inbox.look(tag)
    assert PublicCallbacks("https://h", NONCE).url_for(tag).isascii()


def test_a_tag_that_would_be_another_path_is_refused(server):
    for address in (server, PublicCallbacks("https://h", NONCE)):
        with pytest.raises(UsageError, match="'2024/7' holds a slash"):
            address.url_for("2024/7")


def test_what_takes_no_delivery_is_no_sink():
    with pytest.raises(UsageError, match="give a function, not list"):
        CallbackServer([])


def test_a_body_may_be_text_as_functions_in_a_cloud_get_it():
    body = '{"voice_id": "v", "status": "completed"}'
    assert Delivery.read(body, "a") == Delivery.read(body.encode(), "a")
    with pytest.raises(UnexpectedReply, match="not JSON"):
        Delivery.read("<xml/>")
    with pytest.raises(UsageError, match="not dict: give the body as it came"):
        Delivery.read({"voice_id": "v"})

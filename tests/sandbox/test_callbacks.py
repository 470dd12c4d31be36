"""Callbacks arrive after the clock, again when refused, twice or late when told."""

from __future__ import annotations

import ssl
import time

import httpx
import pytest
from raw import Raw

from palprep.sandbox import Choices, Sandbox


def test_a_real_clock_ends_training_and_calls_back_by_itself(receiver):
    with Sandbox(choices=Choices(voice_seconds=0.05)) as sandbox, Raw(sandbox) as raw:
        voice = raw.voice(callback_url=receiver.url + "/cb")
        (request,) = receiver.wait(1)
        assert (request.method, request.path) == ("POST", "/cb")
        assert request.headers["content-type"] == "application/json"
        assert request.json == {
            "voice_id": voice["voice_id"],
            "voice_name": "Ada",
            "status": "completed",
        }
        assert raw.ok("GET", f"/v2/voices/{voice['voice_id']}")["status"] == "completed"


def test_reading_never_moves_a_status(raw):
    voice = raw.voice()
    for _ in range(5):
        assert raw.ok("GET", f"/v2/voices/{voice['voice_id']}")["status"] == "started"
    raw.sandbox.advance(1.9)
    assert raw.ok("GET", f"/v2/voices/{voice['voice_id']}")["status"] == "started"
    raw.sandbox.advance(0.1)
    assert raw.ok("GET", f"/v2/voices/{voice['voice_id']}")["status"] == "completed"


def test_a_callback_that_is_not_taken_is_sent_again_and_then_given_up(raw, receiver):
    receiver.answers += [(500, b""), (503, b""), (500, b"")]
    raw.voice(callback_url=receiver.url)
    raw.sandbox.advance(2)
    assert len(receiver.wait(1)) == 1
    raw.sandbox.advance(5)
    assert len(receiver.wait(2)) == 2
    raw.sandbox.advance(1000)
    requests = receiver.wait(3)
    assert len(requests) == 3
    assert len({request.body for request in requests}) == 1
    log = [c for c in raw.ok("GET", "/_sandbox/log")["callbacks"] if c["url"] == receiver.url]
    assert [(c["attempt"], c["status"]) for c in log] == [(1, 500), (2, 503), (3, 500)]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/nobody", "http://xn--ls8h.la/"])
def test_a_callback_to_nobody_is_logged_with_the_reason(raw, url):
    raw.voice(callback_url=url)
    raw.sandbox.advance(2)
    (entry, *_) = [c for c in raw.ok("GET", "/_sandbox/log")["callbacks"] if c["url"] == url]
    assert entry["status"] is None
    assert entry["error"]


def test_duplicate_late_and_lost_callbacks(raw, receiver):
    raw.faults(
        {"on": "callback", "event": "application.voice_*", "copies": 2},
        {"on": "callback", "late": 60},
        {"on": "callback", "copies": 0},
    )
    names = ["twice", "late", "lost"]
    for name in names:
        raw.voice(voice_name=name, callback_url=receiver.url)
        raw.sandbox.advance(2)
    assert [r.json["voice_name"] for r in receiver.requests] == ["twice", "twice"]
    raw.sandbox.advance(60)
    assert [r.json["voice_name"] for r in receiver.wait(3)] == ["twice", "twice", "late"]
    raw.sandbox.advance(1000)
    assert len(receiver.requests) == 3


def test_a_change_made_while_training_is_kept(raw, receiver):
    voice = raw.voice(callback_url=receiver.url)
    raw.ok("PATCH", f"/v2/voices/{voice['voice_id']}", {"voice_name": "Renamed"})
    raw.sandbox.advance(2)
    assert receiver.wait(1)[0].json["voice_name"] == "Renamed"


def test_many_trainings_at_once_all_end(receiver):
    with Sandbox(choices=Choices(voice_seconds=0.1)) as sandbox, Raw(sandbox) as raw:
        asset = raw.publish("a.wav", b"ID3" + bytes(50))
        for _ in range(30):
            raw.voice(training_audio_url=asset, callback_url=receiver.url)
        receiver.wait(30)
        deadline = time.monotonic() + 5
        voices = raw.ok("GET", "/v2/voices")["data"]
        while any(v["status"] == "started" for v in voices) and time.monotonic() < deadline:
            voices = raw.ok("GET", "/v2/voices")["data"]
        assert [v["status"] for v in voices] == ["completed"] * 30


def test_a_callback_whose_tls_breaks_is_sent_again(raw, monkeypatch):
    async def broken(*_: object) -> None:
        raise ssl.SSLError("decryption failed or bad record mac")

    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", broken)
    url = "https://127.0.0.1:1/tls"
    raw.voice(callback_url=url)
    raw.sandbox.advance(40)
    sent = [each for each in raw.sandbox.log()["callbacks"] if each["url"] == url]
    assert [each["attempt"] for each in sent] == [1, 2, 3]
    assert {"bad record" in each["error"] for each in sent} == {True}


def test_a_cookie_that_a_receiver_sets_is_not_kept(raw, receiver):
    receiver.cookie = "session=1"
    for _ in range(2):
        raw.voice(callback_url=receiver.url)
        raw.sandbox.advance(2)
    assert ["cookie" in request.headers for request in receiver.wait(2)] == [False, False]


def test_a_port_that_no_server_has_is_a_reason_too(raw):
    nowhere = "http://127.0.0.1:99999/nobody"
    api = {"url": nowhere.replace("http:", "https:")}
    tool = raw.tool(delivery={"app_message": False, "api": api})
    auth = {"type": "client_credentials", "token_url": nowhere}
    raw.seed(
        documents=[{"document_id": "d", "status": "started", "callback_url": nowhere}],
        pals=[{"pal_id": "p"}],
        connectors=[{"connector_id": "c", "url": "http://127.0.0.1:1/", "auth": auth}],
    )
    raw.sandbox.advance(1)
    (entry, *_) = [c for c in raw.ok("GET", "/_sandbox/log")["callbacks"] if c["url"] == nowhere]
    check = raw.ok("POST", "/v2/connectors/c/runtime_check")
    conversation = raw.ok("POST", "/v2/conversations", {"pal_id": "p"})["conversation_id"]
    called = raw.sandbox.call_tool(conversation, tool["name"])
    for told in (entry["error"], check["error"]["message"], called["problem"]):
        assert "port is at most 65535" in told

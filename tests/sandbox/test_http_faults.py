"""Faults as a caller sees them on the socket."""

from __future__ import annotations

import time

import httpx
import pytest
from raw import WAV

PATH = "/v2/tools"


def creates(raw):
    return raw.ok("GET", "/_sandbox/log")["creates"].get("tool", 0)


@pytest.mark.parametrize(("drop", "made"), [("before_commit", 0), ("after_commit", 1)])
def test_a_dropped_connection_gives_no_answer_and_commits_or_not(raw, drop, made):
    before = creates(raw)
    raw.faults({"on": "request", "endpoint": "tools.create", "drop": drop})
    body = raw.tool_body()
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
        raw.send("POST", PATH, body)
    assert creates(raw) == before + made
    names = [tool["name"] for tool in raw.ok("GET", PATH)["data"]]
    assert names.count(body["name"]) == made
    assert raw.send("POST", PATH, body).status_code == (409 if made else 201)


def test_the_log_tells_what_was_dropped(raw):
    raw.faults({"on": "request", "endpoint": "tools.list", "drop": "before_commit"})
    with pytest.raises(httpx.TransportError):
        raw.send("GET", PATH)
    last = raw.ok("GET", "/_sandbox/log")["requests"][-1]
    assert (last["endpoint"], last["status"]) == ("tools.list", None)
    assert "before_commit" in last["fault"]


def test_a_status_with_headers_and_body_of_ones_own(raw):
    before = creates(raw)
    fault = {"on": "request", "endpoint": "tools.*", "status": 429}
    raw.faults(fault | {"headers": {"Retry-After": "7"}, "body": {"error": "slow down"}})
    reply = raw.send("POST", PATH, raw.tool_body())
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "7")
    assert reply.json() == {"error": "slow down"}
    assert creates(raw) == before


@pytest.mark.parametrize(("status", "shape"), [(401, "message"), (500, "error"), (404, "error")])
def test_a_status_without_a_body_gets_one_of_its_shape(raw, status, shape):
    raw.faults({"on": "request", "status": status})
    reply = raw.send("GET", PATH)
    assert (reply.status_code, reply.json().keys()) == (status, {shape})


@pytest.mark.parametrize("status", [204, 304])
@pytest.mark.parametrize("body", [{}, {"body": {"error": "which this status cannot have"}}])
def test_a_status_that_has_no_body_comes_without_one(raw, caplog, status, body):
    raw.faults({"on": "request", "status": status, **body})
    reply = raw.send("GET", PATH)
    assert (reply.status_code, reply.content) == (status, b"")
    assert "content-type" not in reply.headers
    assert not caplog.records


def test_a_delay_is_real_time_and_then_the_true_answer(raw):
    raw.faults({"on": "request", "delay": 0.3})
    started = time.monotonic()
    assert raw.send("GET", PATH).status_code == 200
    assert time.monotonic() - started >= 0.3
    raw.faults({"on": "request", "delay": 5})
    with pytest.raises(httpx.ReadTimeout):
        raw.send("GET", PATH, timeout=0.2)


def test_a_caller_that_gives_up_does_not_undo_what_was_asked(raw):
    before = creates(raw)
    raw.faults({"on": "request", "endpoint": "tools.create", "delay": 0.3})
    with pytest.raises(httpx.ReadTimeout):
        raw.send("POST", PATH, raw.tool_body(), timeout=0.1)
    deadline = time.monotonic() + 5
    while creates(raw) == before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert creates(raw) == before + 1


def test_an_expired_url_fails_the_training_that_needed_it(raw):
    raw.faults({"on": "asset", "name": "*.wav"})
    failed, fine = raw.voice(), raw.voice()
    raw.sandbox.advance(5)
    statuses = [raw.ok("GET", f"/v2/voices/{voice['voice_id']}") for voice in (failed, fine)]
    assert [voice["status"] for voice in statuses] == ["error", "completed"]
    assert "403" in statuses[0]["error_message"]


def test_a_cut_download_fails_the_training(raw):
    raw.faults({"on": "asset", "effect": "drop"})
    voice = raw.voice()
    raw.sandbox.advance(5)
    voice = raw.ok("GET", f"/v2/voices/{voice['voice_id']}")
    assert voice["status"] == "error"
    assert "cannot be fetched" in voice["error_message"]


def test_a_fault_strikes_before_the_key_is_looked_at_and_the_rest_is_untouched(raw):
    raw.faults({"on": "request", "path": "/v2/voices*", "times": None, "status": 503})
    assert raw.send("GET", "/v2/voices", headers={"x-api-key": ""}).status_code == 503
    assert raw.send("GET", PATH).status_code == 200
    assert raw.http.get(raw.publish("a.wav", WAV)).status_code == 200
    raw.faults()
    assert raw.send("GET", "/v2/voices").status_code == 200


@pytest.mark.parametrize("cut", [0, 5])
def test_an_answer_is_cut_after_so_many_bytes(raw, cut):
    before = creates(raw)
    raw.faults({"on": "request", "endpoint": "tools.create", "cut": cut})
    got = b""
    with pytest.raises(httpx.RemoteProtocolError):  # noqa: PT012, SIM117 -- the head arrives
        with raw.http.stream("POST", PATH, json=raw.tool_body()) as reply:
            assert (reply.status_code, reply.headers["content-type"]) == (201, "application/json")
            for piece in reply.iter_raw():
                got += piece
    assert len(got) == cut
    assert creates(raw) == before + 1


def test_an_answer_drips_and_is_whole(raw):
    raw.faults({"on": "request", "status": 503, "body": {"error": "slow"}, "drip": 0.02})
    started = time.monotonic()
    reply = raw.send("GET", PATH)
    assert (reply.status_code, reply.json()) == (503, {"error": "slow"})
    assert time.monotonic() - started >= 0.02 * (len(reply.content) - 1)


@pytest.mark.parametrize("variant", ["undecodable_image", "undecodable*"])
def test_a_variant_of_the_image_validations_errors(raw, variant):
    raw.faults({"on": "request", "endpoint": "faces.validate_image", "variant": variant})
    reply = raw.send("POST", "/v2/faces/image-validation", {"imageBase64": "AA=="})
    assert (reply.status_code, reply.json()["code"]) == (422, "undecodable_image")

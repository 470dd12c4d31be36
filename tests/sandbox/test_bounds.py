"""Who may ask the sandbox, whom it asks, and what ends when it does not end by itself."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time

import httpx
import pytest
from raw import WAV, Raw

from palprep.sandbox import Choices, Sandbox, outbound
from palprep.serving import ImpatientProtocol

PATHS = ["/", "/openapi.json", "/v2/tools", "/assets/token/name", "/_sandbox/log", "/nothing"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "rebound.example"},
        {"host": "127.0.0.1.rebound.example:8700"},
        {"host": ""},
        {"origin": "https://page.example"},
        {"origin": "null"},
        {"origin": "http://[::1"},
        {"origin": "http://page.example\\@127.0.0.1"},
    ],
)
def test_no_web_page_reaches_any_route(raw, path, headers):
    refused = raw.send("GET", path, headers=headers)
    assert (refused.status_code, refused.json().keys()) == (403, {"error"})


@pytest.mark.parametrize("headers", [{}, {"origin": "http://localhost:8888"}, {"host": "[::1]:1"}])
def test_a_program_or_page_of_this_machine_may(raw, headers):
    assert raw.send("GET", "/v2/tools", headers=headers).status_code == 200


def trained(raw, url):
    voice = raw.voice(training_audio_url=url)
    raw.sandbox.advance(10)
    return raw.ok("GET", f"/v2/voices/{voice['voice_id']}")


@pytest.fixture
def named_host(monkeypatch):
    """A name other than localhost that leads to this machine."""
    known = socket.getaddrinfo

    def look_up(host, *rest, **options):
        named = host in {"media.example", b"media.example"}
        return known("127.0.0.1" if named else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return "media.example"


def test_media_elsewhere_are_not_fetched_unless_that_is_allowed(raw, named_host):
    def moved(raw):
        return raw.publish("a.wav", WAV).replace("127.0.0.1", named_host)

    refused = trained(raw, moved(raw))
    assert refused["status"] == "error"
    assert "media.example is not this machine" in refused["error_message"]
    assert "--choice outbound=anywhere" in refused["error_message"]
    allowed = Choices(outbound="anywhere")
    with Sandbox(clock="virtual", choices=allowed) as sandbox, Raw(sandbox) as other:
        # It is asked, and refuses the name that it is asked by.
        assert "with status 403" in trained(other, moved(other))["error_message"]


def test_a_redirect_elsewhere_is_not_followed(raw, receiver):
    receiver.answers.clear()
    with redirecting("http://media.example/a.wav") as url:
        assert "media.example is not this machine" in trained(raw, url)["error_message"]


def test_callbacks_tools_and_connectors_stay_on_this_machine(raw):
    raw.voice(callback_url="http://me.example/cb")
    api = {"url": "https://me.example/x"}
    tool = raw.tool(trigger_type="post_call", delivery={"app_message": False, "api": api})
    raw.seed(
        pals=[{"pal_id": "p", "tool_ids": [tool["tool_id"]]}],
        connectors=[
            {"connector_id": "c", "url": "http://me.example/mcp"},
            {
                "connector_id": "t",
                "url": "http://127.0.0.1:1/mcp",
                "auth": {"type": "client_credentials", "token_url": "http://me.example/token"},
            },
        ],
    )
    conversation = raw.ok("POST", "/v2/conversations", {"pal_id": "p"})["conversation_id"]
    raw.sandbox.end_conversation(conversation)
    raw.sandbox.advance(3)
    sent = raw.sandbox.log()["callbacks"]
    problems = [entry["error"] for entry in sent if "me.example" in entry["url"]]
    assert len(problems) >= 2
    for connector in ("c", "t"):
        check = raw.ok("POST", f"/v2/connectors/{connector}/runtime_check")
        assert check["ok"] is False
        problems.append(check["error"]["message"])
    assert all("me.example is not this machine" in problem for problem in problems), problems


class redirecting:  # noqa: N801 -- a context manager, read as a verb
    """A server whose every answer leads to ``location``."""

    def __init__(self, location):
        self._location = location

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/a.wav"

    def _serve(self):
        head = f"HTTP/1.1 302 Found\r\nlocation: {self._location}\r\ncontent-length: 0\r\n\r\n"
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(head.encode())

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def dripping(request):
    """A file that never ends, one byte every 50 ms; or whatever begins otherwise."""
    head = getattr(request, "param", b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n")

    def serve(connection):
        with connection:
            connection.recv(65536)
            try:
                connection.sendall(head)
                while True:
                    connection.sendall(b"x")
                    time.sleep(0.05)
            except OSError:
                return

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/a.wav"
        listener.shutdown(socket.SHUT_RDWR)


def test_a_download_that_drips_comes_to_an_end(dripping):
    choices = Choices(fetch_seconds=0.5)
    with Sandbox(clock="virtual", choices=choices) as sandbox, Raw(sandbox) as raw:
        assert "not arrived within 0.5 s" in trained(raw, dripping)["error_message"]


HEAD = b"HTTP/1.1 200 OK\r\nx-long: "


@pytest.mark.parametrize("dripping", [HEAD], indirect=True)
def test_a_callback_whose_answer_drips_is_given_up(monkeypatch, dripping):
    monkeypatch.setattr(outbound, "_POST_TIMEOUT_S", 0.3)
    choices = Choices(callback_retry_seconds=())
    with Sandbox(clock="virtual", choices=choices) as sandbox, Raw(sandbox) as raw:
        raw.voice(callback_url=dripping)
        sandbox.advance(2, answered_within=10)
        (sent,) = sandbox.log()["callbacks"]
    assert (sent["status"], sent["error"]) == (None, "TimeoutError")


@pytest.mark.parametrize("dripping", [HEAD], indirect=True)
@pytest.mark.parametrize("auth", ["none", "oauth2_client_credentials"])
def test_a_tool_or_its_token_endpoint_that_drips_is_given_up(monkeypatch, dripping, auth):
    monkeypatch.setattr(outbound, "_POST_TIMEOUT_S", 0.3)
    choices = Choices(loopback_webhooks=True, tool_timeout_seconds=0.3)
    api = {"url": dripping, "auth": {"type": auth, "token_url": dripping}}
    with Sandbox(choices=choices, seed={"pals": [{"pal_id": "p"}]}) as sandbox, Raw(sandbox) as raw:
        tool = raw.tool(delivery={"app_message": False, "api": api})
        conversation = raw.ok("POST", "/v2/conversations", {"pal_id": "p"})["conversation_id"]
        begun = time.monotonic()
        answer = sandbox.call_tool(conversation, tool["name"])
    assert time.monotonic() - begun < 5
    assert answer["problem"].endswith("TimeoutError")


def test_a_server_that_says_nothing_does_not_hold_the_sandbox_at_its_end():
    with contextlib.ExitStack() as open_until_then:
        silent = open_until_then.enter_context(socket.create_server(("127.0.0.1", 0)))
        with Sandbox(choices=Choices(voice_seconds=0.0)) as sandbox, Raw(sandbox) as raw:
            raw.voice(training_audio_url=f"http://127.0.0.1:{silent.getsockname()[1]}/a.wav")
            open_until_then.enter_context(silent.accept()[0])
            ending = time.monotonic()
        assert time.monotonic() - ending < 5


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /v2/tools HTTP/1.1\r\nhost: 127.0",
        b"POST /v2/tools HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 50\r\n\r\n{",
        b"POST /v2/tools HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{",
    ],
)
def test_a_request_that_is_sent_by_half_ends(monkeypatch, sent):
    monkeypatch.setattr(ImpatientProtocol, "head_s", 0.3)
    monkeypatch.setattr(ImpatientProtocol, "stalled_s", 0.3)
    with Sandbox() as sandbox:
        address = ("127.0.0.1", int(sandbox.url.rpartition(":")[2]))
        with socket.create_connection(address, timeout=10) as half:
            half.sendall(sent)
            with contextlib.suppress(ConnectionResetError):
                assert half.recv(1) == b""
        assert sandbox.log()["requests"] == []
        assert httpx.get(f"{sandbox.url}/", trust_env=False).status_code == 200


def test_a_request_that_is_slow_and_goes_on_is_served(monkeypatch):
    monkeypatch.setattr(ImpatientProtocol, "stalled_s", 1.0)
    with Sandbox() as sandbox, Raw(sandbox) as raw:
        body = json.dumps(raw.tool_body()).encode()

        def slowly():
            for at in range(0, len(body), 20):
                time.sleep(0.25)
                yield body[at : at + 20]

        assert raw.send("POST", "/v2/tools", content=slowly()).status_code == 201

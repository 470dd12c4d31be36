"""What really happens to connections: refused, dropped, cut, slow, and proxied."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from loopback import accepted, answer, hang_up, loopback, stop_halfway

from palprep import errors
from palprep.client import AsyncClient, Client

VOICE = b'{"voice_id":"v","status":"started"}'


def client(url: str, **options: object) -> Client:
    return Client(api_key="k", base_url=url, sleep=lambda _: None, trust_env=False, **options)


@pytest.mark.parametrize("drop", [hang_up, stop_halfway])
def test_a_create_whose_connection_drops_reached_the_service_once(drop: Callable) -> None:
    with loopback(drop) as server, client(server.url) as api:
        with pytest.raises(errors.OutcomeUnknown):
            api.voices.create(voice_name="Ada")
        assert len(server.arrived) == 1


@pytest.mark.parametrize("drop", [hang_up, stop_halfway])
def test_a_read_whose_connection_drops_is_made_again(drop: Callable) -> None:
    with loopback(drop, drop, answer(VOICE)) as server, client(server.url) as api:
        assert api.voices.get("v").voice_id == "v"
        assert len(server.arrived) == 3


async def test_the_async_client_sees_the_same() -> None:
    async def no_sleep(_: float) -> None:
        return

    with loopback(hang_up, hang_up, answer(VOICE)) as server:
        async with AsyncClient(
            api_key="k", base_url=server.url, sleep=no_sleep, trust_env=False
        ) as api:
            with pytest.raises(errors.OutcomeUnknown):
                await api.voices.create(voice_name="Ada")
            assert len(server.arrived) == 1
            assert (await api.voices.get("v")).voice_id == "v"
            assert len(server.arrived) == 3


@pytest.mark.parametrize("deadline", [None, 30.0])
async def test_an_answer_without_an_end_is_left(monkeypatch, deadline: float | None) -> None:
    monkeypatch.setattr("palprep.client.senders.MAX_ANSWER_BYTES", 100_000)
    bomb = answer(gzip.compress(b" " * 10_000_000), "200 OK\r\nContent-Encoding: gzip")
    options = {"retries": 0, "deadline": deadline}
    with loopback(bomb, bomb, bomb) as server, client(server.url, **options) as api:
        with pytest.raises(errors.TransportError, match="more than 100,000 bytes"):
            api.voices.get("v")
        with pytest.raises(errors.OutcomeUnknown, match="more than 100,000 bytes"):
            api.voices.create(voice_name="Ada")
        async with AsyncClient(api_key="k", base_url=server.url, **options) as other:
            with pytest.raises(errors.TransportError, match="more than 100,000 bytes"):
                await other.voices.get("v")


def test_a_refused_connection_carried_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    refused = pytest.raises(errors.ServiceUnreachable, match="refused")
    with client(f"http://127.0.0.1:{port}") as api, refused:
        api.voices.create(voice_name="Ada")


@contextmanager
def closing_early(reply: bytes) -> Iterator[str]:
    """A server that reads the beginning of each request, replies and closes."""

    def serve(listener: socket.socket) -> None:
        for connection in accepted(listener):
            connection.recv(1000)
            connection.sendall(reply)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_a_connection_that_closes_on_a_large_body_is_explained() -> None:
    image = b"\xff\xd8\xff" + bytes(12_000_000)
    with closing_early(b"") as url, client(url) as api:
        with pytest.raises(errors.TransportError, match=r"16,000,0\d\d bytes.*413.*smaller file"):
            api.faces.validate_image(image)
        with pytest.raises(errors.TransportError) as small:
            api.faces.validate_image(image[:1000])
        assert "413" not in small.value.message
    refused = b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n"
    told = pytest.raises(errors.PalprepError, match="413")
    with closing_early(refused) as url, client(url) as api, told:
        api.faces.validate_image(image)


def test_a_slow_answer_to_a_create_leaves_its_outcome_open() -> None:
    def slow(connection: socket.socket) -> None:
        time.sleep(0.5)

    with loopback(slow) as server, client(server.url) as api:
        with pytest.raises(errors.OutcomeUnknown, match="no answer in time"):
            api.voices.create(voice_name="Ada", timeout=0.1)
        assert len(server.arrived) == 1


def test_connections_are_kept() -> None:
    ports = set()

    def remember(connection: socket.socket) -> None:
        ports.add(connection.getpeername()[1])
        answer(VOICE)(connection)

    with loopback(remember) as server, client(server.url) as api:
        for _ in range(3):
            api.voices.get("v")
    assert len(ports) == 1


def test_requests_go_through_a_proxy() -> None:
    with loopback(answer(VOICE)) as proxy:
        with client("http://api.example.com", proxy=proxy.url) as api:
            assert api.voices.get("v").voice_id == "v"
        assert proxy.arrived[0].line == "GET http://api.example.com/v2/voices/v HTTP/1.1"
        assert proxy.arrived[0].headers["x-api-key"] == "k"


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "socks5://127.0.0.1:9", "what://x"])
def test_no_proxy_of_the_environment_stands_before_a_sandbox(monkeypatch, proxy) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with loopback(answer(VOICE)) as server, Client(api_key="k", base_url=server.url) as api:
        assert api.voices.get("v").voice_id == "v"


@pytest.mark.parametrize("proxy", ["what://x", "http://proxy:port"])
def test_a_proxy_that_cannot_be_used_is_told(monkeypatch, proxy) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    for kind in (Client, AsyncClient):
        with pytest.raises(errors.UsageError, match="This proxy, or these certificates, cannot be"):
            kind(api_key="k", base_url="https://api.example.com")

"""The one thread that serves an application: it starts, works on its loop, and stops."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from unittest.mock import Mock

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from palprep.errors import ToolFailed, UsageError
from palprep.serving import server as serving
from palprep.serving.server import ServerThread, listening_socket, until_signalled, url_of


async def hello(request: Request) -> PlainTextResponse:
    await asyncio.sleep(float(request.query_params.get("after", 0)))
    return PlainTextResponse(threading.current_thread().name)


def get(url: str) -> httpx.Response:
    return httpx.get(url, trust_env=False)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with listening_socket("127.0.0.1", 0) as listening:
        yield listening


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_it_answers_as_soon_as_it_has_started(host: str) -> None:
    listener = listening_socket(host, 0)
    server = ServerThread(Starlette(routes=[Route("/", hello)]), listener, name="served")
    server.start()
    try:
        reply = get(url_of(listener))
    finally:
        server.stop()
    assert reply.text == "served"
    assert "server" not in reply.headers


def test_what_is_under_way_is_answered_before_it_stops(listener: socket.socket) -> None:
    server = ServerThread(Starlette(routes=[Route("/", hello)]), listener, name="served")
    server.start()
    url, replies = url_of(listener), []
    asking = threading.Thread(target=lambda: replies.append(get(f"{url}/?after=0.3")))
    asking.start()
    while not server.call(requests_under_way()):
        pass
    server.stop()
    asking.join()
    assert [reply.status_code for reply in replies] == [200]
    with pytest.raises(httpx.ConnectError):
        get(url)


async def requests_under_way() -> bool:
    await asyncio.sleep(0.005)
    return any(getattr(t.get_coro(), "__name__", "") == "run_asgi" for t in asyncio.all_tasks())


def test_a_start_up_that_fails_is_told_and_leaves_nothing(
    listener: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Starlette) -> object:
        raise OSError("no disk")

    app = Starlette(lifespan=broken)  # type: ignore[arg-type]
    server = ServerThread(app, listener, name="broken")
    with caplog.at_level(logging.CRITICAL), pytest.raises(ToolFailed, match="broken did not start"):
        server.start()
    assert listener.fileno() == -1
    assert "broken" not in {thread.name for thread in threading.enumerate()}


def test_an_application_that_does_not_end_is_left_behind(
    listener: socket.socket, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "_SHUTDOWN_S", 0.5)
    release = threading.Event()

    @asynccontextmanager
    async def stubborn(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(release.wait, 30)

    app = Starlette(lifespan=stubborn)
    server = ServerThread(app, listener, name="stubborn", grace_s=0)
    server.start()
    server.stop()
    (left,) = (thread for thread in threading.enumerate() if thread.name == "stubborn")
    assert "left behind" in caplog.text
    release.set()
    left.join(10)
    assert not left.is_alive()
    server.stop()
    assert listener.fileno() == -1


def test_a_request_that_the_end_cuts_off_is_no_error(
    listener: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    begun = threading.Event()

    async def slow(_: Request) -> PlainTextResponse:
        begun.set()
        await asyncio.sleep(60)
        return PlainTextResponse("never")

    app = Starlette(routes=[Route("/", slow)])
    server, answers = ServerThread(app, listener, name="cut-off", grace_s=0), list[int]()
    server.start()
    url = url_of(listener)
    caller = threading.Thread(target=lambda: answers.append(httpx.get(url).status_code))
    caller.start()
    assert begun.wait(10)
    with caplog.at_level(logging.WARNING):
        server.stop()
        caller.join(10)
    assert answers == [500]
    assert [each.message for each in caplog.records if each.exc_info] == []


def test_a_connection_that_comes_while_it_stops_is_closed(listener: socket.socket) -> None:
    """As a browser opens one before it has anything to ask."""
    server = ServerThread(Starlette(routes=[Route("/", hello)]), listener, name="served")
    server.start()
    address = listener.getsockname()

    async def connected_at_the_last_moment() -> socket.socket:
        connection = socket.create_connection(address)
        server._server.should_exit = True
        time.sleep(0.3)  # noqa: ASYNC251 -- the loop is to find both at once
        return connection

    with server.call(connected_at_the_last_moment()) as connection:
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 3
        connection.settimeout(3)
        assert connection.recv(1) == b""


def test_coroutines_run_on_the_servers_own_loop(listener: socket.socket) -> None:
    async def where() -> str:
        return threading.current_thread().name

    async def failing() -> None:
        raise KeyError("mine")

    server = ServerThread(Starlette(), listener, name="served")
    with pytest.raises(RuntimeError, match="not running"):
        server.call(where())
    server.start()
    assert server.call(where()) == "served"
    with pytest.raises(KeyError, match="mine"):
        server.call(failing())
    server.stop()


def test_a_server_starts_once(listener: socket.socket) -> None:
    server = ServerThread(Starlette(), listener, name="served")
    server.start()
    for _ in range(2):
        with pytest.raises(UsageError, match="served was started before: make another one"):
            server.start()
        server.stop()


def test_a_server_that_never_started_can_be_stopped(listener: socket.socket) -> None:
    ServerThread(Starlette(), listener, name="idle").stop()
    assert listener.fileno() == -1


def test_answers_do_not_wait_for_acknowledgements(listener: socket.socket) -> None:
    """asyncio disables Nagle's algorithm on connections of sockets whose protocol is TCP."""
    assert listener.proto == socket.IPPROTO_TCP


@pytest.mark.parametrize("port", [-1, 65_536])
def test_what_is_no_port_is_said(port: int) -> None:
    with pytest.raises(UsageError, match="0-65535; choose another port"):
        listening_socket("127.0.0.1", port)


def test_a_host_that_is_none_and_a_system_without_ipv6(monkeypatch) -> None:
    with pytest.raises(UsageError, match="null character; choose another port or host"):
        listening_socket("a\0", 0)
    refusal = OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
    monkeypatch.setattr(socket, "socket", Mock(side_effect=refusal))
    with pytest.raises(UsageError, match="Cannot listen on ::1:0: Address family not supported"):
        listening_socket("::1", 0)


def test_signal_handlers_are_given_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with until_signalled() as stop:
        signal.raise_signal(signal.SIGTERM)
        assert stop.wait(10)
    assert signal.getsignal(signal.SIGTERM) is before

"""Callers who drip, are silent or do not read: each has an end, and others are served meanwhile."""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
import time
from collections.abc import Iterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from palprep.serving.protocol import ImpatientProtocol
from palprep.serving.server import ServerThread, listening_socket


async def answer(request: Request) -> Response:
    if "large" in request.query_params:
        return Response(bytes(32 * 1024 * 1024))
    if "early" not in request.query_params:
        await request.body()
    return PlainTextResponse("served")


class Hasty(ImpatientProtocol):
    head_s = 0.4
    body_s = 0.4
    stalled_s = 0.4
    max_connections = 6


Address = tuple[str, int]


@contextlib.contextmanager
def served(http: type[ImpatientProtocol]) -> Iterator[Address]:
    listener = listening_socket("127.0.0.1", 0)
    server = ServerThread(
        Starlette(routes=[Route("/", answer, methods=["GET", "POST"])]),
        listener,
        name="served",
        http=http,
        grace_s=2,
    )
    server.start()
    try:
        yield listener.getsockname()
    finally:
        server.stop()


def is_cut(caller: socket.socket) -> bool:
    try:
        return caller.recv(1) == b""
    except ConnectionError:
        return True


HEAD = b"POST /%s HTTP/1.1\r\nhost: x\r\n%s\r\n\r\n"


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"POST / HTTP/1.1\r\nx: ",
        HEAD % (b"", b"content-length: 900"),
        HEAD % (b"?early", b"content-length: 900"),
        HEAD % (b"", b"transfer-encoding: chunked") + b"384\r\n",
    ],
)
@pytest.mark.parametrize("drips", [False, True])
def test_time_does_not_start_anew_with_each_byte(begun: bytes, drips: bool) -> None:
    with served(Hasty) as address, socket.create_connection(address, timeout=10) as caller:
        caller.sendall(begun)
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - began < 3.0:
                if drips:
                    caller.sendall(b"a")
                time.sleep(0.05)
                caller.settimeout(0.01)
                with contextlib.suppress(TimeoutError):
                    if caller.recv(4096) == b"":
                        break
        assert time.monotonic() - began < 2.5


@pytest.mark.parametrize("ending", [b"", b"connection: close\r\n"])
def test_an_answer_that_no_one_reads_is_given_up(ending: bytes) -> None:
    with served(Hasty) as address, socket.create_connection(address) as caller:
        caller.sendall(b"GET /?large HTTP/1.1\r\nhost: x\r\n" + ending + b"\r\n")
        time.sleep(1.2)
        caller.settimeout(10)
        received = 0
        with contextlib.suppress(ConnectionError):
            while piece := caller.recv(1 << 20):
                received += len(piece)
    assert received < 32 * 1024 * 1024


class Crowded(ImpatientProtocol):
    max_connections = 6


@pytest.mark.parametrize("begun", [b"", b"G", HEAD % (b"", b"content-length: 900")])
def test_a_crowd_keeps_no_one_out(begun: bytes) -> None:
    with served(Crowded) as address, contextlib.ExitStack() as stack:
        crowd = [
            stack.enter_context(socket.create_connection(address, timeout=10)) for _ in range(30)
        ]
        for each in crowd:
            with contextlib.suppress(ConnectionError):
                each.sendall(begun)
        assert httpx.post(f"http://127.0.0.1:{address[1]}/", trust_env=False).text == "served"
        assert all(map(is_cut, crowd[:20]))


def test_the_only_caller_of_an_address_outlasts_a_crowd_of_another() -> None:
    with served(Crowded) as address, contextlib.ExitStack() as stack:
        alone = stack.enter_context(
            socket.create_connection(address, timeout=10, source_address=("127.0.0.2", 0))
        )
        time.sleep(0.1)
        for _ in range(30):
            stack.enter_context(socket.create_connection(address, timeout=10))
        time.sleep(0.2)
        alone.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert alone.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
        HEAD % (b"?early", b"transfer-encoding: chunked") + b"nonsense\r\n",
        HEAD % (b"", b"content-length: 1\r\ntransfer-encoding: chunked") + b"0\r\n\r\n",
        HEAD % (b"", b"content-length: 1\r\ncontent-length: 2") + b"ab",
        b"GET / HTTP/1.1\r\nhost: x\r\nlong: " + b"x" * 500_000,
    ],
)
def test_nonsense_fills_no_log(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), served(Hasty) as address:
        caller = socket.create_connection(address, timeout=10)
        # A server that has hung up already is met as any of three errors, ENOTCONN among them.
        with caller, contextlib.suppress(OSError):
            caller.sendall(sent)
            caller.shutdown(socket.SHUT_WR)
            while caller.recv(4096):
                pass
        assert httpx.get(f"http://127.0.0.1:{address[1]}/", trust_env=False).text == "served"
    assert caplog.records == []


def test_that_no_connection_is_accepted_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    listener = listening_socket("127.0.0.1", 0)
    server = ServerThread(Starlette(), listener, name="served")
    server.start()

    async def fail() -> None:
        error = OSError(errno.EMFILE, "Too many open files")
        for _ in range(100):
            server._loop.call_exception_handler(  # type: ignore[union-attr]
                {"message": "socket.accept() out of system resource", "exception": error}
            )

    try:
        server.call(fail())
    finally:
        server.stop()
    assert [each.getMessage() for each in caplog.records] == [
        "No connection can be accepted: Too many open files. It is tried again"
    ]

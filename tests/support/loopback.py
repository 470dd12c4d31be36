"""A bare server on loopback that treats connections as told."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Arrived:
    """One request as it came over the socket; the body is only digested."""

    line: str
    headers: dict[str, str]
    size: int
    sha256: str


Then = Callable[[socket.socket], None]


def answer(body: bytes, status: str = "200 OK") -> Then:
    """Send a complete response."""

    def then(connection: socket.socket) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)

    return then


def hang_up(connection: socket.socket) -> None:
    """Close without a word, after the whole request was read."""
    connection.shutdown(socket.SHUT_RDWR)


def stop_halfway(connection: socket.socket) -> None:
    """Begin a response and close."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
    connection.shutdown(socket.SHUT_RDWR)


def accepted(listener: socket.socket) -> Iterator[socket.socket]:
    """Each connection in turn, closed before the next one, until the listener is shut down."""
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            yield connection


@dataclass
class Loopback:
    """What the server does with each request in turn, and what it received."""

    url: str
    then: list[Then]
    arrived: list[Arrived] = field(default_factory=list)
    open: int = 0

    def serve(self, listener: socket.socket) -> None:
        for connection in accepted(listener):
            self._converse(connection)

    def _converse(self, connection: socket.socket) -> None:
        with connection.makefile("rb", buffering=65536) as stream:
            while line := stream.readline().decode().strip():
                headers = {}
                while header := stream.readline().decode().strip():
                    name, _, value = header.partition(":")
                    headers[name.lower()] = value.strip()
                digest, left = hashlib.sha256(), int(headers.get("content-length", 0))
                size = left
                while left and (piece := stream.read(min(left, 65536))):
                    digest.update(piece)
                    left -= len(piece)
                self.arrived.append(Arrived(line, headers, size - left, digest.hexdigest()))
                then = self.then.pop(0) if len(self.then) > 1 else self.then[0]
                then(connection)
                if then in {hang_up, stop_halfway}:
                    return


@contextmanager
def loopback(*then: Then) -> Iterator[Loopback]:
    """Run the server until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()[:2]
        server = Loopback(f"http://{host}:{port}", list(then))
        thread = threading.Thread(target=server.serve, args=(listener,), daemon=True)
        thread.start()
        yield server
        # Wakes accept().
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(5)
    assert not thread.is_alive()

"""A real HTTP server on loopback that remembers what it was sent; for tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    """One request: ``body`` is raw, :attr:`json` parsed."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """``answers`` are taken first to last, one per request: a status with a body; afterwards
    every request gets 200 and ``{}``. Before all that, ``moved`` requests are redirected."""

    url: str = ""
    requests: list[Received] = field(default_factory=list)
    answers: list[tuple[int, bytes]] = field(default_factory=list)
    moved: int = 0
    cookie: str = ""
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def wait(self, count: int, timeout: float = 10) -> list[Received]:
        """The requests once there are ``count`` of them."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.requests) >= count, timeout), (
                f"{len(self.requests)} of {count} requests arrived"
            )
            return list(self.requests)


@contextmanager
def receiving(tls: Any = None) -> Iterator[Receiver]:
    """Run a receiver; with a server-side SSL context it speaks HTTPS."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(size)
            headers = {name.lower(): value for name, value in self.headers.items()}
            with receiver.arrived:
                receiver.requests.append(Received(self.command, self.path, headers, body))
                if redirect := receiver.moved > 0:
                    receiver.moved -= 1
                    status, content = 302, b""
                else:
                    status, content = receiver.answers.pop(0) if receiver.answers else (200, b"{}")
                receiver.arrived.notify_all()
            self.send_response(status)
            if redirect:
                self.send_header("location", f"{self.path}?{receiver.moved}")
            self.send_header("content-length", str(len(content)))
            self.send_header("content-type", "application/json")
            if receiver.cookie:
                self.send_header("set-cookie", receiver.cookie)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

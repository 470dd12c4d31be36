"""On loopback only: the socket that the sandbox listens on, and the requests that it takes.

No web page reaches the sandbox by a name of its own, and no page of another machine asks it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from palprep.api import is_loopback
from palprep.errors import UsageError
from palprep.sandbox.answers import JsonAnswer, respond
from palprep.serving import ImpatientProtocol, listening_socket

REFUSED = JsonAnswer(403, {"error": "The sandbox is for programs and pages of this machine only."})


class LoopbackOnly:
    """Serves ``app`` to requests that name a loopback host, and come from no page of another one.

    The sandbox's keys are public knowledge, and its routes under /_sandbox ask for none. Otherwise
    a page could reach it by a name that resolves to this machine (DNS rebinding), or post to it
    from elsewhere. Pages of this machine may, on any port: people develop them with the sandbox.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._known: bytes | None = None
        """The Host that was accepted last; most requests have the same."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._from_here(scope["headers"]):
            await respond(REFUSED)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _from_here(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        host = b""
        for name, value in headers:
            if name == b"host":
                host = value
            elif name == b"origin" and not _names_loopback(value.decode("latin-1")):
                return False
        if host != self._known:
            if not _names_loopback("//" + host.decode("latin-1")):
                return False
            self._known = host
        return True


def _names_loopback(url: str) -> bool:
    if "\\" in url:
        return False  # Browsers and urlsplit do not agree which host that names.
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and is_loopback(host)


class DroppableProtocol(ImpatientProtocol):
    """Lets the application cut the connection: ``scope["state"]["abort"]()``.

    ASGI cannot express it. A fault that drops the connection must look to the caller like a
    network that failed, and not like a strange answer. It keeps more connections than a server
    for strangers: tests open many.
    """

    most = 500

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Put ``abort`` into the state of every request of this connection."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "abort": self.transport.abort}


def bind_loopback(host: str, port: int) -> socket.socket:
    """A listening socket on ``host``.

    Raises :class:`~palprep.errors.UsageError` unless the host is loopback, because the sandbox
    has an unguarded admin interface and its keys are public knowledge. Raises it for a port in
    use too.
    """
    address = "127.0.0.1" if host == "localhost" else host.strip("[]")
    if not is_loopback(address):
        raise UsageError(
            f"The sandbox listens on loopback only, and {host} is not; use 127.0.0.1 or ::1."
        )
    try:
        return listening_socket(address, port)
    except OSError as error:
        raise UsageError(
            f"The sandbox cannot listen on {host}:{port}: {error.strerror}. Use another --port, "
            "or 0 for a free one."
        ) from error

"""The sandbox's socket: it is on loopback only, and its connections can be cut."""

from __future__ import annotations

import asyncio
import ipaddress
import socket

from palprep.errors import UsageError
from palprep.serving.protocol import ImpatientProtocol
from palprep.serving.server import listening_socket


class DroppableProtocol(ImpatientProtocol):
    """Lets the application cut the connection: ``scope["state"]["abort"]()``.

    ASGI cannot express it. A fault that drops the connection must look to the caller like a
    network that failed, and not like a strange answer.
    """

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
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError as error:
        raise UsageError(f"{host!r} is not a loopback address; use 127.0.0.1 or ::1.") from error
    if not parsed.is_loopback:
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

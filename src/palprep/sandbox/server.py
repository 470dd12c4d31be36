"""The sandbox as a real server: uvicorn in a thread, on a real loopback socket."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from typing import cast

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from palprep.errors import UsageError


class DroppableProtocol(H11Protocol):
    """Lets the application cut the connection: ``scope["state"]["abort"]()``.

    ASGI has no word for it, and a fault that drops the connection must look to the caller
    like a network that failed, not like an answer that is odd.
    """

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast("asyncio.Transport", transport)
        super().connection_made(stream)
        self.app_state = {**self.app_state, "abort": stream.abort}


def bind_loopback(host: str, port: int) -> socket.socket:
    """A listening socket on ``host``. Raises :class:`UsageError` unless that is loopback: the
    sandbox has an unguarded admin interface, and its keys are public knowledge."""
    address = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError as error:
        raise UsageError(f"{host!r} is no loopback address; use 127.0.0.1 or ::1.") from error
    if not parsed.is_loopback:
        raise UsageError(
            f"The sandbox listens on loopback only, and {host} is not; use 127.0.0.1 or ::1."
        )
    family = socket.AF_INET6 if parsed.version == 6 else socket.AF_INET
    # asyncio switches Nagle's algorithm off only where the protocol is named; with it on, an
    # answer's body waits for the acknowledgement of its head, 40 ms later.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A restarted sandbox must get its port back while old connections linger.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(512)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"The sandbox cannot listen on {host}:{port}: {error.strerror}. Use another --port, "
            "or 0 for a free one."
        ) from error
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class ServerThread:
    """Serves one application on one listening socket until stopped."""

    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        self._listener = listener
        config = uvicorn.Config(
            app,
            http=DroppableProtocol,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._run, name="palprep-sandbox", daemon=True)
        self.loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Return when the server answers."""
        self._thread.start()
        self._server.settled.wait()
        if not self._server.started:
            self._thread.join()
            raise UsageError("The sandbox's server did not start; its log says why.")

    def stop(self) -> None:
        """Finish what is being answered, briefly, and end the thread."""
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            self._server.settled.set()

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        await self._server.serve(sockets=[self._listener])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.settled = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.settled.set()

"""A listening socket, and a thread that serves one application on it until told to stop."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import socket
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import uvicorn
from starlette.types import ASGIApp

from palprep.errors import ToolFailed, UsageError
from palprep.serving.protocol import ImpatientProtocol
from palprep.system import on_signals

T = TypeVar("T")

log = logging.getLogger("palprep.serving")

_BACKLOG = 128
"""asyncio also accepts as many connections in one turn of its loop."""
_TURNS = 5
"""Turns of the loop until the protocol knows of every accepted connection; asyncio needs three."""
_LOGGED_EVERY_S = 60.0
_SHUTDOWN_S = 10.0
_POLL_S = 0.002
"""Between two looks at uvicorn's flag that it has started: it offers no event to wait for."""


def listening_socket(host: str, port: int) -> socket.socket:
    """A TCP socket that listens on the address ``host``, IPv4 or IPv6; ``port`` 0 takes a free
    one. Raises UsageError for what is no port, and when the system refuses, for example because
    the port is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = None
    try:
        # asyncio switches Nagle's algorithm off only where the protocol is named; with it on, an
        # answer's body waits for the acknowledgement of its head, 40 ms later.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        # A restarted server must get its port back while old connections linger. On Windows this
        # would give it to two servers.
        if os.name != "nt":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError, TypeError) as error:
        if listener is not None:
            listener.close()
        # Python's message about a number that is no port says which numbers are.
        why = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise UsageError(
            f"Cannot listen on {host}:{port}: {why}; choose another port or host. Port 0 takes a "
            "free one"
        ) from None
    return listener


def url_of(listener: socket.socket) -> str:
    """``http://HOST:PORT`` of a listening socket, without a slash at the end."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Also close connections that were accepted a moment ago, such as those that browsers open
        ahead: uvicorn shuts only those that it knows, and waits for the others."""
        for each in self.servers:
            each.close()
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        await super().shutdown(sockets)


class ServerThread:
    """Serves ``app`` on ``listener`` until stopped; the listener is closed with it.

    ``name`` is the thread's. ``http`` is uvicorn's protocol for HTTP. When it stops, answers under
    way have ``grace_s`` seconds to finish, and then the application has ten to end.
    """

    def __init__(
        self,
        app: ASGIApp,
        listener: socket.socket,
        *,
        name: str,
        http: type[asyncio.Protocol] = ImpatientProtocol,
        grace_s: int = 5,
    ) -> None:
        self._listener = listener
        self._end_within_s = grace_s + _SHUTDOWN_S
        # No access lines: a path may be a secret.
        config = uvicorn.Config(
            app,
            http=http,
            ws="none",
            log_config=None,
            access_log=False,
            backlog=_BACKLOG,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=grace_s,
        )
        self._server = _Server(config)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._logged_at = -math.inf

    def start(self) -> None:
        """Start, and return as soon as it answers. Raises ToolFailed when it could not start, and
        UsageError for a second start."""
        if self._thread.ident is not None:
            raise UsageError(f"The server {self._thread.name} was started before: make another one")
        self._thread.start()
        while self._thread.is_alive() and not self._server.started:
            time.sleep(_POLL_S)
        if not self._server.started:
            self.stop()
            raise ToolFailed(f"The server {self._thread.name} did not start; its log says why")

    @property
    def at_work(self) -> bool:
        """Whether its thread runs, which it never does in a process that was forked."""
        return self._thread.is_alive()

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of ``coroutine``, run on the server's own loop. Raises what the coroutine
        raises, and RuntimeError unless the server runs."""
        if self._loop is None or not self._server.started:
            coroutine.close()
            raise RuntimeError("the server is not running")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def stop(self) -> None:
        """Finish the answers under way, end the thread and close the listener. When the thread does
        not end in time, both are left behind and a warning is logged."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(self._end_within_s)
            if self._thread.is_alive():
                log.warning("%s is still at work and is left behind", self._thread.name)
                return
        self._listener.close()

    def _run(self) -> None:
        # uvicorn exits when its application does not start, after logging why.
        with suppress(SystemExit):
            asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._log_error)
        await self._server.serve(sockets=[self._listener])

    def _log_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log an error of the event loop. asyncio reports thousands of times a second that it can
        accept no connection; that is logged once a minute."""
        error = context.get("exception")
        if not (isinstance(error, OSError) and "accept" in context.get("message", "")):
            loop.default_exception_handler(context)
        elif loop.time() - self._logged_at >= _LOGGED_EVERY_S:
            self._logged_at = loop.time()
            log.error("No connection can be accepted: %s. It is tried again", error.strerror)


@contextmanager
def until_signalled(until: threading.Event | None = None) -> Iterator[threading.Event]:
    """An event to wait for, ``until`` or a new one. Inside the block signals set it."""
    stop = until or threading.Event()
    with on_signals(lambda *_: stop.set()):
        yield stop

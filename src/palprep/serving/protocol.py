"""HTTP on one connection, as uvicorn speaks it, with an end to requests that stand still."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)

_MOST_HELD = 64 * 1024
"""Bytes; more are written at once."""


class GatheringTransport:
    """Writes what is written in one turn of the loop at once; else it is the transport it is
    given.

    uvicorn writes an answer's head and its body apart, and writing is most of what a short answer
    costs.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = bytearray()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Hold ``data`` until the turn is over, or until it is much."""
        if data and not self._held:
            self._loop.call_soon(self._write_held)
        self._held += data
        if len(self._held) > _MOST_HELD:
            self._write_held()

    def close(self) -> None:
        """Write what is held, then close."""
        self._write_held()
        self._transport.close()

    def abort(self) -> None:
        """Cut the connection; what is held is lost with it."""
        self._held.clear()
        self._transport.abort()

    def _write_held(self) -> None:
        if self._held:
            self._transport.write(bytes(self._held))
            self._held.clear()


class ImpatientProtocol(H11Protocol):
    """Cuts a connection on which a request, head or body, has begun and stands still.

    uvicorn itself waits for the rest for ever, and holds the connection meanwhile.
    """

    stalled_s = 30.0
    """Seconds without a byte after which a half-sent request is given up."""

    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Write through a transport that gathers."""
        gathering = GatheringTransport(cast("asyncio.Transport", transport), self.loop)
        super().connection_made(cast("asyncio.Transport", gathering))

    def data_received(self, data: bytes) -> None:
        """Take more of a request, and wait for the rest of it if there is any."""
        super().data_received(data)
        self._stop_waiting()
        if self._half_sent():
            self._giving_up = self.loop.call_later(self.stalled_s, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more is waited for."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _half_sent(self) -> bool:
        state = self.conn.their_state
        return state is h11.SEND_BODY or (state is h11.IDLE and bool(self.conn.trailing_data[0]))

    def _stop_waiting(self) -> None:
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None

    def _give_up(self) -> None:
        log.info("A request was sent by half and is given up")
        self.transport.abort()

"""HTTP within bounds: of the time that a request may stall, and of the size of a body."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

import h11
from starlette.requests import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from palprep.errors import PalprepError

log = logging.getLogger(__name__)

_MOST_HELD = 64 * 1024
"""In bytes. More than this is written at once."""
_DISCARD_BYTES = 64 * 1024 * 1024


class GatheringTransport:
    """Joins what is written in one turn of the loop. Otherwise it is the transport it is given.

    uvicorn writes the head and the body of an answer separately, and writing is most of the cost
    of a short answer.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = bytearray()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Hold ``data`` until the turn is over, up to 64 KiB."""
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
    """Cuts a connection on which a request (head or body) has begun and stalls.

    uvicorn itself waits for the rest for ever, and keeps the connection.
    """

    stalled_s = 30.0
    """Seconds without a byte after which a half-sent request is given up."""

    _giving_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Write through a transport that joins pieces."""
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
        log.info("A request was sent in part and is given up")
        self.transport.abort()


class BodyTooLarge(PalprepError):
    """More bytes than are taken here."""

    code = "body_too_large"


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body, with at most ``limit`` bytes in memory.

    Raises :class:`BodyTooLarge` for more. The rest of such a body is read and thrown away
    first, up to 64 MiB of it: a caller that is still sending when the connection closes never
    sees the answer.
    """
    declared = request.headers.get("content-length", "")
    keep = not (declared.isdecimal() and int(declared) > limit)
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        keep = keep and size <= limit
        if keep:
            chunks.append(chunk)
        elif size > _DISCARD_BYTES:
            break
    if not keep:
        raise BodyTooLarge(f"The body is too large: at most {limit} bytes are taken.")
    return b"".join(chunks)

"""HTTP with limits on the time that a request may stall, and on the size of its body."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

import h11
from starlette.requests import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from palprep.errors import PalprepError

log = logging.getLogger(__name__)

_DISCARD_BYTES = 64 * 1024 * 1024


class _QuietLog(logging.LoggerAdapter[logging.Logger]):
    """uvicorn's log, without what strangers could fill it with: a warning for each malformed
    request. A request that the end of the server cuts off is no error."""

    level = logging.INFO  # uvicorn asks for it.

    def warning(self, msg: object, *args: object, **kwargs: Any) -> None:
        self.info(msg, *args, **kwargs)

    def error(self, msg: object, *args: object, **kwargs: Any) -> None:
        cut_off = isinstance(kwargs.get("exc_info"), asyncio.CancelledError)
        self.log(logging.INFO if cut_off else logging.ERROR, msg, *args, **kwargs)


class ImpatientProtocol(H11Protocol):
    """HTTP for callers who may be many, and slow on purpose.

    The head of a request may take ``head_s`` seconds, from the connection or from its first byte.
    A body may stall for ``stalled_s`` seconds, and take ``body_s`` in all, plus one second for
    every ``least_rate`` bytes that have come. An answer that nobody reads is given up after
    ``stalled_s`` seconds. uvicorn itself waits for ever in all these cases; it closes only a
    connection on which no second request begins.

    A server keeps at most ``max_connections``. To take another one, it cuts one that waits for its
    caller: first one whose caller goes on sending after the answer or does not read it, then one
    from the address with the most, then the one that has waited longest. There is no limit for one
    address, because all callers behind a proxy share theirs. A new connection is refused only while
    all others are being answered.
    """

    head_s = 10.0
    body_s = 30.0
    stalled_s = 30.0
    least_rate = 500
    """Bytes a second; the usual choice of web servers (Apache, mod_reqtimeout)."""
    max_connections = 200

    _timer: asyncio.TimerHandle | None = None
    _reader: asyncio.TimerHandle | None = None
    _phase: tuple[object, object] = (None, h11.IDLE)
    """The request, and the part of it that is arriving: each part has its own time."""
    _since = 0.0
    _bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.logger = cast("logging.Logger", _QuietLog(self.logger))
        super().connection_made(cast("asyncio.Transport", transport))
        # Writing pauses at the first byte that the caller does not read, even at the end.
        self.transport.set_write_buffer_limits(0)
        self._since = self.loop.time()
        self._make_room()
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        state = self.conn.their_state
        if state in {h11.DONE, h11.MUST_CLOSE}:  # The request is complete.
            self._since = self.loop.time()
            self._stop_waiting()
            return
        if (self.cycle, state) != self._phase:
            self._phase, self._since, self._bytes = (self.cycle, state), self.loop.time(), 0
        self._bytes += len(data)
        self._watch()

    def pause_writing(self) -> None:
        """The caller does not read: wait, but not for ever."""
        super().pause_writing()
        self._reader = self._reader or self.loop.call_later(self.stalled_s, self._give_up)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request. After a complete head uvicorn would answer twice, and fail
        the second time; there the connection is cut instead."""
        if self.conn.our_state is h11.IDLE:
            super().send_400_response(msg)
            return
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.abort()

    @property
    def _waits(self) -> bool:
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY) or self.flow.write_paused

    def _watch(self) -> None:
        """Start the timer for the part of the request that is arriving."""
        self._stop_waiting()
        state, left = self.conn.their_state, self._since - self.loop.time()
        if state is h11.SEND_BODY:
            left = min(left + self.body_s + self._bytes / self.least_rate, self.stalled_s)
        elif state is h11.IDLE and (self.cycle is None or self.conn.trailing_data[0]):
            left += self.head_s
        else:
            return  # Between two requests uvicorn has its own timer.
        self._timer = self.loop.call_later(max(left, 0.0), self._expire)

    def _expire(self) -> None:
        if self.flow.read_paused:  # The application is slow, and not the caller.
            self._since = self.loop.time()
            self._watch()
        else:
            self._give_up()

    def _make_room(self) -> None:
        if len(self.connections) <= self.max_connections:
            return
        open_ = [
            cast("ImpatientProtocol", each)
            for each in self.connections
            if not each.transport.is_closing()
        ]
        if len(open_) > self.max_connections:
            waiting = [each for each in open_ if each is not self and each._waits]  # noqa: SLF001
            crowd = Counter(_address(each) for each in waiting)
            to_cut = min(waiting, key=lambda each: each._precedence(crowd), default=self)  # noqa: SLF001
            to_cut.transport.abort()

    def _precedence(self, crowd: Mapping[str, int]) -> tuple[bool, int, float]:
        """The lowest is cut first. ``crowd`` counts waiting connections by address."""
        done = self.cycle is not None and self.cycle.response_complete
        idle = self.conn.their_state is h11.IDLE
        lingers = (done and not idle) or self.flow.write_paused
        return not lingers, -crowd[_address(self)], self._since

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        log.info("A caller that does not go on is given up")
        self.transport.abort()


def _address(connection: H11Protocol) -> str:
    return connection.client[0] if connection.client else ""


class BodyTooLarge(PalprepError, code="body_too_large"):
    """A body with more bytes than :func:`read_body` takes."""


async def read_body(request: Request, limit: int) -> bytes:
    """The whole body, with at most ``limit`` bytes in memory. Raises :class:`BodyTooLarge` for a
    larger one, after reading and dropping up to 64 MiB of it: a caller that is still sending when
    the connection closes never sees the answer."""
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

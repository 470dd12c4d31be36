"""HTTP on one connection, as uvicorn speaks it, with an end to requests that stand still."""

from __future__ import annotations

import asyncio
import logging

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)


class ImpatientProtocol(H11Protocol):
    """Cuts a connection on which a request, head or body, has begun and stands still.

    uvicorn itself waits for the rest for ever, and holds the connection meanwhile.
    """

    stalled_s = 30.0
    """Seconds without a byte after which a half-sent request is given up."""

    _giving_up: asyncio.TimerHandle | None = None

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

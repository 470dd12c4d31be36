"""The socket between a worker and the process that started it: messages of bytes."""

from __future__ import annotations

import select
import socket
import struct
import threading
import time

_HEAD = struct.Struct("!Q")
_PIECE_BYTES = 1 << 20

MOST_BYTES = 64 << 20
"""Of one message. The report on an hour of video takes less than one of them."""


class Channel:
    """One end of a socket. Not multiprocessing's connection: that waits without end for the rest
    of a message that was begun, and a worker may have been taken over.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._held = bytearray()
        self._sending = threading.Lock()

    def send(self, message: bytes) -> None:
        """Send a message whole; from any thread. Raises OSError."""
        with self._sending:
            self._socket.sendall(_HEAD.pack(len(message)) + message)

    def receive(self, within_s: float | None = None) -> bytes | None:
        """The next message; None when it is not here ``within_s`` seconds.

        Raises EOFError at the end, OSError for a broken socket or more than :data:`MOST_BYTES`.
        """
        give_up = None if within_s is None else time.monotonic() + within_s
        while (message := self._taken()) is None:
            left = None if give_up is None else max(0.0, give_up - time.monotonic())
            if not self._readable(left):
                return None
            piece = self._socket.recv(_PIECE_BYTES)
            if not piece:
                raise EOFError
            self._held += piece
        return message

    def is_quiet(self) -> bool:
        """Whether nothing has come, its end neither."""
        return not self._held and not self._readable(0.0)

    def close(self) -> None:
        """Close this end."""
        self._socket.close()

    def _taken(self) -> bytes | None:
        if len(self._held) < _HEAD.size:
            return None
        [size] = _HEAD.unpack_from(self._held)
        if size > MOST_BYTES:
            raise OSError(f"a message of {size} bytes")
        end = _HEAD.size + size
        if len(self._held) < end:
            return None
        message = bytes(self._held[_HEAD.size : end])
        del self._held[:end]
        return message

    def _readable(self, within_s: float | None) -> bool:
        waiting = select.poll()
        waiting.register(self._socket, select.POLLIN)
        return bool(waiting.poll(None if within_s is None else within_s * 1000))

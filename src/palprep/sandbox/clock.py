"""The sandbox's time: real, or virtual and moved only when told."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

ClockKind = Literal["real", "virtual"]


class SandboxClock:
    """Seconds since the epoch, as the sandbox sees them.

    A real clock runs with ``source`` and can be set ahead of it; a virtual clock stands still
    between two calls of :meth:`move_to`. Neither ever runs backwards through this interface.
    """

    def __init__(
        self,
        kind: ClockKind = "real",
        *,
        source: Callable[[], float] = time.time,
        start: float | None = None,
    ) -> None:
        self.kind = kind
        self._source = source
        opened = source()
        self._standing = max(opened, start or opened)
        self._ahead = self._standing - opened

    @property
    def ticking(self) -> bool:
        """Whether time passes by itself."""
        return self.kind == "real"

    def now(self) -> float:
        """This moment, in seconds since the epoch."""
        return self._source() + self._ahead if self.ticking else self._standing

    def move_to(self, moment: float) -> None:
        """Set the clock ahead to ``moment``; a moment that has passed changes nothing."""
        missing = moment - self.now()
        if missing > 0:
            self._ahead += missing
            self._standing = max(self._standing, moment)


def stamp(moment: float) -> str:
    """``YYYY-MM-DDTHH:MM:SS.ffffff`` in UTC, the shape that the specification gives voices."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")


def stamp_utc(moment: float) -> str:
    """The same moment marked as UTC, for records whose times are said to be in UTC."""
    return stamp(moment) + "Z"

"""When to try again, how long to wait, and how often to ask: plain arithmetic."""

from __future__ import annotations

import threading
from collections import deque

from palprep import errors
from palprep.api import Rate

RETRIED_STATUSES = frozenset({408, 425, 500, 502, 503, 504})
"""Statuses worth another attempt where repeating is safe. 429 is always worth one: the request
was not served."""

FIRST_POLL_S = 1.0
LONGEST_POLL_S = 15.0
LOOK_EVERY_S = 0.25

PASSING = (errors.TransportError, errors.ServiceUnavailable, errors.RateLimited)
"""Failures of a read that say nothing about the resource, so that waiting goes on."""


_FIRST_DELAY_S = 0.5
_LONGEST_DELAY_S = 8.0
_PATIENCE_S = 60.0


def delay_s(attempt: int, retry_after: float | None, random: float) -> float | None:
    """Seconds to wait after failed ``attempt`` (from 0), None to give up.

    Full jitter: a random part of 0.5 s, doubled with each attempt, at most 8 s. A Retry-After
    replaces that. One above a minute ends the attempts, because the caller must decide about such
    a wait.
    """
    if retry_after is not None:
        return retry_after if retry_after <= _PATIENCE_S else None
    return random * min(_LONGEST_DELAY_S, _FIRST_DELAY_S * 2.0**attempt)


class Limiter:
    """A sliding window over the moments at which requests leave. Thread-safe."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self._moments: deque[float] = deque(maxlen=rate.requests)
        self._lock = threading.Lock()

    def reserve(self, now: float) -> float:
        """Count one more request; how many seconds it must wait before it may leave."""
        with self._lock:
            at = now
            if len(self._moments) == self.rate.requests:
                at = max(now, self._moments[0] + self.rate.seconds)
            self._moments.append(at)
            return at - now

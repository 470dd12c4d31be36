"""What comes of sending a request: an answer, none, another attempt, a record; and how often."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from palprep.api import Call, Rate, Reply, read_body

R = TypeVar("R", bound=Reply)


@dataclass(frozen=True)
class Answer:
    """What came back: a ``status``, ``headers`` (lower-case names) and a body (``content``, in
    bytes), after ``elapsed`` seconds."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)
    elapsed: float = 0.0


@dataclass(frozen=True)
class NoAnswer:
    """Nothing came back. ``sent`` is false when the request certainly never left complete."""

    sent: bool
    timed_out: bool
    detail: str


@dataclass(frozen=True)
class Retry:
    """``call`` is sent once more in so many ``seconds``, after failed ``attempt`` (from 0).
    ``after`` is what came of that one."""

    seconds: float
    call: Call[Any]
    attempt: int
    after: Answer | NoAnswer


@dataclass(frozen=True, kw_only=True)
class RawResponse(Answer, Generic[R]):
    """A reply as it came, and the ``record`` read from it."""

    record: R

    def json(self) -> Any:
        """The body as parsed JSON; its text when it is not JSON, None when it is empty."""
        return read_body(self.content)


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

"""When to try again, how long to wait, and how often to ask: plain arithmetic."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from palprep import errors
from palprep.api import AccountSettings, Rate
from palprep.client.steps import Doing, Pause

T = TypeVar("T")

RETRIED_STATUSES = frozenset({408, 425, 500, 502, 503, 504})
"""Statuses worth another attempt where repeating is safe. 429 is always worth one: the request
was not served."""

FIRST_POLL_S = 1.0
LONGEST_POLL_S = 15.0
LOOK_EVERY_S = 0.25

PASSING = (errors.TransportError, errors.ServiceUnavailable, errors.RateLimited)
"""Failures of a read that say nothing about the resource, so that waiting goes on."""


@dataclass(frozen=True)
class Backoff:
    """Full jitter: after failed attempt ``n`` (from 0) wait a random part of ``base * 2**n``
    seconds, at most ``cap``. A Retry-After replaces that. One above ``patience`` seconds ends
    the attempts, because the caller must decide about such a wait."""

    retries: int = 2
    base: float = 0.5
    cap: float = 8.0
    patience: float = 60.0

    def delay(self, attempt: int, retry_after: float | None, random: float) -> float | None:
        """Seconds to wait after failed ``attempt`` (from 0), None to give up."""
        if attempt >= self.retries:
            return None
        if retry_after is not None:
            return retry_after if retry_after <= self.patience else None
        return random * min(self.cap, self.base * 2.0**attempt)


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


@dataclass(frozen=True)
class Context:
    """Everything but the call itself on which decisions depend."""

    settings: AccountSettings
    backoff: Backoff
    clock: Callable[[], float]
    """Monotonic seconds."""
    now: Callable[[], datetime]
    """The date, with a time zone; read only for a Retry-After that is one."""
    random: Callable[[], float]
    """Uniform in [0, 1)."""
    deadline: float | None = None
    """Seconds that a call may take in all, other attempts included; None for no end."""
    strict: bool = False
    """Whether a reply that is not as specified is an error."""
    limiters: dict[str, Limiter] = field(default_factory=dict)
    """By the endpoint's name, where it has a rate; shared by a client and its copies."""


def until(
    ended: Callable[[T], bool],
    what: str,
    context: Context,
    timeout: float,
    *,
    ask: Callable[[], Doing[T]] | None = None,
    look: Callable[[], Doing[T]] | None = None,
) -> Doing[T]:
    """Wait until a state has ``ended``, and return that state.

    ``ask`` costs the service a request: it comes at once, after 1 s, then ever more rarely,
    up to every 15 s. ``look`` costs nothing, such as a look at what callbacks have told: it
    comes four times a second. Give either or both.

    After ``timeout`` seconds raises :class:`~palprep.errors.WaitTimeout`, which names
    ``what`` was waited for; its ``last`` is the last state.
    """
    give_up = context.clock() + timeout
    ask_at, poll = context.clock(), FIRST_POLL_S
    last: T | None = None
    trouble = ""
    while True:
        if look is not None:
            last = yield from look()
        if ask is not None and context.clock() >= min(ask_at, give_up) and not _is(ended, last):
            try:
                last = yield from ask()
                trouble = ""
            except PASSING as error:
                trouble = f" The last attempt to ask failed: {error}"
            # A little jitter keeps many waiting clients from asking in step.
            ask_at = context.clock() + poll * (0.75 + 0.25 * context.random())
            poll = min(LONGEST_POLL_S, poll * 1.5)
        if last is not None and ended(last):
            return last
        left = give_up - context.clock()
        if left <= 0:
            status = getattr(last, "status", None) or "unknown"
            raise errors.WaitTimeout(
                f"{what}: not ended after {timeout:g} s; the last status was {status}.{trouble} "
                "Wait again, with a longer timeout.",
                last=last,
            )
        looks = LOOK_EVERY_S if look is not None else left
        asks = ask_at - context.clock() if ask is not None else left
        yield Pause(max(0.0, min(left, looks, asks)))


def _is(ended: Callable[[T], bool], state: T | None) -> bool:
    return state is not None and ended(state)

"""What the user allows: how fast a run asks, for how much, and how long it waits."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from palprep.client import LOOK_EVERY_S
from palprep.errors import (
    PalprepError,
    ServiceUnavailable,
    ServiceUnreachable,
    TransportError,
    UsageError,
)
from palprep.values import typed_fields

_FIRST_PROBE_S = 1.0
_LONGEST_PROBE_S = 30.0
"""Between two probes whether the service answers again."""

_MOST_DOUBTS = 10
"""In a row. Then the service itself fails, and each further request would need a decision."""

_log = logging.getLogger(__name__)


@typed_fields
@dataclass(frozen=True)
class Pace:
    """What a run may do, and for how long.

    ``wait_s`` is how long a run waits for trainings once nothing else is left to do; 0 waits for
    none. ``doubt_wait_s`` of these seconds are for a callback that resolves a doubt. A run asks for
    at most ``max_creates`` voices and replicas, and sends at most ``requests_per_s`` requests in a
    second.
    """

    wait_s: float = 900.0
    doubt_wait_s: float = 30.0
    max_creates: int | None = None
    requests_per_s: int | None = None

    def __post_init__(self) -> None:
        for name, least in (("max_creates", 0), ("requests_per_s", 1)):
            most = getattr(self, name)
            if most is not None and most < least:
                raise UsageError(f"{name} must be at least {least}, not {most}")


class HeldBack(PalprepError, code="held_back"):
    """Not asked for in this run, because a ceiling is reached. The next run goes on."""


class Creates:
    """How many voices and replicas a run may still create. Thread-safe."""

    def __init__(self, most: int | None) -> None:
        self._most, self._created, self._doubts = most, 0, 0
        self._closed: str | None = None
        self._guard = threading.Lock()

    def take(self) -> None:
        """Count one creation more. Raises HeldBack when this run may ask for no more."""
        with self._guard:
            if self._closed is not None:
                raise HeldBack(self._closed)
            if self._most is not None and self._created >= self._most:
                then = "Run the same command again" if self._most else "Allow it at least one"
                raise HeldBack(f"Not asked for: this run may create {self._most} at most. {then}")
            self._created += 1

    def give_back(self) -> None:
        """Take back a count: nothing was created."""
        with self._guard:
            self._created -= 1

    def settle(self, *, in_doubt: bool) -> None:
        """Count doubts. After ten requests in a row that are in doubt, no more is asked for."""
        with self._guard:
            self._doubts = self._doubts + 1 if in_doubt else 0
            if self._doubts >= _MOST_DOUBTS:
                self.close(
                    f"Not asked for: what became of the last {_MOST_DOUBTS} requests is not known. "
                    "Run the same command again when the service works"
                )

    def close(self, why: str) -> None:
        self._closed = self._closed or why


@dataclass
class Outage:
    """Waits while a service does not answer, for at most ``most_s`` seconds; after that, not again.
    Meanwhile nobody asks it for anything. Thread-safe. ``probe`` raises TransportError while the
    service does not answer, or ServiceUnavailable while a proxy answers for it."""

    probe: Callable[[], object]
    most_s: float
    clock: Callable[[], float]
    sleep: Callable[[float], object]
    _guard: threading.Lock = field(default_factory=threading.Lock, init=False)
    _given_up: bool = field(default=False, init=False)

    def wait_out(self, error: ServiceUnreachable, go_on: Callable[[], object]) -> None:
        """Wait until the service answers again. ``go_on`` is called meanwhile, and what it raises
        ends the waiting. Raises the ``error`` when the service was waited for too long."""
        with self._guard:
            since, next_s = self.clock(), _FIRST_PROBE_S
            while True:
                with contextlib.suppress(TransportError, ServiceUnavailable):
                    self.probe()
                    return
                if self._given_up or self.clock() - since >= self.most_s:
                    self._given_up = True
                    raise error
                if next_s == _FIRST_PROBE_S:
                    _log.warning("%s Nothing is asked for until it answers", error.message)
                left_s = next_s
                while left_s > 0:
                    go_on()
                    self.sleep(min(left_s, LOOK_EVERY_S))
                    left_s -= LOOK_EVERY_S
                next_s = min(_LONGEST_PROBE_S, 2 * next_s)

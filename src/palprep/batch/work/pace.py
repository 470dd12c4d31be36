"""How fast a run asks, how much, and how long it waits: what the user allows."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from palprep.errors import PalprepError, ServiceUnavailable, ServiceUnreachable, TransportError

_FIRST_PROBE_S = 1.0
_LONGEST_PROBE_S = 30.0
"""Between two looks whether a service answers again."""

_MOST_DOUBTS = 10
"""In a row: then it is the service that fails, and each further request is one more to decide."""

_log = logging.getLogger(__name__)


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


class HeldBack(PalprepError, code="held_back"):
    """Not asked for in this run, because a ceiling is reached. The next run goes on."""


class Creates:
    """How many voices and replicas a run may still create. Thread-safe."""

    def __init__(self, most: int | None) -> None:
        self._most, self._created, self._doubts = most, 0, 0
        self._closed: str | None = None
        self._guard = threading.Lock()

    def take(self) -> None:
        """Take leave to create one. Raises HeldBack when there is none in this run."""
        with self._guard:
            if self._closed is not None:
                raise HeldBack(self._closed)
            if self._most is not None and self._created >= self._most:
                then = "Run the same command again" if self._most else "Allow it at least one"
                raise HeldBack(f"Not asked for: this run may create {self._most} at most. {then}")
            self._created += 1

    def give_back(self) -> None:
        """Nothing was created."""
        with self._guard:
            self._created -= 1

    def settle(self, *, in_doubt: bool) -> None:
        """Something was asked for. Where it is in doubt as all before it, no more is asked for."""
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
    """A service that does not answer: nobody asks it for anything until it does. Thread-safe.
    ``probe`` raises TransportError while it does not, or ServiceUnavailable while a proxy answers
    for it, which is waited out for ``most_s`` seconds, and not again after that.
    """

    probe: Callable[[], object]
    most_s: float
    clock: Callable[[], float]
    sleep: Callable[[float], object]
    _guard: threading.Lock = field(default_factory=threading.Lock, init=False)
    _given_up: bool = field(default=False, init=False)

    def wait_out(self, error: ServiceUnreachable, go_on: Callable[[], object]) -> None:
        """Wait until the service answers again. ``go_on`` is called meanwhile;
        what it raises ends the waiting. Raises the ``error`` when it has been waited for too long.
        """
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
                go_on()
                self.sleep(next_s)
                next_s = min(_LONGEST_PROBE_S, 2 * next_s)

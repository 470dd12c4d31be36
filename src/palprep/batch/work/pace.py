"""How fast a run asks, how much, and how long it waits: what the user allows."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from palprep.errors import PalprepError, ServiceUnreachable, TransportError

_FIRST_PROBE_S = 1.0
_LONGEST_PROBE_S = 30.0
"""Between two looks whether a service answers again."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pace:
    """What a run may do, and for how long.

    ``wait_s`` is how long a run waits for trainings once nothing else is left to do; 0 waits for
    none. ``doubt_wait_s`` of these seconds are for a callback that resolves a doubt. A run asks for
    at most ``max_creates`` voices and replicas, has at most ``max_training`` in training at once,
    and sends at most ``requests_per_s`` requests in a second.
    """

    wait_s: float = 900.0
    doubt_wait_s: float = 30.0
    max_creates: int | None = None
    max_training: int | None = None
    requests_per_s: int | None = None


class HeldBack(PalprepError):
    """Not asked for in this run, because a ceiling is reached. The next run goes on."""

    code = "held_back"


class Places:
    """Room for creates: so many in a run, and so many in training at once. Thread-safe. A place is
    taken for the key of a creation, and freed when the training has ended."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._training: set[str] = set()
        self._created = 0
        self._waiting = 0
        self._closed: str | None = None
        self._changed = threading.Condition()

    @property
    def queue(self) -> int:
        """How many wait for a place, while there is none. Whoever can take one does not wait."""
        with self._changed:
            return self._waiting if self._is_full else 0

    def occupy(self, key: str) -> None:
        """The creation under this key is in training already."""
        with self._changed:
            self._training.add(key)

    def take(self, key: str, go_on: Callable[[], object]) -> None:
        """Take a place to create in, waiting for one that becomes free. ``go_on`` is called
        meanwhile; what it raises ends the waiting. Raises HeldBack when there will be none.
        """
        with self._changed:
            self._waiting += 1
            try:
                self._require_room()
                while self._is_full:
                    go_on()
                    self._changed.wait(0.1)
                    self._require_room()
            finally:
                self._waiting -= 1
            self._created += 1
            self._training.add(key)

    def give_back(self, key: str) -> None:
        """Nothing was created in the place that was taken."""
        with self._changed:
            self._created -= 1
        self.free(key)

    def free(self, key: str) -> None:
        """The training has ended, or no one here will hear of its end."""
        with self._changed:
            self._training.discard(key)
            self._changed.notify_all()

    def close(self, why: str) -> None:
        """Give no place any more."""
        with self._changed:
            self._closed = self._closed or why
            self._changed.notify_all()

    @property
    def _is_full(self) -> bool:
        at_once = self._pace.max_training
        return at_once is not None and len(self._training) >= at_once

    def _require_room(self) -> None:
        """Raise HeldBack where there will be no place in this run."""
        if self._closed is not None:
            raise HeldBack(self._closed)
        most = self._pace.max_creates
        if most is not None and self._created >= most:
            then = "Run the same command again" if most else "Allow it at least one"
            raise HeldBack(f"Not asked for: this run may create {most} at most. {then}")


class Outage:
    """A service that does not answer: nobody asks it for anything until it does. Thread-safe.
    ``probe`` raises TransportError while it does not, which is waited out for ``most_s`` seconds,
    and not again after that.
    """

    def __init__(
        self,
        probe: Callable[[], object],
        most_s: float,
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], object],
    ) -> None:
        self._probe, self._most_s, self._clock, self._sleep = probe, most_s, clock, sleep
        self._guard = threading.Lock()
        self._given_up = False

    def wait_out(self, error: ServiceUnreachable, go_on: Callable[[], object]) -> None:
        """Wait until the service answers again. ``go_on`` is called meanwhile, as in
        :meth:`Places.take`. Raises the ``error`` when it has been waited for too long.
        """
        with self._guard:
            since, next_s = self._clock(), _FIRST_PROBE_S
            while True:
                with contextlib.suppress(TransportError):
                    self._probe()
                    return
                if self._given_up or self._clock() - since >= self._most_s:
                    self._given_up = True
                    raise error
                if next_s == _FIRST_PROBE_S:
                    _log.warning("%s Nothing is asked for until it answers", error.message)
                go_on()
                self._sleep(next_s)
                next_s = min(_LONGEST_PROBE_S, 2 * next_s)

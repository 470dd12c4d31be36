"""Which workers of a cluster are there, and which of them can do the work."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Container, Mapping
from typing import Any

from palprep.batch.engines.cluster_worker import cannot_work
from palprep.batch.engines.files import Store
from palprep.errors import ClusterFailed, PalprepError

LOOK_S = 5.0
"""How often to see whether the scheduler and its workers are still there."""

_AGAIN_S = 30.0
"""Until a worker that was left out is asked again."""

_ALONE_S = 600.0
"""How long a cluster may be without workers: machines of a cloud take minutes to start."""

_log = logging.getLogger(__name__)


class Workers:
    """The workers that the scheduler of ``client`` has, and who of them is left out. Thread-safe.
    ``version`` and ``store`` are what a worker must have and be able to read.
    """

    def __init__(
        self,
        address: str,
        client: Any,
        version: str,
        store: Store | None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = address
        self._client = client
        self._asked = (version, store)
        self._clock = clock
        self._guard = threading.Lock()
        self._threads: Mapping[str, int] = {}
        self._seen_at = self._asked_at = -_ALONE_S
        self._alone_since: float | None = None
        self._left_out: dict[str, str] = {}
        self._complaints: dict[str, str] = {}

    def threads(self) -> int:
        """Of all workers that can do the work."""
        return sum(count for each, count in self._there().items() if not self.is_left_out(each))

    def to_use(self, tried: Container[str] = ()) -> list[str] | None:
        """The workers for a task that those in ``tried`` could not do; None for all, those that
        come later included. Raises ClusterFailed when none can work, or has come for ten minutes.
        """
        there, now = self._there(), self._clock()
        with self._guard:
            self._require_company(there, now)
            again = now - self._asked_at >= _AGAIN_S and self._left_out.keys() & there.keys()
            if again:
                self._asked_at = now
        if again:
            self.look_at(*again)
        with self._guard:
            fit = [each for each in there if each not in self._left_out]
            if there and not fit:
                told = "\n".join(f"{each}: {self._left_out[each]}" for each in sorted(there))
                raise ClusterFailed(f"No worker of {self._address} can do the work\n{told}")
            left = [each for each in fit if each not in tried]
            return None if left == list(there) else left or None

    def others(self, worker: str) -> bool:
        """Whether somebody else can do the work."""
        return any(each not in {worker, *self._left_out} for each in self._there())

    def is_left_out(self, worker: str) -> bool:
        """Whether the worker gets no work for now."""
        return worker in self._left_out

    def look_at(self, *workers: str) -> bool:
        """Ask these workers, or all, whether they can do the work. Those that cannot are left out
        from now on, and the others are not. True when somebody is left out who was not before.
        """
        told: Mapping[str, object] = self._client.run(
            cannot_work, *self._asked, workers=list(workers) or None, on_error="return"
        )
        before = set(self._left_out)
        for worker, said in told.items():
            if said:
                self.leave_out(worker, _words(said, self._asked[0]))
            elif worker in before:
                with self._guard:
                    self._left_out.pop(worker, None)
                _log.warning("%s can do the work again", worker)
        return bool(self._left_out.keys() - before)

    def leave_out(self, worker: str, why: str) -> None:
        """Give no more work to this worker until it can do it."""
        with self._guard:
            known = self._left_out.get(worker) == why
            self._left_out[worker] = self._complaints[worker] = why
        if not known:
            _log.warning("%s is left out: %s", worker, why)

    def complaints(self) -> tuple[str, ...]:
        """What was wrong with workers of the cluster, a sentence for each."""
        with self._guard:
            return tuple(
                f"The worker {worker} of {self._address} could not do all its work, and others did "
                f"it: {why}"
                for worker, why in sorted(self._complaints.items())
            )

    def _there(self) -> Mapping[str, int]:
        now = self._clock()
        with self._guard:
            if now - self._seen_at >= LOOK_S / 2:
                self._threads, self._seen_at = self._client.nthreads(), now
            return self._threads

    def _require_company(self, there: Mapping[str, int], now: float) -> None:
        if there:
            self._alone_since = None
        elif self._alone_since is None:
            self._alone_since = now
            _log.warning("%s has no workers. Start some: the run waits for them", self._address)
        elif now - self._alone_since > _ALONE_S:
            raise ClusterFailed(
                f"No worker has come to {self._address} for {_ALONE_S / 60:.0f} minutes. Start "
                "some, and run the same command again"
            )


def _words(said: object, version: str) -> str:
    """What a worker answered, or what asking it came to."""
    if isinstance(said, PalprepError):
        return said.message
    if isinstance(said, ImportError | AttributeError):
        return f"it has no palprep, or not this one. Install {version} there"
    if isinstance(said, Exception):
        return f"it does not answer ({type(said).__name__}: {said})"
    return str(said)

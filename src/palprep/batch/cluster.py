"""Media work on a Dask cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from palprep._version import __version__
from palprep.batch.cluster_worker import in_own_process
from palprep.errors import PalprepError, ServiceUnreachable, ToolFailed, ToolMissing
from palprep.vocabulary import install_advice
from palprep.workers.engine import Limits, Timed, WorkStopped

T = TypeVar("T")

_KILLED = "KilledWorker"
"""Dask's error for a task at which several workers died, one after the other."""

_LOOK_S = 5.0
"""How often it is seen whether the scheduler is still there."""

_BESIDES_S = 900.0
"""What a task may take besides the work at its file: a process is started, the file is fetched, and
what was prepared is put into a bucket. The worker itself ends the work when its time is over."""


class OtherVersion(ToolFailed):
    """A worker of the cluster has another version of palprep. Install this one there."""

    code = "other_version"


class DaskEngine(Timed):
    """A Dask cluster, named ``dask://HOST:PORT``. Its workers must have palprep in this version.

    Each task runs in a process of its own there, within ``limits``. The workers must see the same
    files under the same paths, too, unless the files are carried
    (:class:`~palprep.batch.carrying.CarryingEngine`).

    Raises ToolMissing without the extra, ServiceUnreachable when no scheduler answers, ToolFailed
    for a worker that cannot do the work, which the message names.
    """

    far = True

    def __init__(
        self, address: str, *, limits: Limits | None = None, connect_within_s: float = 10.0
    ) -> None:
        try:
            distributed = importlib.import_module("distributed")
        except ImportError:
            raise ToolMissing(f"The dask engine needs an extra: {install_advice('dask')}") from None
        self.limits = limits or Limits()
        self._address = address
        try:
            self._client: Any = distributed.Client(
                address.replace("dask://", "tcp://", 1),
                set_as_default=False,
                timeout=connect_within_s,
            )
        except (OSError, ValueError) as error:
            raise ServiceUnreachable(f"No Dask scheduler answers at {address}: {error}") from None
        try:
            self.ask_each(_other_version, __version__)
        except BaseException:
            self.close()
            raise
        self.jobs: int = max(1, sum(self._client.nthreads().values()))
        # A task's time runs from when it is sent: none is sent before a worker is free for it.
        self._free = threading.BoundedSemaphore(self.jobs)
        self._closing = False

    def _run(
        self, media_s: float, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        return self.at_worker(media_s, in_own_process, self.limits, function, args, kwargs)

    def at_worker(self, media_s: float, function: Callable[..., Any], /, *args: Any) -> Any:
        """Run a function in a worker itself, without limits, for media of this length.

        Raises ToolFailed when it takes much longer than the limits allow for the work at a file.
        """
        with self._free:
            return self._awaited(self.limits.time_for(media_s) + _BESIDES_S, function, args)

    def _awaited(self, time_s: float, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if self._closing:
            raise WorkStopped
        try:
            future = self._client.submit(_here, __version__, function, args, pure=False)
            return self._result(future, time_s)
        except PalprepError:
            raise
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- a lost scheduler, pickling: all of Dask's
            if self._closing:
                raise WorkStopped from None
            raise ToolFailed(self._lost(error)) from None

    def _result(self, future: Any, time_s: float) -> Any:
        give_up = time.monotonic() + time_s
        while not future.done():
            left = give_up - time.monotonic()
            if left <= 0:
                future.cancel()
                raise ToolFailed(
                    f"No answer came from {self._address} within {time_s:.0f} s. See whether its "
                    "workers can fetch the files, and run the same command again"
                )
            # A client that has given its scheduler up ends the tasks that were there, and forgets
            # those that came meanwhile.
            if self._client.status in {"closing", "closed"}:
                raise ConnectionError("the scheduler is gone")
            with contextlib.suppress(TimeoutError, concurrent.futures.TimeoutError):
                return future.result(timeout=min(left, _LOOK_S))
        return future.result()

    def ask_each(self, function: Callable[..., str | None], *args: object) -> None:
        """Call a function on every worker that is there now: None, or what is wrong with it.

        Raises ToolFailed with what is wrong, worker by worker.
        """
        told: Mapping[str, object] = self._client.run(function, *args, on_error="return")
        wrong = {where: _words(said) for where, said in told.items()}
        lines = [f"{where}: {words}" for where, words in sorted(wrong.items()) if words]
        if lines:
            count = "a worker" if len(lines) == 1 else f"{len(lines)} workers"
            raise ToolFailed(f"{count} of {self._address} cannot do the work\n" + "\n".join(lines))

    def close(self, *, at_once: bool = False) -> None:
        """See :meth:`Engine.close`."""
        del at_once  # Tasks of a client that leaves are released by the scheduler.
        self._closing = True
        with contextlib.suppress(OSError, TimeoutError):
            self._client.close()

    def _lost(self, error: BaseException) -> str:
        if type(error).__name__ == _KILLED:
            return (
                f"Workers of {self._address} died at this task, one after the other: the machines "
                "they run on may have too little memory. Give --memory-limit less than they have"
            )
        return (
            f"{self._address} could not do the media work ({type(error).__name__}: {error}). See "
            "whether its scheduler and its workers run, and run the same command again"
        )


def _other_version(wanted: str) -> str | None:
    """Asked of every worker: what is wrong with its palprep, where there is one."""
    if __version__ == wanted:
        return None
    return f"it has palprep {__version__}, and this is {wanted}. Install {wanted} there"


def _here(wanted: str, function: Callable[..., T], args: tuple[Any, ...]) -> T:
    """What a worker does for a task. One that joined later may be of another version."""
    wrong = _other_version(wanted)
    if wrong is not None:
        raise OtherVersion(f"A worker cannot do the work: {wrong}")
    return function(*args)


def _words(said: object) -> str | None:
    """What a worker answered, or what asking it came to."""
    if isinstance(said, PalprepError):
        return said.message
    if isinstance(said, ImportError | AttributeError):
        return f"it has no palprep, or not this one. Install {__version__} there"
    if isinstance(said, Exception):
        return f"it does not answer ({type(said).__name__}: {said})"
    return said if isinstance(said, str) else None

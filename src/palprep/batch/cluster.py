"""Media work on a Dask cluster."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from palprep._version import __version__
from palprep.errors import PalprepError, ServiceUnreachable, ToolFailed, ToolMissing
from palprep.vocabulary import install_advice
from palprep.workers.engine import Limits, Timed, WorkStopped

T = TypeVar("T")

_KILLED = "KilledWorker"
"""Dask's error for a task at which several workers died, one after the other."""


class OtherVersion(ToolFailed):
    """A worker of the cluster has another version of palprep. Install this one there."""

    code = "other_version"


class DaskEngine(Timed):
    """A Dask cluster, named ``dask://HOST:PORT``. Its workers must have palprep in this version.

    They must see the same files under the same paths, too, unless the files are carried
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
        self._limits = limits or Limits()
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
        with self._free:
            return self._awaited(self._limits.time_for(media_s), function, args, kwargs)

    def _awaited(
        self, time_s: float, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        if self._closing:
            raise WorkStopped
        try:
            future = self._client.submit(_here, __version__, function, args, kwargs, pure=False)
            return self._result(future, time_s)
        except PalprepError:
            raise
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- a lost scheduler, pickling: all of Dask's
            if self._closing:
                raise WorkStopped from None
            raise ToolFailed(self._lost(error)) from None

    def _result(self, future: Any, time_s: float) -> Any:
        try:
            return future.result(timeout=time_s)
        except (TimeoutError, concurrent.futures.TimeoutError):
            future.cancel()
            raise ToolFailed(
                f"The media work exceeded its limit of {time_s:.0f} s on "
                f"{self._address} and was given up"
            ) from None

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
                f"Workers of {self._address} died at this file, one after the other: it may be "
                "damaged in a way that crashes a decoder, or the workers have too little memory"
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


def _here(
    wanted: str, function: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> T:
    """What a worker does for a task. One that joined later may be of another version."""
    wrong = _other_version(wanted)
    if wrong is not None:
        raise OtherVersion(f"A worker cannot do the work: {wrong}")
    return function(*args, **kwargs)


def _words(said: object) -> str | None:
    """What a worker answered, or what asking it came to."""
    if isinstance(said, PalprepError):
        return said.message
    if isinstance(said, ImportError | AttributeError):
        return f"it has no palprep, or not this one. Install {__version__} there"
    if isinstance(said, Exception):
        return f"it does not answer ({type(said).__name__}: {said})"
    return said if isinstance(said, str) else None

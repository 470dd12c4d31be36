"""Which engine a run works with: worker processes of this machine, or a Dask cluster.

Only media work goes through an engine. Requests to the service never do: an engine may run a task
twice.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from palprep._version import __version__
from palprep.batch.engines.cluster_worker import (
    Reply,
    cannot_work,
    carry_out,
    take_in,
)
from palprep.batch.engines.files import (
    BucketFiles,
    FetchedSource,
    Files,
    fetch_here,
)
from palprep.batch.engines.tasks import AssetTask
from palprep.batch.people.files import RemoteFile
from palprep.errors import PalprepError, ServiceUnreachable, ToolFailed, ToolMissing, UsageError
from palprep.fixes import atomic_output
from palprep.media import Source
from palprep.preflight import media_workers
from palprep.storage import PROBE, PROBE_NAME, Bucket, GoOn
from palprep.vocabulary import install_advice
from palprep.workers import LONGEST_S, Engine, Limits, WorkStopped

_KILLED = "KilledWorker"
"""Dask's error for a task at which several workers died, one after the other."""

_LOOK_S = 5.0
"""How often to see whether the scheduler is still there."""

_BESIDES_S = 900.0
"""What a task may take beyond the work at its file: a process is started, the file is fetched, and
what was prepared is put into a bucket. The worker itself ends the work when its time is over."""


class DaskEngine(Engine):
    """A Dask cluster, named ``dask://HOST:PORT``. Its workers must have palprep in this version.

    Each task runs in a process of its own there, within ``limits``. The workers see the same files
    as this machine under the same paths; with a ``bucket`` they need to see none of them, and files
    among the positional arguments of a task come to them through it.

    Raises ToolMissing without the extra, ServiceUnreachable when no scheduler answers, ToolFailed
    for a worker that cannot do the work, which the message names; StorageError when this machine
    cannot use the bucket, also in a run.
    """

    far = True

    def __init__(
        self,
        address: str,
        *,
        limits: Limits | None = None,
        bucket: Bucket | None = None,
        connect_within_s: float = 10.0,
    ) -> None:
        try:
            distributed = importlib.import_module("distributed")
        except ImportError:
            raise ToolMissing(f"The dask engine needs an extra: {install_advice('dask')}") from None
        self.limits = limits or Limits()
        self._address = address
        self._bucket = None if bucket is None else BucketFiles(bucket)
        self._store = None if bucket is None else bucket.url
        self.files: Files = self._bucket or Files()
        """Where the workers put what they prepared."""
        try:
            self._client: Any = distributed.Client(
                address.replace("dask://", "tcp://", 1),
                set_as_default=False,
                timeout=connect_within_s,
            )
        except (OSError, ValueError) as error:
            raise ServiceUnreachable(f"No Dask scheduler answers at {address}: {error}") from None
        try:
            if bucket is not None:
                bucket.put(PROBE_NAME, PROBE)
            self._ask_each_worker()
        except BaseException:
            self.close()
            raise
        self.jobs: int = max(1, sum(self._client.nthreads().values()))
        # A task's time runs from when it is sent: none is sent before a worker is free for it.
        self._free = threading.BoundedSemaphore(self.jobs)
        self._closing = False

    def fetch(self, file: RemoteFile, to: Path, go_on: GoOn) -> FetchedSource:
        """See :func:`fetch`."""
        if self._bucket is None:
            return fetch_here(file, to, go_on)
        go_on()
        found: FetchedSource = self._at_worker(LONGEST_S, take_in, self._store, file, __version__)
        self._bucket.source_is_there(found.source.sha256)
        return found

    def _run(
        self, media_s: float, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        self._send(args)
        carried = functools.partial(
            carry_out, limits=self.limits, version=__version__, store=self._store
        )
        reply: Reply = self._at_worker(media_s, carried, function, args, kwargs)
        task = next((each for each in args if isinstance(each, AssetTask)), None)
        if task is not None and task.pictures is not None:
            for name, data in reply.pictures:
                with atomic_output(Path(task.pictures) / name, lasting=False) as temporary:
                    temporary.write_bytes(data)
        return reply.value

    def _send(self, value: Any) -> None:
        """Put the sources among the arguments of a task into the bucket."""
        if self._bucket is not None and isinstance(value, Source):
            self._bucket.put_source(value)
        elif type(value) is tuple:
            for each in value:
                self._send(each)

    def _at_worker(self, media_s: float, function: Callable[..., Any], /, *args: Any) -> Any:
        """Call a function in a worker itself, without limits, for media of this length.

        Raises ToolFailed when it takes much longer than the limits allow for the work at a file.
        """
        with self._free:
            if self._closing:
                raise WorkStopped
            try:
                future = self._client.submit(function, *args, pure=False)
                return self._result(future, self.limits.wall_for(media_s) + _BESIDES_S)
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
            with contextlib.suppress(TimeoutError):
                return future.result(timeout=min(left, _LOOK_S))
        return future.result()

    def _ask_each_worker(self) -> None:
        """Raise ToolFailed with why workers that are there now cannot work, one by one."""
        told: Mapping[str, object] = self._client.run(
            cannot_work, __version__, self._store, on_error="return"
        )
        lines = [f"{where}: {_words(said)}" for where, said in sorted(told.items()) if said]
        if lines:
            count = "a worker" if len(lines) == 1 else f"{len(lines)} workers"
            raise ToolFailed(f"{count} of {self._address} cannot do the work\n" + "\n".join(lines))

    def close(self, *, at_once: bool = False) -> None:
        """See :meth:`Engine.close`."""
        del at_once  # Tasks of a client that leaves are released by the scheduler.
        self._closing = True
        with contextlib.suppress(OSError, TimeoutError):
            self._client.close()
        if self._bucket is not None:
            self._bucket.remove_sources()

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


def _words(said: object) -> str:
    """What a worker answered, or what asking it came to."""
    if isinstance(said, PalprepError):
        return said.message
    if isinstance(said, ImportError | AttributeError):
        return f"it has no palprep, or not this one. Install {__version__} there"
    if isinstance(said, Exception):
        return f"it does not answer ({type(said).__name__}: {said})"
    return str(said)


def make_engine(
    name: str = "local",
    *,
    jobs: int | None = None,
    store: str | None = None,
    limits: Limits | None = None,
) -> Engine:
    """``local``, or ``dask://HOST:PORT``. Raises UsageError for anything else.

    With ``store``, the URL of a bucket, a cluster's workers need to see no file of this machine.
    """
    if name.startswith("dask://"):
        return DaskEngine(name, limits=limits, bucket=None if store is None else Bucket(store))
    if name != "local":
        raise UsageError(f"There is no engine {name!r}: give local or dask://HOST:PORT")
    if store is not None:
        raise UsageError("--store is for a cluster's workers: give --engine dask://HOST:PORT, too")
    return media_workers(jobs, limits=limits)


def files_of(engine: Engine) -> Files:
    """Where the files are that the engine's workers prepare."""
    return engine.files if isinstance(engine, DaskEngine) else Files()


def fetch(engine: Engine, file: RemoteFile, to: Path, go_on: GoOn) -> FetchedSource:
    """Fetch a source that lies elsewhere to where the engine's workers find it: here, to the path;
    or into the bucket, by a worker, and then nothing of it comes here.

    Raises StorageError, OutputUnwritable, and what ``go_on`` raises.
    """
    if isinstance(engine, DaskEngine):
        return engine.fetch(file, to, go_on)
    return fetch_here(file, to, go_on)

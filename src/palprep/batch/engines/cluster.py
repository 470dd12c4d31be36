"""The engine of a run: worker processes of this machine, or a Dask cluster, with a record of which
workers are there and which of them can do the work.

Only media work goes through an engine. Requests to the service never do: an engine may run a task
twice.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import importlib
import itertools
import logging
import re
import threading
import time
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from palprep._version import __version__
from palprep.batch.engines.cluster_worker import (
    Reply,
    cannot_work,
    carry_out,
    take_in,
    telling_faults,
)
from palprep.batch.engines.files import BucketFiles, Files, Store, fetch_here
from palprep.batch.engines.tasks import AssetTask
from palprep.batch.people.files import RemoteFile
from palprep.errors import (
    ClusterFailed,
    PalprepError,
    ServiceUnreachable,
    ToolFailed,
    ToolMissing,
    UsageError,
)
from palprep.media.sources import Source
from palprep.preflight import media_workers
from palprep.storage import PROBE, GoOn, atomic_output
from palprep.vocabulary import install_advice
from palprep.workers import Engine, Limits, WorkStopped

P = ParamSpec("P")
T = TypeVar("T")

_GONE = frozenset({"closing", "closed"})
"""The status of Dask's client once it has given its scheduler up."""

_LOST = 5
"""How often the connection may be lost during one task."""

_log = logging.getLogger(__name__)


LOOK_S = 5.0
"""How often to see whether the scheduler and its workers are still there."""

_AGAIN_S = 30.0
"""Until a worker that was left out is asked again."""

_ALONE_S = 600.0
"""How long a cluster may be without workers: machines of a cloud take minutes to start."""


class Workers:
    """The workers that the scheduler of ``client`` has, and which of them are left out. A worker
    must have this ``version`` of palprep, and be able to read the ``store``. Thread-safe."""

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
        """The threads of all workers that can do the work; the last known number where the
        scheduler is gone, which the tasks tell."""
        with contextlib.suppress(Exception, asyncio.CancelledError):  # All of Dask's.
            self._there()
        return sum(count for each, count in self._threads.items() if not self.is_left_out(each))

    def to_use(self, tried: Container[str] = ()) -> list[str] | None:
        """The workers for a task at which those in ``tried`` failed; None for all workers, also
        future ones. Raises ClusterFailed when none can work, or none has come for ten minutes."""
        there, now = self._there(), self._clock()
        with self._guard:
            self._require_workers(there, now)
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
        return worker in self._left_out

    def look_at(self, *workers: str) -> bool:
        """Ask these workers, or all, whether they can do the work. Those that cannot are left out
        from now on, and the others are not. True when another worker is left out than before."""
        answers: Mapping[str, object] = self._client.run(
            cannot_work, *self._asked, workers=list(workers) or None, on_error="return"
        )
        before = set(self._left_out)
        for worker, answer in answers.items():
            if answer:
                self.leave_out(worker, _why_not(answer, self._asked[0]))
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

    def _require_workers(self, there: Mapping[str, int], now: float) -> None:
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


def _why_not(answer: object, version: str) -> str:
    """Why a worker cannot do the work: its answer, or the error of asking it, in words."""
    if isinstance(answer, PalprepError):
        return answer.message
    if isinstance(answer, ImportError | AttributeError):
        return f"it has no palprep, or not this one. Install {version} there"
    if isinstance(answer, Exception):
        return f"it does not answer ({type(answer).__name__}: {answer})"
    return str(answer)


class DaskEngine(Engine):
    """A Dask cluster, named ``dask://HOST:PORT``. Its workers must have palprep in this version.

    Each task runs in a process of its own there, within ``limits``. The workers see the same files
    as this machine under the same paths; with a ``store`` they need to see none of them, and files
    among the positional arguments of a task come to them through it.

    Dask has the queue. What a worker cannot do for a reason of its own, another one does; from then
    on it is left out, until it can work again.

    Raises ToolMissing without the extra, ServiceUnreachable without a scheduler; also in a run
    StorageError when this machine cannot use the bucket, and ClusterFailed.
    """

    far = True

    def __init__(
        self,
        address: str,
        *,
        limits: Limits | None = None,
        store: Store | None = None,
        connect_within_s: float = 10.0,
    ) -> None:
        try:
            distributed = importlib.import_module("distributed")
        except ImportError:
            raise ToolMissing(f"The dask engine needs an extra: {install_advice('dask')}") from None
        # A lost connection is told in words, once; Dask's own log adds the traceback.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self.limits = limits or Limits()
        self._address = address
        self._store = store
        self._bucket = None if store is None else BucketFiles(store)
        self.files: Files = self._bucket or Files()
        """Where the workers put what they prepared."""
        self._closing = False
        self._tasks = itertools.count(1)
        try:
            self._client: Any = distributed.Client(
                address.replace("dask://", "tcp://", 1),
                set_as_default=False,
                timeout=connect_within_s,
            )
        except (OSError, ValueError) as error:
            raise ServiceUnreachable(f"No Dask scheduler answers at {address}: {error}") from None
        self._workers = Workers(address, self._client, __version__, store)
        try:
            if self._bucket is not None:
                self._bucket.bucket.put(*PROBE)
            self._workers.look_at()
            self._workers.to_use()
        except BaseException:
            self.close()
            raise

    @property
    def jobs(self) -> int:
        """Threads of the workers that are there now; 1 where there is none yet."""
        return max(1, self._workers.threads())

    def complaints(self) -> tuple[str, ...]:
        return self._workers.complaints()

    def take_in(self, file: RemoteFile, to: Path, go_on: GoOn) -> Source:
        """Fetch a source that lies elsewhere: here, to the path; or, with a bucket, by a worker
        into that, and then nothing of it comes here. Raises as :func:`fetch_here`."""
        if self._store is None:
            return fetch_here(file, to, go_on)
        go_on()
        reply = self._at_worker(take_in, self._store, file, name=file.shown)
        return cast("Source", reply.value)

    def run_for(
        self, media_s: float, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        del media_s  # The worker sees how long the file lasts.
        self._send(args)
        source = next((each.shown for each in args if isinstance(each, Source)), "")
        name = f"{getattr(function, '__name__', 'task')} {Path(source).name}".strip()
        carried = (function, args, kwargs, self.limits, self._store)
        reply = self._at_worker(carry_out, *carried, name=name)
        task = next((each for each in args if isinstance(each, AssetTask)), None)
        if task is not None:
            for picture, data in reply.pictures:
                with atomic_output(Path(task.pictures) / picture, lasting=False) as temporary:
                    temporary.write_bytes(data)
        return cast("T", reply.value)

    def _send(self, value: Any) -> None:
        if self._bucket is not None and isinstance(value, Source):
            self._bucket.put_source(value)
        elif type(value) is tuple:
            for each in value:
                self._send(each)

    def _at_worker(self, function: Callable[..., Reply], /, *args: Any, name: str) -> Reply:
        """Call a function in a worker itself, which sees to its own limits.

        What fails at two workers that can do other work is the task's own failure, and is raised.
        """
        tried: dict[str, PalprepError] = {}
        while True:
            reply = self._reply(function, args, name, tried)
            if reply.fault is None:
                for worker, fault in tried.items():
                    self._workers.leave_out(worker, fault.message)
                return reply
            self._workers.look_at(reply.worker)
            if not self._workers.is_left_out(reply.worker):
                if tried or not self._workers.others(reply.worker):
                    raise reply.fault
                tried[reply.worker] = reply.fault

    def _reply(
        self, function: Callable[..., Reply], args: Any, name: str, tried: Container[str]
    ) -> Reply:
        """The reply of a worker that has not ``tried`` the task before."""
        future: Any = None
        lost = 0
        while True:
            if self._closing:
                raise WorkStopped
            try:
                workers = self._workers.to_use(tried)
                future = self._client.submit(
                    functools.partial(telling_faults, function, __version__),
                    *args,
                    key=f"{name}-{self._client.id}-{next(self._tasks)}",
                    pure=False,
                    workers=workers,
                    # Where none of these is left, others will do.
                    allow_other_workers=workers is not None,
                )
                return self._result(future)
            except PalprepError:
                raise
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 -- a lost scheduler, pickling: all of Dask's
                if self._closing:
                    raise WorkStopped from None
                if future is None or future.status != "error":
                    lost += 1
                    if future is not None and lost <= _LOST and self._client.status not in _GONE:
                        # Dask drops what is under way when it loses its scheduler, and comes back.
                        _log.warning("%s was lost for a moment (%s)", self._address, error)
                        continue
                    raise ClusterFailed(
                        f"{self._address} does no work any more ({type(error).__name__}: {error}). "
                        "See whether its scheduler and its workers run, and run the same command "
                        "again"
                    ) from None
                # Where somebody has no palprep, Dask itself says what is missing, and not where.
                if not self._workers.look_at():
                    raise ToolFailed(
                        f"{self._address} could not do the media work ({type(error).__name__}: "
                        f"{error}). Where workers died, give --memory-limit less than their "
                        "machines have"
                    ) from None

    def _result(self, future: Any) -> Reply:
        # Not by `future.result(timeout=...)`: a time limit that ends while the result is fetched
        # loses the result. Without a limit, it waits for ever for a client that was closed.
        fetched = self._client.gather(future, asynchronous=True)
        asked = asyncio.run_coroutine_threadsafe(fetched, self._client.loop.asyncio_loop)
        while not concurrent.futures.wait([asked], timeout=LOOK_S).done:
            # A client that has given its scheduler up ends the tasks that were there, and forgets
            # those that came meanwhile.
            if self._closing or self._client.status in _GONE:
                raise ConnectionError("the scheduler is gone")
            self._workers.to_use()
        return cast("Reply", asked.result())

    def close(self, *, at_once: bool = False) -> None:
        del at_once  # Tasks of a client that leaves are released by the scheduler.
        self._closing = True
        with contextlib.suppress(OSError, TimeoutError):
            self._client.close()
        if self._bucket is not None:
            self._bucket.remove_sources()


def make_engine(
    name: str = "local",
    *,
    jobs: int | None = None,
    store: str | None = None,
    limits: Limits | None = None,
    run: str = "",
) -> Engine:
    """``local``, or ``dask://HOST:PORT``. Raises UsageError for anything else."""
    # Dask itself fails late at an address without a port, and with a traceback.
    if re.fullmatch(r"dask://.+:\d+/?", name):
        return DaskEngine(name, limits=limits, store=Store(store, run) if store else None)
    if name != "local":
        raise UsageError(f"There is no engine {name!r}: give local or dask://HOST:PORT")
    if store is not None:
        raise UsageError("--store is for a cluster's workers: give --engine dask://HOST:PORT, too")
    return media_workers(jobs, limits=limits)

"""What a worker of a cluster does for a task: it runs it in a process of its own, with limits.

So a file that crashes a decoder, or takes too much time or memory, ends only that process, and the
worker goes on with other tasks. Where it shares only a bucket with the machine of the run, the
files of the task come from there and go there.
"""

from __future__ import annotations

import functools
import importlib
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from palprep._version import __version__
from palprep.batch.engines.files import BucketFiles, Store, fetch_here
from palprep.batch.engines.tasks import AssetTask
from palprep.batch.people.files import RemoteFile
from palprep.errors import OutputUnwritable, PalprepError, StorageError, ToolFailed, ToolMissing
from palprep.media.sources import Source
from palprep.preflight import Asset, Prepared, media_workers, run_in
from palprep.storage import PROBE
from palprep.views.drawings import PictureFolder
from palprep.workers import Limits, LocalEngine, WorkStopped

_PICTURES = "pictures"

_PROBE_BYTES = 1 << 20
"""Written to see whether a worker has room for files."""


_OF_MACHINES = (OutputUnwritable, StorageError, ToolMissing)
"""Errors of this machine: another machine may do the same task."""


class Reply(NamedTuple):
    """The value of a function, and the pictures that it drew, by their names; or the ``fault``,
    which may be that of the machine, and the Dask address of the ``worker``."""

    value: Any = None
    pictures: tuple[tuple[str, bytes], ...] = ()
    fault: PalprepError | None = None
    worker: str = ""


def telling_faults(function: Callable[..., Reply], version: str, /, *args: Any) -> Reply:
    """The reply of the function here, or the fault of this machine. ``version`` is the palprep of
    the machine that asks: a worker that joined later may have another one."""
    wrong = cannot_work(version)
    try:
        if wrong is None:
            return function(*args)
        fault: PalprepError = ToolFailed(f"A worker cannot do the work: {wrong}")
    except WorkStopped:
        # This worker was told to end: another one will do the task.
        raise importlib.import_module("distributed").Reschedule from None
    except _OF_MACHINES as error:
        fault = error
    except OSError as error:
        fault = ToolFailed(f"The worker's folder for temporary files: {error.strerror or error}")
    address: str = importlib.import_module("distributed").get_worker().address
    return Reply(fault=fault, worker=address)


def carry_out(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    limits: Limits,
    store: Store | None,
) -> Reply:
    """Call the function in a process of its own, within ``limits``, or raise its error. ``store``
    is where the files are, if it is not a folder that all share.

    Raises like :meth:`Engine.run`, and StorageError where the bucket cannot be used.
    """
    engine = _processes(limits)
    task = next((each for each in args if isinstance(each, AssetTask)), None)
    if store is None:
        if task is not None:
            # The folders of all people: for wider rights a new process would have to be started.
            engine.may_open(writes=[Path(task.into).parents[1], Path(task.pictures)])
        return Reply(run_in(engine, function, *args, **kwargs))
    files = _opened(store)
    with tempfile.TemporaryDirectory(dir=_workplace().name) as folder:
        place = Path(folder).resolve()
        value = run_in(engine, function, *_fetched(args, files, place), **kwargs)
        if task is None or not isinstance(value, Asset):
            return Reply(value)
        return _put(value, files, place, home=Path(task.into))


def take_in(store: Store, file: RemoteFile) -> Reply:
    """Fetch a source that lies elsewhere, and put it into the bucket."""
    with tempfile.TemporaryDirectory(prefix="palprep-") as place:
        source = fetch_here(file, Path(place) / f"source{file.suffix}")
        _opened(store).put_source(source)
    return Reply(source)


@functools.lru_cache(maxsize=2)
def _processes(limits: Limits) -> LocalEngine:
    """Kept by each worker. Dask decides how many tasks it does at once."""
    engine = media_workers(limits=limits)
    engine.may_open(writes=[Path(_workplace().name)])
    return engine


@functools.lru_cache(maxsize=1)
def _workplace() -> tempfile.TemporaryDirectory[str]:
    """The folder for the folders of tasks, so that one process may do many tasks. It is removed
    when the worker ends."""
    return tempfile.TemporaryDirectory(prefix="palprep-")


_opened = functools.lru_cache(maxsize=2)(BucketFiles)
"""Kept by each worker, with its connections."""


def _fetched(value: Any, files: BucketFiles, place: Path) -> Any:
    """An argument as the function takes it here: its files are in the folder ``place``."""
    match value:
        case Source():
            # A folder of its own for each file: two may have one name.
            folder = Path(tempfile.mkdtemp(dir=place))
            return files.fetch_source(value, folder / Path(value.shown).name)
        case Prepared():
            folder = Path(tempfile.mkdtemp(dir=place))
            files.fetch(value, folder / value.path.name)
            return value.relocated(lambda path: folder / path.name)
        case AssetTask():
            own = {"into": str(place / "into"), "pictures": str(place / _PICTURES)}
            return value.model_copy(update=own)
        case tuple() if type(value) is tuple:
            return tuple(_fetched(each, files, place) for each in value)
        case _:
            return value


def _put(asset: Asset, files: BucketFiles, place: Path, *, home: Path) -> Reply:
    """The asset, told of its ``home`` in the run's folder, once its files are in the bucket."""
    if asset.prepared is not None:
        for each in asset.prepared.files:
            files.put(each)
        asset = asset.relocated(lambda path: home / path.name)
    drawn = PictureFolder(place / _PICTURES)
    pictures = tuple((each, (drawn.place / each).read_bytes()) for each in sorted(drawn.drawn()))
    return Reply(asset, pictures)


def cannot_work(wanted: str, store: Store | None = None) -> str | None:
    """Why this worker cannot work: it has another version of palprep, or cannot read the bucket or
    write its temporary files. None when it can."""
    if __version__ != wanted:
        return f"it has palprep {__version__}, and this is {wanted}. Install {wanted} there"
    try:
        with tempfile.TemporaryFile(dir=_workplace().name) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
        if store is not None:
            _opened(store).bucket.beginning(PROBE.name, len(PROBE.content))
    except OSError as error:
        return f"its folder for temporary files cannot be written: {error.strerror or error}"
    except StorageError as error:
        return error.message
    return None

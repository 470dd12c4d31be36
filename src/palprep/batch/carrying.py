"""Files carried through a bucket, to workers that share nothing else with this machine.

    here      a source is put into the bucket under its SHA-256, unless it is there; one that lies
              elsewhere, in a bucket or on the web, is fetched and put there by a worker
    a worker  fetches it into a folder of its own, does the task there, puts what it prepared into
              the bucket, and answers with the report and the pictures
    here      the report is told of the paths here; a prepared file is fetched when it is needed

The bucket's credentials never travel: each machine has them in its own environment.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from palprep.batch.asset_task import AssetTask
from palprep.batch.cluster import DaskEngine
from palprep.batch.cluster_worker import in_own_process
from palprep.batch.files import RemoteFile
from palprep.batch.kept_files import MAX_BYTES, key_in_bucket
from palprep.batch.originals import Brought, bring_here
from palprep.batch.seen import Seen
from palprep.errors import StorageError
from palprep.fixes.output import atomic_output
from palprep.media.source import Source
from palprep.preflight.asset import Asset
from palprep.preflight.prepared import Prepared
from palprep.publish.publishers import Content
from palprep.storage.arriving import GoOn
from palprep.storage.bucket import PROBE, PROBE_NAME, Bucket
from palprep.workers.engine import LONGEST_S, Limits, Timed

T = TypeVar("T")


@dataclass(frozen=True)
class SentSource:
    """A source on its way to a worker."""

    key: str
    sha256: str
    shown: str


@dataclass(frozen=True)
class SentPrepared:
    """A prepared file on its way to a worker."""

    prepared: Prepared


@dataclass(frozen=True)
class Answer:
    """What a worker answers: the value, where it prepared files, and the pictures it drew."""

    value: Any
    place: str = ""
    pictures: tuple[tuple[str, bytes], ...] = ()


@dataclass
class _Sending:
    """One source on its way into the bucket, or there."""

    guard: threading.Lock = field(default_factory=threading.Lock)
    done: bool = False


class CarryingEngine(Timed):
    """An engine whose workers see no file of this machine, only the bucket.

    Raises StorageError when this machine cannot use the bucket, also in a run, and ToolFailed when
    a worker cannot.
    """

    far = True

    def __init__(self, engine: DaskEngine, bucket: Bucket) -> None:
        self._engine = engine
        self._bucket = bucket
        self._sent: dict[str, _Sending] = {}
        self._guard = threading.Lock()
        bucket.put(PROBE_NAME, PROBE)
        engine.ask_each(_cannot_use, bucket.url)

    @property
    def jobs(self) -> int:
        """How many tasks the workers do at once."""
        return self._engine.jobs

    @property
    def files(self) -> InBucket:
        """Where the workers put what they prepared."""
        return InBucket(self._bucket)

    def _run(
        self, media_s: float, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        sent = tuple(self._sent_value(each) for each in args)
        named = {name: self._sent_value(each) for name, each in kwargs.items()}
        asked = (self._bucket.url, self._engine.limits, function, sent, named)
        answer = self._engine.at_worker(media_s, carry_out, *asked)
        task = next((each for each in args if isinstance(each, AssetTask)), None)
        return answer.value if task is None else _received(answer, task)

    def bring(self, file: RemoteFile, to: Path, go_on: GoOn) -> Brought:
        """A worker fetches the file and puts it into the bucket: nothing of it comes here."""
        del to
        go_on()
        brought: Brought = self._engine.at_worker(LONGEST_S, take_in, self._bucket.url, file)
        with self._guard:
            self._sent.setdefault(_source_key(brought.source.sha256), _Sending()).done = True
        return brought

    def close(self, *, at_once: bool = False) -> None:
        """See :meth:`Engine.close`. The sources are removed from the bucket again."""
        self._engine.close(at_once=at_once)
        for key in self._sent:
            with contextlib.suppress(StorageError):
                self._bucket.delete(key)

    def _sent_value(self, value: Any) -> Any:
        match value:
            case Source():
                return self._sent_source(value)
            case Prepared():
                return SentPrepared(value)
            case tuple():
                return tuple(self._sent_value(each) for each in value)
            case _:
                return value

    def _sent_source(self, source: Source) -> SentSource:
        key = _source_key(source.sha256)
        with self._guard:
            sending = self._sent.setdefault(key, _Sending())
        # Two roles may share a source, and their threads come at once.
        with sending.guard:
            if not sending.done and self._bucket.look(key) is None:
                self._bucket.put(key, source.path)
            sending.done = True
        return SentSource(key, source.sha256, source.shown)


@dataclass(frozen=True)
class InBucket:
    """Prepared files in a bucket, under the names that publishing gives them."""

    bucket: Bucket

    def holds(self, prepared: Prepared) -> bool:
        """Whether the file is there. Its name holds its SHA-256."""
        return self.bucket.look(_key_of(prepared)) is not None

    def seen(self, folder: Path, at: dt.datetime) -> Seen | None:
        """Nothing, since only the bucket knows what it holds: each file is asked for."""
        del folder, at
        return None

    @contextlib.contextmanager
    def at_hand(self, prepared: Prepared) -> Iterator[None]:
        """The file is fetched to its path, and removed again."""
        if prepared.path.is_file():
            yield
            return
        self.fetch(prepared, prepared.path)
        try:
            yield
        finally:
            prepared.path.unlink(missing_ok=True)

    def fetch(self, prepared: Prepared, to: Path) -> None:
        """Fetch the file. Raises StorageError when it is gone, or is another one by now."""
        to.parent.mkdir(parents=True, exist_ok=True)
        found = self.bucket.fetch(_key_of(prepared), to, max_bytes=MAX_BYTES)
        _require_same(found.sha256, prepared.sha256, prepared.path.name)


def take_in(url: str, file: RemoteFile) -> Brought:
    """What a worker does for a source elsewhere: it is fetched, and put into the bucket."""
    with tempfile.TemporaryDirectory(prefix="palprep-") as place:
        brought = bring_here(file, Path(place) / f"source{file.suffix}")
        bucket, key = _opened(url), _source_key(brought.source.sha256)
        if bucket.look(key) is None:
            bucket.put(key, brought.source.path)
    return brought


def carry_out(
    url: str,
    limits: Limits,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Answer:
    """What a worker does for a task: everything of it in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="palprep-") as place:
        desk = _Desk(_opened(url), Path(place).resolve())
        unpacked = tuple(desk.unpacked(each) for each in args)
        named = {name: desk.unpacked(each) for name, each in kwargs.items()}
        return desk.packed(in_own_process(limits, function, unpacked, named))


@dataclass
class _Desk:
    """A worker's folder for one task."""

    bucket: Bucket
    place: Path
    _count: int = field(default=0, init=False)

    def unpacked(self, value: Any) -> Any:
        match value:
            case SentSource():
                return self._source(value)
            case SentPrepared(prepared=prepared):
                path = self._new(prepared.path.name)
                InBucket(self.bucket).fetch(prepared, path)
                return prepared.model_copy(update={"path": path})
            case AssetTask():
                pictures = None if value.pictures is None else str(self._pictures)
                return value.model_copy(update={"into": str(self._into), "pictures": pictures})
            case tuple():
                return tuple(self.unpacked(each) for each in value)
            case _:
                return value

    def packed(self, value: Any) -> Answer:
        if not isinstance(value, Asset):
            return Answer(value)
        prepared = value.prepared
        for each in (prepared, prepared.consent if prepared else None):
            if each is not None:
                self._put(each)
        pictures = sorted(self._pictures.iterdir()) if self._pictures.is_dir() else []
        drawn = tuple((each.name, each.read_bytes()) for each in pictures)
        return Answer(value, str(self._into), drawn)

    @property
    def _into(self) -> Path:
        return self.place / "into"

    @property
    def _pictures(self) -> Path:
        return self.place / "pictures"

    def _new(self, name: str) -> Path:
        self._count += 1
        path = self.place / str(self._count) / name
        path.parent.mkdir()
        return path

    def _source(self, sent: SentSource) -> Source:
        path = self._new(Path(sent.shown).name)
        found = self.bucket.fetch(sent.key, path, max_bytes=MAX_BYTES)
        _require_same(found.sha256, sent.sha256, path.name)
        return replace(Source.of(path), given_as=sent.shown)

    def _put(self, prepared: Prepared) -> None:
        key = _key_of(prepared)
        if self.bucket.look(key) is None:
            self.bucket.put(key, prepared.path, Content.of(prepared).mime)


def _received(answer: Answer, task: AssetTask) -> Any:
    """The asset with the paths of this machine, and its pictures kept."""
    into = Path(task.into)
    into.mkdir(parents=True, exist_ok=True)
    if task.pictures is not None:
        for name, data in answer.pictures:
            with atomic_output(Path(task.pictures) / name, lasting=False) as temporary:
                temporary.write_bytes(data)
    if not answer.place:
        return answer.value
    there, here = (json.dumps(str(each))[1:-1] for each in (answer.place, into))
    told = answer.value.model_dump_json(round_trip=True).replace(there, here)
    return type(answer.value).model_validate_json(told)


def _source_key(sha256: str) -> str:
    return f"sources/{sha256}"


def _key_of(prepared: Prepared) -> str:
    return key_in_bucket(prepared.path, prepared.sha256)


def _require_same(found: str, wanted: str, name: str) -> None:
    if found != wanted:
        raise StorageError(
            f"{name} is another file in the bucket than the one that was put there. Let nothing "
            "else write below this prefix, and run again"
        )


@functools.lru_cache(maxsize=2)
def _opened(url: str) -> Bucket:
    """Kept by each worker, with its connections."""
    return Bucket(url)


def _cannot_use(url: str) -> str | None:
    """Asked of every worker: why it cannot read the bucket."""
    try:
        _opened(url).read(PROBE_NAME, max_bytes=len(PROBE))
    except StorageError as error:
        return error.message
    return None

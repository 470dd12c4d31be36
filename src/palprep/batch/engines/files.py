"""The files of a run: in its output folder, or in a bucket that the workers of a cluster share.

    here      a source is put into the bucket under its SHA-256; one that lies elsewhere, in another
              bucket or on the web, is fetched and put there by a worker
    a worker  fetches it, and puts what it prepared into the bucket
    here      a prepared file is fetched when it is needed

The bucket's credentials never travel: each machine has them in its own environment.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from palprep.batch.people.files import RemoteFile, digest_of, folder_fingerprint, is_web
from palprep.errors import StorageError
from palprep.journal import Journal
from palprep.media.sources import MOST_BYTES, Source, sha256_of
from palprep.preflight import Prepared
from palprep.publish import Content, ObjectStorePublisher, Publisher
from palprep.storage import Bucket, GoOn, fetch_url, object_at

MAX_BYTES = 1 << 40
"""The most that is fetched of a file in a run's bucket: no limit, as the run put it there."""


def key_in_bucket(path: Path, sha256: str) -> str:
    """The key of a prepared file with this content in a run's bucket."""
    return Content(path, sha256, path.name).stored_name()


def fetch_here(file: RemoteFile, to: Path, go_on: GoOn | None = None) -> Source:
    """Fetch a file to this machine. Its hash is known.

    Raises StorageError, also when its tag is another one by now; OutputUnwritable, and what
    ``go_on`` raises, which is called again and again meanwhile.
    """
    if is_web(file.url):
        found = fetch_url(file.url, to, max_bytes=MOST_BYTES, go_on=go_on)
    else:
        bucket, name = object_at(file.url)
        found = bucket.fetch(name, to, max_bytes=MOST_BYTES, go_on=go_on)
    if file.etag is not None and found.etag not in {None, file.etag}:
        raise changed(file)
    source = Source.at(to, file.shown)
    # Hashed now: what is known is pickled for the machine of the run.
    _ = source.sha256
    return source


def changed(file: RemoteFile) -> StorageError:
    """The error for a file that has changed. The person need not send another one."""
    return StorageError(
        f"{file} changed while palprep worked on it; run again when nothing writes to it any more"
    )


class Files:
    """The prepared files of a run. They lie where they were prepared."""

    def holds(self, prepared: Prepared) -> bool:
        """Whether the file is there, unchanged. One that cannot be read is prepared again, which
        says what is in the way."""
        try:
            return prepared.path.is_file() and sha256_of(prepared.path) == prepared.sha256
        except OSError:
            return False

    def fingerprint(self, folder: Path, prepared: Callable[[], Iterable[Prepared]]) -> str | None:
        """Another text when the prepared files in a folder of the output have changed; None where
        that cannot be told. ``prepared`` names those that were put elsewhere."""
        del prepared
        return folder_fingerprint(folder)

    def at_hand(self, prepared: Prepared) -> AbstractContextManager[None]:
        """The file lies at its path for as long as the block takes."""
        del prepared
        return contextlib.nullcontext()


def run_name(journal: Journal) -> str:
    """The name below which the runs of this output folder put sources into a bucket."""
    return journal.setting("sources_of", lambda: secrets.token_hex(8))


def source_key(run: str, sha256: str) -> str:
    """The key of a source with this content in a bucket."""
    return f"sources/{run}/{sha256}"


class Store(NamedTuple):
    """The URL of a bucket, and the name below which the runs of one output folder put sources."""

    url: str
    run: str


class BucketFiles(Files):
    """Prepared files in a bucket, under the names that publishing gives them. Sources lie next to
    them, below the name of the ``run``, so that each run has its own. Thread-safe. Each method
    raises StorageError where the bucket cannot be used."""

    def __init__(self, store: Store) -> None:
        self.bucket = Bucket(store.url)
        self._run = store.run
        self._listed: Mapping[str, int] | None = None
        self._sources: dict[str, threading.Lock] = {}
        """By their keys."""
        self._there: set[str] = set()
        self._guard = threading.Lock()

    def holds(self, prepared: Prepared) -> bool:
        """Whether the file is there. Its name holds its SHA-256."""
        return self.bucket.look(key_in_bucket(prepared.path, prepared.sha256)) is not None

    def fingerprint(self, folder: Path, prepared: Callable[[], Iterable[Prepared]]) -> str | None:
        """As :meth:`Files.fingerprint`, also of the dossiers in the folder. One list of the bucket
        serves all people; only what came later is asked for by itself."""
        here = folder_fingerprint(folder) if folder.exists() else ""
        if here is None:
            return None
        keys = sorted({key_in_bucket(each.path, each.sha256) for each in prepared()})
        there = [(key, self._size(key)) for key in keys]
        return digest_of([here, there])

    def _size(self, key: str) -> int | None:
        """The size in bytes; None where nothing is under the key, which names the content."""
        if self._listed is None:
            self._listed = {each.name: each.size_bytes for each in self.bucket.below()}
        size = self._listed.get(key)
        if size is None and (found := self.bucket.look(key)) is not None:
            size = found.size_bytes
        return size

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
        self._fetch(key_in_bucket(prepared.path, prepared.sha256), to, prepared.sha256)

    def put(self, prepared: Prepared) -> None:
        """Put the file there, unless it is there."""
        if not self.holds(prepared):
            mime = Content.of(prepared).mime
            self.bucket.put(key_in_bucket(prepared.path, prepared.sha256), prepared.path, mime)

    def put_source(self, source: Source) -> None:
        """Put a source there, unless it is there: once, however many threads ask for it."""
        key = source_key(self._run, source.sha256)
        with self._guard:
            turn = self._sources.setdefault(key, threading.Lock())
        # Two roles may share a source, and their threads come at once.
        with turn:
            if key not in self._there:
                if self.bucket.look(key) is None:
                    self.bucket.put(key, source.path)
                self._there.add(key)

    def fetch_source(self, source: Source, to: Path) -> Source:
        """The source of another machine, fetched to a path, as :meth:`fetch` does."""
        self._fetch(source_key(self._run, source.sha256), to, source.sha256)
        return Source.at(to, source.shown)

    def remove_sources(self) -> None:
        """Remove those that were put there, also by an earlier run that was killed."""
        with contextlib.suppress(StorageError):
            for each in tuple(self.bucket.below(source_key(self._run, ""))):
                self.bucket.delete(each.name)

    def _fetch(self, key: str, to: Path, sha256: str) -> None:
        if self.bucket.fetch(key, to, max_bytes=MAX_BYTES).sha256 != sha256:
            raise StorageError(
                f"{to.name} is another file in the bucket than the one that was put there. Let "
                "nothing else write below this prefix, and run again"
            )


class FilesPublisher:
    """A publisher to which prepared files are brought when it needs them. What lies in the bucket
    that it publishes to is left there, and signed for."""

    def __init__(self, publisher: Publisher, files: Files) -> None:
        self._publisher = publisher
        self._files = files

    def publish(self, file: Prepared, name: str | None = None) -> str:
        if isinstance(self._publisher, ObjectStorePublisher) and not file.path.is_file():
            link = self._publisher.link_to(file)
            if link is not None:
                return link
        with self._files.at_hand(file):
            return self._publisher.publish(file, name)

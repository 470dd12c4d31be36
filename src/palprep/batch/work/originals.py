"""One person's files: read where they are, or fetched when they are needed.

A file that was fetched once is recognised by its size and tag on its server. As long as these stay
the same, its content is known, and what earlier runs prepared of it needs no fetching.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from palprep.batch.engines.cluster import DaskEngine
from palprep.batch.engines.files import changed, fetch_here
from palprep.batch.people.files import File, RemoteFile, is_web, stage_key
from palprep.batch.work.context import Reporter, RunContext
from palprep.errors import MediaError, StorageError
from palprep.journal.entries import FileFetched
from palprep.media.sources import Source, sha256_of
from palprep.storage import Stored, look_at_url, object_at

SOURCES_NAME = "sources"
"""The folder of a run's output that takes fetched files."""


class Original:
    """A file whose SHA-256, in hex, is known; the file itself may have to be fetched first."""

    def __init__(self, sha256: str, fetch: Callable[[], Source]) -> None:
        self.sha256 = sha256
        self._fetch = fetch
        self._source: Source | None = None
        self._guard = threading.Lock()

    @property
    def source(self) -> Source:
        """The file, on this machine. Raises MediaError, StorageError, OutputUnwritable."""
        # Two roles may share a file, and their threads come at once.
        with self._guard:
            if self._source is None:
                self._source = self._fetch()
            return self._source


@dataclass(frozen=True)
class Originals:
    """The files of one person. Fetched ones are removed at the end, unless they are to be kept."""

    run: RunContext
    reporter: Reporter
    _seen: dict[File, Original | MediaError] = field(default_factory=dict)

    @property
    def place(self) -> Path:
        return self.run.place / SOURCES_NAME / self.reporter.person

    def look_at(self, file: File) -> Original | MediaError:
        """The file with its hash, or why it cannot be read. Raises StorageError and
        OutputUnwritable where it cannot be fetched."""
        if file not in self._seen:
            try:
                if isinstance(file, RemoteFile):
                    self._seen[file] = self._remote(file)
                else:
                    source = Source.of(file)
                    # Hashed now: two roles may share it, and the hash goes with it to a worker.
                    self._seen[file] = Original(source.sha256, lambda: source)
            except MediaError as error:
                self._seen[file] = error
        return self._seen[file]

    def remove(self) -> None:
        if not self.run.options.keep_sources:
            shutil.rmtree(self.place, ignore_errors=True)

    def _remote(self, file: RemoteFile) -> Original:
        file = _tagged(file)
        key = _key(file)
        known = self.run.journal.entries(FileFetched, key=key) if key else ()
        if known:
            sha256 = known[-1].body.sha256
            return Original(sha256, lambda: self._same_again(file, sha256))
        source = self._fetched(file)
        body = FileFetched(url=file.shown, sha256=source.sha256, size_bytes=source.size_bytes)
        self.run.journal.append(body, person=self.reporter.person, key=key)
        return Original(source.sha256, lambda: source)

    def _same_again(self, file: RemoteFile, sha256: str) -> Source:
        path = self._copy_of(file)
        if path.is_file() and sha256_of(path) == sha256:
            return Source.at(path, file.shown)
        source = self._fetched(file)
        if source.sha256 != sha256:
            raise changed(file)
        return source

    def _fetched(self, file: RemoteFile) -> Source:
        self.reporter.begin(f"fetch {file.name}")
        engine = self.run.engine
        # Fetched to where the workers find it.
        fetch = engine.take_in if isinstance(engine, DaskEngine) else fetch_here
        return fetch(file, self._copy_of(file), self.reporter.go_on)

    def _copy_of(self, file: RemoteFile) -> Path:
        suffix = file.suffix if re.fullmatch(r"\.[A-Za-z0-9]{1,8}", file.suffix) else ""
        return self.place / f"{hashlib.sha256(file.url.encode()).hexdigest()[:16]}{suffix}"


def _tagged(file: RemoteFile) -> RemoteFile:
    """The file with its size and its tag as they are now, unless a bucket has listed them."""
    if file.etag is not None:
        return file
    found: Stored | None
    if is_web(file.url):
        found = look_at_url(file.url)
    else:
        bucket, name = object_at(file.url)
        found = bucket.look(name)
    if found is None:
        raise StorageError(f"{file.url} cannot be used: there is no such file")
    return file.model_copy(update={"size_bytes": found.size_bytes, "etag": found.etag})


def _key(file: RemoteFile) -> str | None:
    """The file's key in the journal; None where a change would not show."""
    if file.etag is None:
        return None
    # A strong tag names the content (RFC 9110, section 8.8), and the query may be a signature that
    # is new every time. With anything weaker, the query may be what tells two files apart.
    where = file.shown if file.etag.startswith('"') else file.url
    return stage_key("fetched", where, file.size_bytes, file.etag)

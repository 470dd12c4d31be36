"""The journal of a batch: an append-only list of entries in one SQLite file.

An entry is on the disk when :meth:`Journal.append` returns (WAL with synchronous=FULL), so
an intent is flushed before its request leaves. One run at a time holds the run lock; those
who only add callbacks or read do not need it.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import fcntl
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from palprep.errors import JournalError
from palprep.journal.creations import Creation, Entry, fold

JOURNAL_NAME = "journal.sqlite"

_APPLICATION_ID = 0x50414C4A  # "PALJ", in the header of the file
_VERSION = 1
_BUSY_S = 30.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entry (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    person TEXT,
    kind TEXT NOT NULL,
    key TEXT,
    body TEXT NOT NULL CHECK (json_valid(body))
);
CREATE INDEX IF NOT EXISTS entry_by_key ON entry (key, kind);
CREATE TRIGGER IF NOT EXISTS entry_stays BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS entry_remains BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
"""

Now = Callable[[], dt.datetime]


def utc_now() -> dt.datetime:
    """The wall clock, in UTC."""
    return dt.datetime.now(dt.UTC)


class Journal:
    """One journal file. Thread-safe; a context manager.

    With ``lock`` it is the journal of a run: a second run on the same file gets a
    JournalError at once. With ``create`` a missing file is made; otherwise it is a
    JournalError.
    """

    def __init__(
        self, path: str | Path, *, lock: bool = False, create: bool = False, now: Now = utc_now
    ) -> None:
        self.path = Path(path)
        self._now = now
        self._guard = threading.Lock()
        self._lock = contextlib.ExitStack()
        self._locked = lock
        if not create and not self.path.is_file():
            raise JournalError(
                f"There is no journal at {self.path}: name the output folder of a run"
            )
        if lock:
            self._lock.enter_context(_run_lock(self.path))
        try:
            self._connection = _opened(self.path)
        except BaseException:
            self._lock.close()
            raise

    def now(self) -> dt.datetime:
        """The journal's clock, in UTC."""
        return self._now().astimezone(dt.UTC)

    def append(
        self,
        kind: str,
        *,
        person: str | None = None,
        key: str | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Entry:
        """Add one entry and return once it is on the disk.

        Raises JournalError when it cannot be written: then nothing that depends on it may
        happen.
        """
        at = self.now().isoformat(timespec="milliseconds")
        # ASCII, since SQLite refuses the lone surrogates that a sender's JSON may hold.
        text = json.dumps(dict(body or {}), allow_nan=False)
        with self._guarded() as connection:
            cursor = connection.execute(
                "INSERT INTO entry (at, person, kind, key, body) VALUES (?, ?, ?, ?, ?)",
                (at, person, kind, key, text),
            )
        return Entry(
            seq=int(cursor.lastrowid or 0),
            at=at,
            person=person,
            kind=kind,
            key=key,
            body=json.loads(text),
        )

    def entries(self, *, key: str | None = None) -> tuple[Entry, ...]:
        """All entries, or those under one key, oldest first."""
        query, values = "SELECT seq, at, person, kind, key, body FROM entry", ()
        if key is not None:
            query, values = f"{query} WHERE key = ?", (key,)  # type: ignore[assignment]
        with self._guarded() as connection:
            rows = connection.execute(f"{query} ORDER BY seq", values).fetchall()
        return tuple(
            Entry(seq=seq, at=at, person=person, kind=kind, key=key_, body=json.loads(body))
            for seq, at, person, kind, key_, body in rows
        )

    def creation(self, key: str) -> Creation | None:
        """Where the creation of that key stands; None when it was never intended."""
        return fold(self.entries(key=key)).get(key)

    def creations(self) -> tuple[Creation, ...]:
        """Every creation ever intended."""
        return tuple(fold(self.entries()).values())

    def setting(self, name: str, default: Callable[[], str]) -> str:
        """A value that is chosen once and stays, such as the secret path of callbacks."""
        with self._guarded() as connection:
            connection.execute(
                "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (name, default()),
            )
            row = connection.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return str(row[0])

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """While no run is at work, nor starts. Raises JournalError when one is."""
        with contextlib.nullcontext() if self._locked else _run_lock(self.path):
            yield

    def close(self) -> None:
        """Release the file and the lock."""
        with self._guard:
            self._connection.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            try:
                with self._connection:
                    yield self._connection
            except sqlite3.Error as error:
                raise _readable(self.path, error) from None


def is_running(path: str | Path) -> bool:
    """True while a run holds the lock of the journal at ``path``."""
    try:
        with _run_lock(Path(path)):
            return False
    except JournalError:
        return True


@contextlib.contextmanager
def _run_lock(path: Path) -> Iterator[None]:
    # flock goes with the process, however it ends; a lock row or a pid file would stay.
    lock_path = path.with_name(path.name + ".lock")
    try:
        handle = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise _readable(path, error) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if error.errno not in {errno.EAGAIN, errno.EACCES}:
            raise _readable(path, error) from None
        raise JournalError(
            f"Another run is using {path}: wait for it to end, or give another --into folder"
        ) from None
    try:
        yield
    finally:
        os.close(handle)


def _opened(path: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            path, timeout=_BUSY_S, check_same_thread=False, cached_statements=64
        )
    except sqlite3.Error as error:
        raise _readable(path, error) from None
    try:
        _prepare(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise _readable(path, error) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application == 0 and tables == 0:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(
            f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA application_id = {_APPLICATION_ID};"
            f"PRAGMA user_version = {_VERSION}; COMMIT;"
        )
        return
    if application != _APPLICATION_ID:
        raise JournalError(
            f"{path} is a database of another program, not a journal of palprep: "
            "give another --into folder"
        )
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > _VERSION:
        raise JournalError(
            f"{path} was written by a newer palprep (journal version {version}): upgrade palprep"
        )
    connection.execute("PRAGMA synchronous = FULL")
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(verdict)


_DAMAGED = (
    "it is damaged or no journal. What was created is known to it alone: keep the file, look "
    "your voices and replicas up at the service (results.jsonl has their ids), and only then "
    "run into another folder"
)
_FULL = "free some space and run the same command again"
_UNWRITABLE = "its folder must be writable; give another --into folder"

_ADVICE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: "the disk failed, or is full: see to it and run the same command again",
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_CANTOPEN: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_BUSY: "another program holds it; close that and try again",
}
"""By SQLite's primary result codes, the low byte of the extended ones."""


def _readable(path: Path, error: Exception) -> JournalError:
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        advice = _FULL if error.errno in {errno.ENOSPC, errno.EDQUOT} else _UNWRITABLE
    else:
        reason = str(error)
        advice = _ADVICE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, _DAMAGED)
    return JournalError(f"The journal {path} cannot be used ({reason}): {advice}")

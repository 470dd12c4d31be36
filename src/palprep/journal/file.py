"""The file of a journal: its tables, opened and locked for one run, and its errors in words."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TypeVar

from palprep import system
from palprep.errors import JournalBusy, JournalError
from palprep.journal.runs import projection
from palprep.storage import private_file

T = TypeVar("T")

_VERSION = 7
"""Of the file's tables and of the entries in them."""
_APPLICATION_ID = 0x50414C4A  # "PALJ", in the header of the file
_MADE_WITHIN_S = 5.0
"""For as long other programs may look at a new file before it is a journal."""
_LONGEST_PLAIN = 1024
"""Characters. Bodies with the report of a file are longer; those about creations are shorter."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entry (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    person TEXT,
    kind TEXT NOT NULL,
    key TEXT,
    body TEXT NOT NULL CHECK (typeof(body) = 'blob' OR json_valid(body))
);
CREATE INDEX IF NOT EXISTS entry_by_key ON entry (key, kind);
CREATE INDEX IF NOT EXISTS entry_by_kind ON entry (kind);
CREATE TRIGGER IF NOT EXISTS no_update BEFORE UPDATE ON entry
    WHEN NOT EXISTS (SELECT 1 FROM setting WHERE name = 'forgetting')
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS no_delete BEFORE DELETE ON entry
    WHEN NOT EXISTS (SELECT 1 FROM setting WHERE name = 'forgetting')
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
"""
"""A long body is stored compressed. Entries change only while a person is forgotten."""


class Guard:
    """Lets one thread at a time do some work. Ctrl-C can raise KeyboardInterrupt between any two
    steps of Python: from 3.14 on also when a lock is taken, and `with` is not yet entered. So it is
    taken within `try`. A context manager written in Python has steps of its own, in which the lock
    would stay taken: so the work is handed in, and nothing is yielded."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    def do(self, work: Callable[[], T]) -> T:
        """The result of ``work``. It may do more under the same guard."""
        try:
            self._lock.acquire()
            return work()
        finally:
            try:  # noqa: SIM105 -- `suppress` takes steps before the lock is given back
                self._lock.release()
            except RuntimeError:  # Interrupted while it waited for the lock.
                pass


def packed(text: str) -> str | bytes:
    """The text of a body as it is stored."""
    return text if len(text) <= _LONGEST_PLAIN else zlib.compress(text.encode())


def plain(body: str | bytes) -> str:
    """The text of a stored body. SQL has this function, too."""
    try:
        return body if isinstance(body, str) else zlib.decompress(body).decode()
    except zlib.error as error:
        raise JournalError(f"An entry of the journal cannot be read ({error}): {DAMAGED}") from None


def is_one_of(column: str, values: Collection[str]) -> str:
    """The condition in SQL that a column has one of these values, each of which is a parameter."""
    return f"{column} IN ({','.join('?' * len(values))})"


def is_running(path: str | Path) -> bool:
    try:
        # Opened for reading, so that this works where nothing can be written.
        handle = os.open(_lock_of(Path(path)), os.O_RDONLY)
    except OSError:
        return False
    try:
        return not system.lock(handle, shared=True)
    except OSError:
        return True
    finally:
        os.close(handle)


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


@contextlib.contextmanager
def run_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a run. Raises JournalBusy when another run holds it."""
    # A lock goes with the process, however it ends; a lock row or a pid file would stay.
    with contextlib.ExitStack() as closed:
        try:
            handle = os.open(_lock_of(path), os.O_RDWR | os.O_CREAT, 0o600)
            closed.callback(os.close, handle)
            # A program that asks whether a run is at work has the lock for a moment, too.
            tries = 10
            while not (alone := system.lock(handle)) and (tries := tries - 1):
                time.sleep(0.02)
        except OSError as error:
            raise as_journal_error(path, error) from None
        if not alone:
            raise JournalBusy(f"Another run is using {path}: wait for it to end, or interrupt it")
        yield


def opened(path: Path | None, *, whole: bool, written: bool) -> sqlite3.Connection:
    """The database at ``path``, or a new one in memory, ready for entries of this version. Raises
    JournalError for a file that is damaged, of another version, or another program's. With
    ``whole`` the whole file is searched for damage, which otherwise is noticed where it is read.
    Unless it must be ``written``, a file that cannot be is only read."""
    with contextlib.ExitStack() as undone:
        try:
            name = ":memory:"
            if path is not None:
                # A full or broken disk can leave an empty file. A run would take it for a new
                # journal, and create everything once more.
                empty = path.exists() and not path.stat().st_size
                results = path.with_name("results.jsonl")
                if empty and results.exists():
                    raise sqlite3.DatabaseError("it is empty, and there are results")
                if whole and not path.exists() and results.exists():
                    raise JournalError(
                        f"There is {results}, and no journal beside it. The journal alone knows "
                        "what was created: put it back; or, to create everything anew, name "
                        "another folder"
                    )
                # SQLite gives its log, and the memory that readers share, the mode of the file.
                log = path.with_name(f"{path.name}-wal")
                beside = filter(Path.exists, (log, path.with_name(f"{path.name}-shm")))
                # SQLite writes beside the file, too.
                writable = all(os.access(each, os.W_OK) for each in (path, path.parent))
                read_only = not (written or writable)
                for each in () if read_only else (path, *beside):
                    private_file(each)
                # Without a log nobody is writing; and no log can be made in such a folder.
                mode = "rwc" if not read_only else "ro" if log.exists() else "ro&immutable=1"
                name = f"{path.resolve().as_uri()}?mode={mode}"
            connection = sqlite3.connect(
                name, timeout=30.0, check_same_thread=False, cached_statements=64, uri=True
            )
            undone.callback(connection.close)
            connection.create_function("plain", 1, plain, deterministic=True)
            _prepare(connection, path, whole=whole)
        except (sqlite3.Error, OSError) as error:
            raise as_journal_error(path, error) from None
        undone.pop_all()
    return connection


def require_there(path: Path | None) -> Callable[[], None]:
    """A function that raises JournalError once the file at ``path`` is gone, or is another one. No
    later run finds what is written into a file that was removed or moved away, and it would create
    everything once more."""
    if path is None:
        return lambda: None
    place = path.absolute()
    opened = place.stat()

    def require() -> None:
        with contextlib.suppress(OSError):
            if os.path.samestat(opened, place.stat()):
                return
        raise JournalError(
            f"The journal {path} was removed or moved while it was in use: put it back, and run "
            "the same command again. It alone knows what was created. If it is lost, look your "
            "voices and replicas up at the service first"
        )

    return require


def _prepare(connection: sqlite3.Connection, path: Path | None, *, whole: bool) -> None:
    # The tables first: another program may make the journal between the two questions.
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    if application == 0 and tables == 0:
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.executescript(
            f"BEGIN IMMEDIATE; {_SCHEMA} {projection.SCHEMA}"
            f"PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {_VERSION}; COMMIT;"
        )
        return
    if application != _APPLICATION_ID:
        raise JournalError(
            f"{path} is a database of another program, not a journal of palprep: "
            "name another folder"
        )
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != _VERSION:
        age = "a newer" if version > _VERSION else "an older"
        raise JournalError(
            f"{path} was written by {age} palprep (journal version {version}): use that one, since "
            "this file alone knows what was created"
        )
    connection.execute("PRAGMA synchronous = FULL")
    if whole:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict)


def _write_ahead(connection: sqlite3.Connection) -> None:
    # SQLite waits for no other program here, which may be looking at the new file, too.
    until = time.monotonic() + _MADE_WITHIN_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > until:
                raise
            time.sleep(0.02)
        else:
            return


DAMAGED = (
    "it is damaged or no journal. What was created is known to it alone: keep the file, look "
    "your voices and replicas up at the service (results.jsonl has their ids), and only then "
    "run into another folder"
)
_FULL = "free some space and run the same command again"

_NO_LOCKS = "its file system cannot lock files: move the folder to a disk of this machine"

_OF_SYSTEM = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _FULL),
    **dict.fromkeys((errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP), _NO_LOCKS),
}

_ADVICE = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: "the disk failed, or is full: see to it and run the same command again",
    sqlite3.SQLITE_BUSY: "another program holds it; close that and try again",
}
"""By SQLite's primary result codes, the low byte of the extended ones."""

_DENIED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
"""The codes of a file or a folder without write access."""


def as_journal_error(path: Path | None, error: Exception) -> JournalError:
    """The error of SQLite or the system as one that says what to do."""
    if isinstance(error, UnicodeEncodeError):
        return JournalError(f"{error.object!r} is no text in whole characters: give another name")
    if isinstance(error, sqlite3.ProgrammingError):
        return JournalError(f"The journal {path or 'in memory'} is closed: open it again")
    # A copy knows what was created; another folder would create it once more.
    denied = "go on in a copy of it" if path is not None and path.exists() else "name another one"
    unwritable = f"make its folder writable, or {denied}"
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        advice = _OF_SYSTEM.get(error.errno or 0, unwritable)
    else:
        reason = str(error)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        advice = unwritable if code in _DENIED else _ADVICE.get(code, DAMAGED)
    message = f"The journal {path or 'in memory'} cannot be used ({reason}): {advice}"
    return JournalError(message, disk_full=advice in {_FULL, _ADVICE[sqlite3.SQLITE_IOERR]})

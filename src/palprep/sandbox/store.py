"""Everything the sandbox remembers, in one SQLite database.

Only the server's own thread uses its one connection, so that a handler is one transaction and no
lock is needed. The exclusive locking mode keeps a second sandbox out of the data folder, and spares
WAL its shared memory. ``synchronous=NORMAL`` loses nothing when the process is killed; only a power
cut can take the last commits.
"""

from __future__ import annotations

import json
import math
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palprep.errors import PalprepError, UsageError
from palprep.storage import private_file

Record = dict[str, Any]

DATABASE = "sandbox.sqlite"

SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (kind, id)
);
CREATE UNIQUE INDEX IF NOT EXISTS tool_names
    ON records (json_extract(body, '$.name')) WHERE kind = 'tool';
CREATE TABLE IF NOT EXISTS jobs (
    job_id INTEGER PRIMARY KEY AUTOINCREMENT, due REAL NOT NULL, kind TEXT NOT NULL,
    payload TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_due ON jobs (due, job_id);
CREATE TABLE IF NOT EXISTS log (
    seq INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, told TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS creates (kind TEXT PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value REAL NOT NULL);
"""

_INSERT = "INSERT INTO records (kind, id, body) VALUES (?, ?, ?)"
_UPSERT = _INSERT + " ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body"


def new_id(prefix: str) -> str:
    return prefix + secrets.token_hex(6)


class Taken(PalprepError, code="taken"):
    """A record with this id, or a tool with this name, exists already."""


@dataclass(frozen=True, slots=True)
class Job:
    """Work for a later time: ``kind`` names who does it, ``due`` is in seconds since the epoch."""

    job_id: int
    due: float
    kind: str
    payload: Record


class Store:
    """Records, jobs and the log. ``path`` None keeps them in memory.

    ``on_schedule`` is called for every job that is scheduled. Raises
    :class:`~palprep.errors.UsageError` when the database cannot be opened.
    """

    def __init__(self, path: Path | None) -> None:
        self.on_schedule: Callable[[], None] = lambda: None
        self.cleared = 0
        self.on_disk = path is not None
        self._db = opened(path)

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. No ``await`` may be inside: the connection has one transaction."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield

    def get(self, kind: str, record_id: str) -> Record | None:
        row = self._db.execute(
            "SELECT body FROM records WHERE kind = ? AND id = ?", (kind, record_id)
        ).fetchone()
        return None if row is None else json.loads(row[0])

    def all(self, kind: str) -> list[Record]:
        rows = self._db.execute("SELECT body FROM records WHERE kind = ? ORDER BY seq", (kind,))
        return [json.loads(row[0]) for row in rows]

    def create(self, kind: str, record_id: str, body: Mapping[str, Any]) -> None:
        """Insert and count a record. Raises :class:`Taken` for an id, or a tool's name, in use."""
        self._insert(_INSERT, kind, record_id, body)
        self._db.execute(
            "INSERT INTO creates VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET count = count + 1",
            (kind,),
        )

    def put(self, kind: str, record_id: str, body: Mapping[str, Any]) -> None:
        """Insert or replace a record, without counting it. Raises :class:`Taken` for the name of
        another tool."""
        self._insert(_UPSERT, kind, record_id, body)

    def _insert(self, sql: str, kind: str, record_id: str, body: Mapping[str, Any]) -> None:
        try:
            self._db.execute(sql, (kind, record_id, json.dumps(body)))
        except sqlite3.IntegrityError as error:
            raise Taken(f"The {kind} {record_id} or its name exists already.") from error

    def delete(self, kind: str, record_id: str) -> bool:
        done = self._db.execute("DELETE FROM records WHERE kind = ? AND id = ?", (kind, record_id))
        return done.rowcount > 0

    def creates(self) -> dict[str, int]:
        return dict(self._db.execute("SELECT kind, count FROM creates ORDER BY kind"))

    def schedule(self, due: float, kind: str, payload: Mapping[str, Any]) -> None:
        self._db.execute(
            "INSERT INTO jobs (due, kind, payload) VALUES (?, ?, ?)",
            (due, kind, json.dumps(payload)),
        )
        self.on_schedule()

    def jobs(self, *, until: float = math.inf, most: int = -1) -> list[Job]:
        """At most ``most`` jobs, the first that are due by ``until``, in order of time."""
        rows = self._db.execute(
            "SELECT job_id, due, kind, payload FROM jobs WHERE due <= ? ORDER BY due, job_id"
            " LIMIT ?",
            (until, most),
        )
        return [Job(row[0], row[1], row[2], json.loads(row[3])) for row in rows]

    def finish(self, job: Job) -> None:
        self._db.execute("DELETE FROM jobs WHERE job_id = ?", (job.job_id,))

    def latest(self) -> float | None:
        """The latest recorded moment, before which the clock must not be set; None if there is
        none. How far a real clock ran after it was set is known only from the log."""
        moment: float | None
        (moment,) = self._db.execute(
            "SELECT max(value) FROM (SELECT value FROM settings WHERE name = 'clock'"
            " UNION ALL SELECT at FROM log)"
        ).fetchone()
        return moment

    def keep_clock(self, moment: float) -> None:
        """Record how far the clock was set, for the next start."""
        self._db.execute("INSERT OR REPLACE INTO settings VALUES ('clock', ?)", (moment,))

    def clear(self) -> None:
        """Forget everything but the clock."""
        self.cleared += 1
        with self.transaction():
            for table in ("records", "jobs", "log", "creates"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608 -- names of our own

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """Run one statement on the log's own table."""
        return self._db.execute(sql, values)


def opened(path: Path | None) -> sqlite3.Connection:
    """A connection to the database at ``path``, for this process alone, or in memory without a
    path. Raises :class:`~palprep.errors.UsageError` when it cannot be opened."""
    with ExitStack() as undone:
        try:
            if path is not None:
                private_file(path)
            # isolation_level None: transactions begin and end where the store says so.
            db = sqlite3.connect(
                path or ":memory:", isolation_level=None, check_same_thread=False, timeout=0.2
            )
            undone.callback(db.close)
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.executescript(SCHEMA)
        except (sqlite3.Error, OSError) as error:
            locked = "; another sandbox may use it: stop it, or" if "locked" in str(error) else ":"
            message = f"The sandbox cannot open {path}: {error}{locked} name another folder"
            raise UsageError(message) from error
        undone.pop_all()
    return db


_DELETE_ASSET = "DELETE FROM records WHERE kind = 'asset' AND json_extract(body, '$.name') = ?"
_NAMING = {"records": ("id", "body"), "jobs": ("payload",), "log": ("told",)}
"""The tables and columns that may name records and published files."""


def forget(data: Path, names: Iterable[str]) -> None:
    """Remove all rows that hold one of these ids, callback tags or names of published files, and
    those files, from the data folder of a sandbox that is not running: raises UsageError where it
    is. Images that were sent to a face check have no name in the log, so all are removed."""
    if not (data / DATABASE).is_file():
        return
    with closing(opened(data / DATABASE)) as db:
        shutil.rmtree(data / "scratch", ignore_errors=True)
        db.execute("PRAGMA secure_delete = ON")
        for name in names:
            db.execute(_DELETE_ASSET, (name,))
            written = json.dumps(name)[1:-1]
            for table, columns in _NAMING.items():
                for column in columns:
                    db.execute(f"DELETE FROM {table} WHERE instr({column}, ?)", (written,))  # noqa: S608
        db.execute("DELETE FROM log WHERE json_extract(told, '$.endpoint') LIKE '%validate_image'")
        known = {token for (token,) in db.execute("SELECT id FROM records WHERE kind = 'asset'")}
        for file in (data / "assets").glob("*"):
            if file.name not in known:
                file.unlink()
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

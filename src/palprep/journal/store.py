"""The journal: an append-only list of entries in one SQLite file, or in memory.

An entry is on the disk when :meth:`Journal.append` returns (WAL with synchronous=FULL), so
an intent is flushed before its request leaves. One run at a time holds the run lock; those
who only add callbacks or read do not need it.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from palprep.errors import JournalError
from palprep.journal import version_1
from palprep.journal.creations import Creation, fold
from palprep.journal.entries import KINDS, VERSION, AboutCreation, Body, Entry, read_body
from palprep.journal.file import DAMAGED, opened, readable, run_lock

JOURNAL_NAME = "journal.sqlite"

_SELECT = "SELECT seq, at, person, kind, key, body, version FROM entry"

B = TypeVar("B", bound=Body)

Now = Callable[[], dt.datetime]


def utc_now() -> dt.datetime:
    """The wall clock, in UTC."""
    return dt.datetime.now(dt.UTC)


class Journal:
    """One journal. Thread-safe; a context manager.

    ``path`` names its file; without one it lives in memory and is gone when closed. With
    ``lock`` it is the journal of a run: a second run on the same file gets a JournalError at
    once. With ``create`` a missing file is made; otherwise it is a JournalError. A file of an
    older version is brought to this one: its entries stay as they are.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        lock: bool = False,
        create: bool = False,
        now: Now = utc_now,
    ) -> None:
        self.path = None if path is None else Path(path)
        self._now = now
        self._guard = threading.Lock()
        self._turns: dict[str, threading.Lock] = {}
        self._lock = contextlib.ExitStack()
        self._locked = lock or path is None
        if self.path is not None and not create and not self.path.is_file():
            raise JournalError(
                f"There is no journal at {self.path}: name the output folder of a run"
            )
        if self.path is not None and lock:
            self._lock.enter_context(run_lock(self.path))
        try:
            self._connection = opened(self.path)
        except BaseException:
            self._lock.close()
            raise

    @classmethod
    def of(cls, folder: str | Path, *, lock: bool = False, create: bool = False) -> Self:
        """The journal of an output folder."""
        return cls(Path(folder) / JOURNAL_NAME, lock=lock, create=create)

    def now(self) -> dt.datetime:
        """The journal's clock, in UTC."""
        return self._now().astimezone(dt.UTC)

    def append(self, body: B, *, person: str | None = None, key: str | None = None) -> Entry[B]:
        """Add one entry and return once it is on the disk.

        Raises JournalError when it cannot be written: then nothing that depends on it may
        happen.
        """
        at = self.now().isoformat(timespec="milliseconds")
        # ASCII, since SQLite refuses the lone surrogates that a sender's JSON may hold.
        text = json.dumps(body.stored(), allow_nan=False)
        with self._guarded() as connection:
            cursor = connection.execute(
                "INSERT INTO entry (at, person, kind, key, body, version) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (at, person, body.kind, key, text, VERSION),
            )
        return Entry(int(cursor.lastrowid or 0), at, person, key, body)

    def entries(self, kind: type[B], *, key: str | None = None) -> tuple[Entry[B], ...]:
        """All entries of a kind or family of kinds, or those under one key, oldest first."""
        names = [name for name, each in KINDS.items() if issubclass(each, kind)]
        names += [name for name, each in version_1.READ.items() if issubclass(each, kind)]
        condition = f"kind IN ({','.join('?' * len(names))})"
        if key is not None:
            found = self._select(f"{condition} AND key = ?", *names, key)
        else:
            found = self._select(condition, *names)
        return tuple(entry for entry in found if isinstance(entry.body, kind))  # type: ignore[misc]

    def entry(self, seq: int) -> Entry[Body] | None:
        """The entry of that number."""
        return next(iter(self._select("seq = ?", seq)), None)

    def last_run(self) -> tuple[Entry[Body], ...]:
        """The start of the last run and everything after it; empty when there was none."""
        return self._select(
            "seq >= (SELECT max(seq) FROM entry WHERE kind IN ('run', 'run_started'))"
        )

    def creation(self, key: str) -> Creation | None:
        """Where the creation of that key stands; None when it was never intended."""
        return fold(self.entries(AboutCreation, key=key)).get(key)

    def known_creation(self, key: str) -> Creation:
        """Likewise, of a key whose intent was recorded. Raises JournalError when it is gone."""
        creation = self.creation(key)
        if creation is None:
            raise JournalError(f"The journal {self.path} lost the entries of {key}: {DAMAGED}")
        return creation

    def creations(self) -> tuple[Creation, ...]:
        """Every creation ever intended."""
        return tuple(fold(self.entries(AboutCreation)).values())

    def setting(self, name: str, default: Callable[[], str]) -> str:
        """A value that is chosen once and stays, such as the secret path of callbacks."""
        with self._guarded() as connection:
            connection.execute(
                "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (name, default()),
            )
            row = connection.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return str(row[0])

    def turn(self, key: str) -> threading.Lock:
        """The lock that whoever creates under this key must hold meanwhile."""
        with self._guard:
            return self._turns.setdefault(key, threading.Lock())

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """While no run is at work, nor starts. Raises JournalError when one is."""
        held = self._locked or self.path is None
        with contextlib.nullcontext() if held else run_lock(self.path):  # type: ignore[arg-type]
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

    def _select(self, condition: str, *values: str | int) -> tuple[Entry[Body], ...]:
        with self._guarded() as connection:
            rows = connection.execute(
                f"{_SELECT} WHERE {condition} ORDER BY seq",
                values,
            ).fetchall()
        return tuple(
            Entry(seq, at, person, key, _body(kind, text, version))
            for seq, at, person, kind, key, text, version in rows
        )

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        with self._guard:
            try:
                with self._connection:
                    yield self._connection
            except sqlite3.Error as error:
                raise readable(self.path, error) from None


def _body(kind: str, text: str, version: int) -> Body:
    read = version_1.read_body if version == 1 else read_body
    return read(kind, json.loads(text))

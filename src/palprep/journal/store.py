"""The journal: an append-only list of entries in one SQLite file, or in memory.

An entry is on the disk when :meth:`Journal.append` returns (WAL with synchronous=FULL), so
an intent is flushed before its request leaves. One run at a time holds the run lock; those
who only add callbacks or read do not need it.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

from palprep.errors import JournalError, UsageError
from palprep.journal import file, forgetting
from palprep.journal.creations.states import Creation, CreationState
from palprep.journal.entries.bodies import (
    KINDS,
    AboutCreation,
    Body,
    Entry,
    Reused,
    RunStarted,
    read_body,
)
from palprep.journal.runs import projection
from palprep.storage import is_file, is_folder, is_there, output_folder
from palprep.values import typed

JOURNAL_NAME = "journal.sqlite"

B = TypeVar("B", bound=Body)
T = TypeVar("T")

_sharing = threading.Lock()
_shared: dict[tuple[int, Path], tuple[Journal, int]] = {}
"""The journals that calls share, each with the number of these calls, by process id and path. A
process that was forked also has those of its parent, and may not use them."""


def utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


class Journal:
    """One journal. Thread-safe; a context manager. ``path`` names its file; without one it lives in
    memory. ``lock`` is for a run: a second run on the same file gets JournalBusy at once. A missing
    file is made with ``create``, and is a JournalError without. A file that cannot be written can
    still be read, unless ``lock`` or ``create`` ask for more."""

    @typed("path", "lock", "create")
    def __init__(
        self,
        path: str | Path | None = None,
        *,
        lock: bool = False,
        create: bool = False,
        now: Callable[[], dt.datetime] = utc_now,
    ) -> None:
        self.path = None if path is None else Path(path)
        self._now = now
        self._guard = file.Guard()
        self._turns: dict[str, threading.Lock] = {}
        self._read: dict[tuple[type[Body], str], tuple[int, dict[str, Any]]] = {}
        self._lock = contextlib.ExitStack()
        self._locked = lock or path is None
        if self.path is not None and not create and not is_file(self.path):
            folder = self.path.parent
            below = next(folder.glob(f"*/{self.path.name}"), None) if is_folder(folder) else None
            other = f", such as {below.parent}" if below else ""
            raise JournalError(
                f"There is no journal at {self.path}: name the output folder of a run{other}"
            )
        if self.path is not None and lock:
            self._lock.enter_context(file.run_lock(self.path))
        try:
            # Only a run creates by what the journal says: it must not find damage half-way.
            self._connection = file.opened(self.path, whole=lock, written=lock or create)
            self._require_there = file.require_there(self.path)
        except BaseException:
            self._lock.close()
            raise

    @classmethod
    @typed("folder")
    def of(cls, folder: str | Path, *, lock: bool = False, create: bool = False) -> Self:
        """The journal of an output folder; with ``create`` a missing folder is made, too. Raises
        OutputUnwritable where that fails."""
        # The error of a journal that is there is the better advice: in another folder, which
        # OutputUnwritable asks for, everything would be created once more.
        if create and not is_there(Path(folder) / JOURNAL_NAME):
            output_folder(Path(folder))
        return cls(Path(folder) / JOURNAL_NAME, lock=lock, create=create)

    @classmethod
    @contextlib.contextmanager
    def shared(cls, folder: str | Path) -> Iterator[Journal]:
        """As :meth:`of` with ``lock`` and ``create``, for one of several calls that create. Those
        of this process share the journal, and so take turns; the last one closes it."""
        at = os.getpid(), (Path(folder) / JOURNAL_NAME).resolve()
        with _sharing:
            journal, calls = _shared.get(at) or (cls.of(folder, lock=True, create=True), 0)
            _shared[at] = journal, calls + 1
        try:
            yield journal
        finally:
            with _sharing:
                _, calls = _shared.pop(at)
                if calls > 1:
                    _shared[at] = journal, calls - 1
                else:
                    journal.close()

    @property
    def is_running(self) -> bool:
        """Whether a run other than this journal's own is at work on it."""
        return not self._locked and self.path is not None and file.is_running(self.path)

    def now(self) -> dt.datetime:
        """The journal's clock, in UTC."""
        return self._now().astimezone(dt.UTC)

    def append(self, body: B, *, person: str | None = None, key: str | None = None) -> Entry[B]:
        """Add one entry and return once it is on the disk. Raises JournalError when it cannot be
        written, and UsageError for a person who was forgotten: then nothing that depends on it may
        happen."""
        return self._guarded(lambda connection: self._insert(connection, body, person, key))

    def claim(self, intent: Body, *, person: str, key: str) -> Creation | None:
        """Append the intent and return None, or return the creation that stands in its way: of
        several processes that ask for the same, one gets None. Raises as :meth:`append` does."""

        def claimed(connection: sqlite3.Connection) -> Creation | None:
            connection.execute("BEGIN IMMEDIATE")  # Nobody writes between the look and the intent.
            for there in projection.creations(connection, "key = ?", key):
                if there.state is not CreationState.ABSENT:
                    return there
            self._insert(connection, intent, person, key)
            return None

        return self._guarded(claimed)

    def _insert(
        self, connection: sqlite3.Connection, body: B, person: str | None, key: str | None
    ) -> Entry[B]:
        self._require_there()
        at = self.now().isoformat(timespec="milliseconds")
        # ASCII, since SQLite refuses the lone surrogates that a sender's JSON may hold.
        stored = body.relocated(self.named).model_dump(mode="json", round_trip=True)
        cursor = connection.execute(
            "INSERT INTO entry (at, person, kind, key, body) VALUES (?, ?, ?, ?, ?)",
            (at, person, body.kind, key, file.packed(json.dumps(stored, allow_nan=False))),
        )
        # Asked inside the transaction: until its end, nobody else can forget the person.
        forgetting.refuse(connection, person, key, self.path)
        entry = Entry(int(cursor.lastrowid or 0), at, person, key, body)
        projection.update(connection, entry)
        return entry

    def entries(
        self, kind: type[B], *, key: str | None = None, person: str | None = None
    ) -> tuple[Entry[B], ...]:
        """All entries of a kind or family of kinds, oldest first; or those of one key or person."""
        condition, values = _of_kind(kind)
        for column, value in (("key", key), ("person", person)):
            if value is not None:
                condition, values = f"{condition} AND {column} = ?", [*values, value]
        return self._entries(f"{condition} ORDER BY seq", *values)  # type: ignore[return-value]

    def latest(self, kind: type[B], key: str, named: Callable[[B], tuple[str, T]]) -> dict[str, T]:
        """The last value under each name that ``named`` gives to entries of a kind and a key. Each
        call reads only what was added since the one before."""
        condition, names = _of_kind(kind)

        def read() -> dict[str, T]:
            seq, found = self._read.get((kind, key), (0, {}))
            since = f"{condition} AND key = ? AND seq > ? ORDER BY seq"
            for entry in self._entries(since, *names, key, seq):
                seq, (name, value) = entry.seq, named(entry.body)  # type: ignore[arg-type]
                found[name] = value
            self._read[kind, key] = seq, found
            return dict(found)

        return self._guard.do(read)

    def one_by_one(self, kind: type[B]) -> Iterator[Entry[B]]:
        """All entries of a kind, as :meth:`entries`. All at once may not fit into memory."""
        condition, names = _of_kind(kind)
        query = f"SELECT seq FROM entry WHERE {condition} ORDER BY seq"  # noqa: S608
        for (seq,) in self._rows(query, *names):
            yield from self._entries("seq = ?", seq)  # type: ignore[misc]

    def reused(
        self, kind: type[B], key: str, person: str, fits: Callable[[B], bool] = lambda _: True
    ) -> B | None:
        """The latest result that ``fits`` accepts of those that are recorded for this person under
        the key; None without one. That it counts for this run, too, is recorded."""
        for entry in reversed(self.entries(kind, key=key, person=person)):
            if fits(entry.body):
                slot = projection.slot_of(entry.body)
                self.append(Reused(seq=entry.seq, slot=slot), person=person, key=key)
                return entry.body
        return None

    def news_of_creations(self, seq: int) -> list[tuple[int, str | None]]:
        """The numbers and keys of the entries about creations after ``seq``, oldest first."""
        condition, names = _of_kind(AboutCreation)
        query = f"SELECT seq, key FROM entry WHERE seq > ? AND {condition} ORDER BY seq"  # noqa: S608
        return self._rows(query, seq, *names)

    def newest(self) -> Entry[Body] | None:
        return next(iter(self._entries("seq = (SELECT max(seq) FROM entry)")), None)

    def last_run(self) -> Entry[RunStarted] | None:
        """The entry with which the last run began; None when there was none."""
        last = "seq = (SELECT max(seq) FROM entry WHERE kind = 'run_started')"
        return next(iter(self._entries(last)), None)  # type: ignore[return-value]

    def standing(self, *slots: str, people: Collection[str] = ()) -> tuple[Entry[Body], ...]:
        """The entries that count in the last run: the latest of each person and slot, or of these
        ``slots`` and ``people`` (slugs) alone. A result that was reused has the earlier body."""
        given = {"slot": slots, "standing.person": people}
        condition = " AND ".join(file.is_one_of(name, each) for name, each in given.items() if each)
        return self._entries(
            f"{condition or 1} ORDER BY standing.seq",
            *slots,
            *people,
            source="standing JOIN entry ON entry.seq = counts",
            of="standing",
        )

    def numbers_besides(self, *slots: str, people: Collection[str]) -> dict[str, str]:
        """For each of these people a text of all other slots, with the numbers of the entries that
        count there."""
        query = (
            "SELECT person, group_concat(slot || counts) FROM standing "  # noqa: S608
            f"WHERE {file.is_one_of('person', people)} AND NOT {file.is_one_of('slot', slots)} "
            "GROUP BY person"
        )
        return dict(self._rows(query, *people, *slots))

    def creation(self, key: str) -> Creation | None:
        """Where the creation of that key stands; None when it was never intended."""
        return next(iter(self._creations("key = ?", key)), None)

    def creation_of(self, resource_id: str) -> Creation | None:
        return next(iter(self._creations("id = ?", resource_id)), None)

    def known_creation(self, key: str) -> Creation:
        """The creation of a key whose intent was recorded. Raises JournalError when it is gone."""
        creation = self.creation(key)
        if creation is None:
            raise JournalError(f"The journal {self.path} lost the entries of {key}: {file.DAMAGED}")
        return creation

    def creations(self, *states: str) -> tuple[Creation, ...]:
        """Every creation, or those in states of these names. Raises UsageError for another."""
        if unknown := {*states} - {*CreationState}:
            names = ", ".join(CreationState)
            raise UsageError(f"There is no state {min(unknown)!r}; the states are {names}")
        return self._creations(file.is_one_of("state", states) if states else "1", *states)

    def creations_of(self, keys: Collection[str]) -> tuple[Creation, ...]:
        return self._creations(file.is_one_of("key", keys), *keys)

    def in_doubt(self) -> tuple[Creation, ...]:
        return self.creations(CreationState.IN_DOUBT)

    def unclaimed_callbacks(self) -> int:
        """How many callbacks belong to no creation of this journal."""
        query = (
            "SELECT count(*) FROM entry WHERE kind = 'called_back' "
            "AND (key IS NULL OR key NOT IN (SELECT key FROM creation))"
        )
        return int(self._rows(query)[0][0])

    def unread_callback(self) -> Entry[Body] | None:
        """The last callback about a creation in training: no end was read from it."""
        still = "key IN (SELECT key FROM creation WHERE state = 'started')"
        about = f"kind = 'called_back' AND {still} ORDER BY seq DESC LIMIT 1"
        return next(iter(self._entries(about)), None)

    def given_twice(self) -> dict[str, list[str]]:
        return self._guarded(projection.given_twice)

    def setting(self, name: str, default: Callable[[], str]) -> str:
        """A value that is chosen once and stays, such as the secret path of callbacks."""

        def chosen(connection: sqlite3.Connection) -> str:
            connection.execute(
                "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (name, default()),
            )
            query = "SELECT value FROM setting WHERE name = ?"
            return str(connection.execute(query, (name,)).fetchone()[0])

        return self._guarded(chosen)

    def people(self) -> tuple[str, ...]:
        """The slugs of everybody whom an entry is about."""
        query = "SELECT DISTINCT person FROM entry WHERE person IS NOT NULL"
        return tuple(str(person) for (person,) in self._rows(query))

    def made_for(self, person: str) -> forgetting.Made:
        """The voices and replicas that this person uses and nobody else."""
        return self._guarded(lambda connection: forgetting.made_for(connection, person))

    def forgotten(self, what: forgetting.Marked, names: Iterable[str]) -> frozenset[str]:
        """Those of the names that were forgotten; ``what`` says what is named by them."""
        return self._guarded(lambda connection: forgetting.forgotten(connection, what, names))

    def mark_forgotten(self, person: str, names: Iterable[str] = ()) -> None:
        """From now on nothing is recorded, and so nothing created, for this person."""
        self._guarded(lambda connection: forgetting.mark(connection, person, names))

    def forget(self, person: str | None) -> None:
        """Remove every row about a person, and its bytes from the file and its log; with None only
        the bytes, after a call that was broken off. Raises as ``forgetting.compact``."""
        if person is not None:
            self._guarded(lambda connection: forgetting.forget(connection, person))
            self._read.clear()
        self._guarded(forgetting.compact)

    def take_in_again(self, person: str) -> bool:
        """Remove the marks of a forgotten person. Returns whether there were any."""
        return self._guarded(lambda connection: forgetting.unmark(connection, person))

    def turn(self, key: str) -> threading.Lock:
        """The lock to hold while creating under this key."""
        return self._turns.setdefault(key, threading.Lock())  # One step, for all threads.

    def exclusive(self) -> contextlib.AbstractContextManager[None]:
        """Keep runs from starting. Raises JournalBusy when one is at work."""
        if self._locked or self.path is None:
            return contextlib.nullcontext()
        return file.run_lock(self.path)

    def close(self) -> None:
        self._guard.do(self._connection.close)
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _entries(
        self, condition: str, *values: str | int, source: str = "entry", of: str = "entry"
    ) -> tuple[Entry[Body], ...]:
        rows = self._rows(
            f"SELECT {of}.seq, at, {of}.person, kind, key, body "  # noqa: S608 - no value is in it
            f"FROM {source} WHERE {condition}",
            *values,
        )
        return tuple(
            Entry(seq, at, person, key, read_body(kind, file.plain(body)).relocated(self.located))
            for seq, at, person, kind, key, body in rows
        )

    def named(self, path: Path) -> Path:
        """The path as the journal names it: from its own folder, where the file lies in there. So
        the folder can be moved as a whole."""
        whole, root = path.resolve(), self.path and self.path.parent.resolve()
        return whole.relative_to(root) if root and whole.is_relative_to(root) else whole

    def located(self, named: str | Path) -> Path:
        """The path of a file that the journal names as :meth:`named` does."""
        return Path(named) if self.path is None else self.path.parent / named

    def _rows(self, query: str, *values: str | int) -> list[tuple[Any, ...]]:
        return self._guarded(lambda connection: connection.execute(query, values).fetchall())

    def _creations(self, condition: str, *values: str) -> tuple[Creation, ...]:
        return self._guarded(lambda opened: projection.creations(opened, condition, *values))

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of ``work``, called with the connection in a transaction of its own while no
        other thread has it. A connection is written in C, and `with` leaves it in one step."""

        def in_transaction() -> T:
            with self._connection:
                return work(self._connection)

        try:
            return self._guard.do(in_transaction)
        except (sqlite3.Error, UnicodeEncodeError) as error:
            raise file.as_journal_error(self.path, error) from None


def _of_kind(kind: type[Body]) -> tuple[str, list[str]]:
    """The condition in SQL, and its values, for entries of a kind or family of kinds."""
    names = [name for name, each in KINDS.items() if issubclass(each, kind)]
    return file.is_one_of("kind", names), names

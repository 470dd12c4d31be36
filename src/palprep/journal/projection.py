"""What the entries add up to, kept beside them in the same file, so that views need few reads.

Two tables follow the entries. ``creation`` holds where each creation stands. ``standing`` holds,
for the last run, which entry counts for each person and slot. Both are made of the entries alone
and brought up to date in the transaction that adds one. Entries that an older palprep has written
are caught up with when the tables are read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from palprep.journal.creations import Creation, advanced
from palprep.journal.entries import AboutCreation, Body, Entry, Former, Reused, RunStarted

SCHEMA = """
CREATE TABLE IF NOT EXISTS creation (
    key TEXT PRIMARY KEY,
    first INTEGER NOT NULL,
    person TEXT NOT NULL,
    what TEXT NOT NULL,
    state TEXT NOT NULL,
    id TEXT,
    error_message TEXT,
    request TEXT NOT NULL,
    intended_at TEXT,
    ended_at TEXT,
    why TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS creation_by_id ON creation (id);
CREATE INDEX IF NOT EXISTS creation_by_state ON creation (state);
CREATE TABLE IF NOT EXISTS standing (
    person TEXT NOT NULL,
    slot TEXT NOT NULL,
    seq INTEGER NOT NULL,
    counts INTEGER NOT NULL,
    PRIMARY KEY (person, slot)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS projected (upto INTEGER NOT NULL, run INTEGER);
INSERT INTO projected SELECT 0, NULL WHERE NOT EXISTS (SELECT 1 FROM projected);
"""
"""``first`` is the entry of the first intent. ``counts`` is ``seq``, or the earlier entry that
``seq`` points back to. ``run`` is the entry with which the last run began."""

_CHUNK = 1000

_FIELDS = (
    "key", "person", "what", "state", "id", "error_message", "request",
    "intended_at", "ended_at", "why",
)  # fmt: skip
_COLUMNS = ", ".join(_FIELDS)

_BEGINNINGS = ("run_started", "run")
"""The kinds of entry that begin a run; the second one is of version 1."""

Read = Callable[..., Sequence[Entry[Body]]]
"""Selects entries by a condition of SQL and its values."""


def is_behind(connection: sqlite3.Connection) -> bool:
    """True when there are entries that the tables do not know yet."""
    upto = connection.execute("SELECT upto FROM projected").fetchone()[0]
    last = connection.execute("SELECT max(seq) FROM entry").fetchone()[0]
    return bool((last or 0) > upto)


def take(connection: sqlite3.Connection, entry: Entry[Body], read: Read) -> None:
    """Take in the entry that was just added, within the transaction that added it.

    Raises JournalError for knowledge of a creation that cannot be read.
    """
    upto = connection.execute("SELECT upto FROM projected").fetchone()[0]
    if upto != entry.seq - 1:
        catch_up(connection, read)
        return
    _take(connection, entry, read)
    _is_projected(connection, entry)


def catch_up(connection: sqlite3.Connection, read: Read) -> None:
    """Take in every entry that the tables do not know yet, within the transaction that is open.

    Raises JournalError for knowledge of a creation that cannot be read.
    """
    while True:
        upto = connection.execute("SELECT upto FROM projected").fetchone()[0]
        entries = read(f"seq > ? ORDER BY seq LIMIT {_CHUNK}", upto)
        if not entries:
            return
        for entry in entries:
            _take(connection, entry, read)
        _is_projected(connection, entries[-1])


def _is_projected(connection: sqlite3.Connection, entry: Entry[Body]) -> None:
    connection.execute("UPDATE projected SET upto = ?", (entry.seq,))


def creations(
    connection: sqlite3.Connection, condition: str = "1", *values: object
) -> tuple[Creation, ...]:
    """The creations that fulfil a condition of SQL, in the order of their first intents."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM creation WHERE {condition} ORDER BY first",  # noqa: S608
        values,
    )
    return tuple(map(_creation, rows))


def _creation(row: Sequence[Any]) -> Creation:
    fields = dict(zip(_FIELDS, row, strict=True))
    return Creation.model_validate(fields | {"request": json.loads(fields["request"])})


def _take(connection: sqlite3.Connection, entry: Entry[Body], read: Read) -> None:
    body = entry.body
    if isinstance(body, AboutCreation):
        _move(connection, entry)
    elif (body.was if isinstance(body, Former) else body.kind) in _BEGINNINGS:
        _begin(connection, entry)
    elif entry.person is not None:
        counts, slot = entry.seq, body.slot
        if isinstance(body, Reused):
            counts = body.seq
            slot = next((each.body.slot for each in read("seq = ?", counts)), "former:missing")
        if slot is not None:
            connection.execute(
                "INSERT INTO standing VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
                "SET seq = excluded.seq, counts = excluded.counts",
                (entry.person, slot, entry.seq, counts),
            )


def _begin(connection: sqlite3.Connection, entry: Entry[Body]) -> None:
    body = entry.body
    if isinstance(body, RunStarted) and body.only is not None:
        connection.executemany(
            "DELETE FROM standing WHERE person = ?", ((slug,) for slug in body.only)
        )
    else:
        connection.execute("DELETE FROM standing")
    connection.execute("UPDATE projected SET run = ?", (entry.seq,))


def _move(connection: sqlite3.Connection, entry: Entry[Body]) -> None:
    before = next(iter(creations(connection, "key = ?", entry.key)), None)
    after = advanced(before, entry)
    if after is None or after == before:
        return
    fields = after.model_dump(mode="json", include=set(_FIELDS))
    fields["request"] = json.dumps(fields["request"])
    connection.execute(
        f"INSERT INTO creation (first, {_COLUMNS}) VALUES (?{', ?' * len(_FIELDS)}) "  # noqa: S608
        f"ON CONFLICT DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _FIELDS)}",
        (entry.seq, *(fields[name] for name in _FIELDS)),
    )

"""The state that the entries add up to, in tables of the same file, so that views need few reads.

Two tables follow the entries. ``creation`` holds where each creation stands. ``standing`` holds,
for the last run, which entry counts for each person and slot. Both are made of the entries alone,
in the transaction that adds one.
"""

from __future__ import annotations

import json
import sqlite3

from palprep.journal.creations.states import Creation, advanced
from palprep.journal.entries import bodies as entries

SCHEMA = """
CREATE TABLE IF NOT EXISTS creation (
    key TEXT PRIMARY KEY,
    first INTEGER NOT NULL,
    body TEXT NOT NULL,
    person TEXT AS (json_extract(body, '$.person')),
    state TEXT AS (json_extract(body, '$.state')),
    id TEXT AS (json_extract(body, '$.id'))
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS creation_by_id ON creation (id);
CREATE INDEX IF NOT EXISTS creation_by_state ON creation (state);
CREATE INDEX IF NOT EXISTS creation_by_person ON creation (person);
CREATE TABLE IF NOT EXISTS standing (
    person TEXT NOT NULL,
    slot TEXT NOT NULL,
    seq INTEGER NOT NULL,
    counts INTEGER NOT NULL,
    PRIMARY KEY (person, slot)
) WITHOUT ROWID;
"""
"""``first`` is the entry of the first intent. ``counts`` is ``seq``, or the earlier entry that
``seq`` points back to."""


def slot_of(body: entries.Body) -> str | None:
    """The slot of a person that an entry fills until a later one does; None for an entry that no
    view shows."""
    match body:
        case entries.Reused(slot=slot):
            return slot
        case entries.AssetPrepared(asset=asset):
            return f"asset:{asset.role.value}"
        case entries.CreationUsed(what=what):
            return f"creation:{what}"
    shown = (
        entries.FaceValidated
        | entries.PersonEnded
        | entries.FilesRemoved
        | entries.ConsentFound
        | entries.ConsentWaived
        | entries.ConsentDecided
    )
    return body.kind if isinstance(body, shown) else None


def update(connection: sqlite3.Connection, entry: entries.Entry[entries.Body]) -> None:
    """Bring both tables up to date with the entry that this transaction has added."""
    body = entry.body
    if isinstance(body, entries.AboutCreation):
        before = next(iter(creations(connection, "key = ?", entry.key)), None)
        after = advanced(before, entry)
        if after is not None and after != before:
            kept = json.dumps(after.model_dump(mode="json", round_trip=True))
            connection.execute(
                "INSERT INTO creation (key, first, body) VALUES (?, ?, ?) "
                "ON CONFLICT DO UPDATE SET body = excluded.body",
                (entry.key, entry.seq, kept),
            )
    elif isinstance(body, entries.RunStarted):
        # A person's decision stays from run to run.
        gone = f"DELETE FROM standing WHERE slot <> '{entries.ConsentDecided.kind}'"  # noqa: S608
        if body.only is None:
            connection.execute(gone)
        else:
            connection.executemany(f"{gone} AND person = ?", ((slug,) for slug in body.only))
    elif entry.person is not None:
        slot, counts = slot_of(body), body.seq if isinstance(body, entries.Reused) else entry.seq
        if slot is not None:
            connection.execute(
                "INSERT INTO standing VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
                "SET seq = excluded.seq, counts = excluded.counts",
                (entry.person, slot, entry.seq, counts),
            )


def creations(
    connection: sqlite3.Connection, condition: str = "1", *values: object
) -> tuple[Creation, ...]:
    """The creations that fulfil a condition in SQL, in the order of their first intents."""
    rows = connection.execute(
        f"SELECT body FROM creation WHERE {condition} ORDER BY first",  # noqa: S608
        values,
    )
    return tuple(entries.from_stored(Creation, body) for (body,) in rows)

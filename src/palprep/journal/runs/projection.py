"""The state that the entries add up to, in tables of the same file, so that views need few reads.

Two tables follow the entries. ``creation`` holds where each creation stands. ``standing`` holds,
for the last run, which entry counts for each person and slot. Both are made of the entries alone,
in the transaction that adds one.
"""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

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

_GIVEN_TWICE = """
WITH given AS (
    SELECT person, substr(key, 10, 64) AS content, min(seq) AS first FROM entry
    WHERE kind = 'asset_prepared' AND key IS NOT NULL GROUP BY content, person
), paired AS (
    SELECT person, content, iif(
        first = min(first) OVER alike, nth_value(first, 2) OVER alike, min(first) OVER alike
    ) AS other FROM given WINDOW alike AS (
        PARTITION BY content ORDER BY first ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    )
)
SELECT DISTINCT paired.person, json_extract(plain(own.body), '$.asset.source', '$.asset.role'),
theirs.person, json_extract(plain(theirs.body), '$.asset.source', '$.asset.role'), (
    SELECT group_concat(json_extract(body, '$.what') || ' ' || id, ' and the ') FROM creation
    WHERE creation.person = theirs.person AND instr(body, content) AND state <> 'error'
) FROM paired CROSS JOIN standing ON standing.person = paired.person AND slot GLOB 'asset:*'
JOIN entry AS own ON own.seq = counts AND substr(own.key, 10, 64) = content
JOIN entry AS theirs ON theirs.seq = other WHERE other IS NOT NULL
"""
"""Files of the last run that somebody else has given, too: the person and the file; the first of
the others, with the file; and what was made of that for them. A file is a list in JSON, since its
name may hold what is no text."""


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


def given_twice(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """For each person of the last run a sentence about each file that somebody else has given as
    well, now or earlier: a copy in a wrong folder, or a folder that has a new name."""
    found: dict[str, list[str]] = {}
    for person, own, other, theirs, made in connection.execute(_GIVEN_TWICE):
        of_it = f", of which the {made} was made" if made else ""
        names = (os.fsencode(Path(json.loads(each)[0]).name) for each in (own, theirs))
        mine, same = (each.decode("utf-8", "replace") for each in names)
        words = f"{mine} is the same file as {same} of {other}{of_it}."
        found.setdefault(person, []).append(words)
    return found

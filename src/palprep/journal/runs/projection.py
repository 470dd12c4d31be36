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

from palprep.journal.creations.states import Creation, CreationState, advanced
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

_CONTENT = f"substr(key, {len(entries.AssetPrepared.KEY) + 1}, 64)"
"""The SHA-256 of a file, from the key of the entry that it was prepared."""
_GIVERS = f"""
SELECT {_CONTENT} AS content, person, min(seq) FROM entry
WHERE kind = 'asset_prepared' AND key IS NOT NULL GROUP BY content, person ORDER BY min(seq)
"""  # noqa: S608
_SHOWN = f"""
SELECT standing.person, {_CONTENT}, counts FROM standing JOIN entry ON entry.seq = counts
WHERE slot GLOB 'asset:*' AND key IS NOT NULL
"""  # noqa: S608


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
    givers: dict[str, dict[str, int]] = {}
    for content, person, seq in connection.execute(_GIVERS):
        givers.setdefault(content, {})[person] = seq
    shared = {content: people for content, people in givers.items() if len(people) > 1}
    found: dict[str, list[str]] = {}
    for person, content, seq in connection.execute(_SHOWN) if shared else ():
        if people := shared.get(content):
            # The first of the others, who may have a voice or a replica of the file.
            other = next(each for each in people if each != person)
            mine, same = (_file_of(connection, at) for at in (seq, people[other]))
            made = " and the ".join(
                f"{each.what} {each.id}"
                for each in creations(connection, "person = ? AND instr(body, ?)", other, content)
                if each.id and each.state is not CreationState.ERROR
            )
            of_it = f", of which the {made} was made" if made else ""
            told = f"{mine} is the same file as {same} of {other}{of_it}."
            found.setdefault(person, []).append(told)
    return found


def _file_of(connection: sqlite3.Connection, seq: int) -> str:
    """The name of the file that an entry prepared. As an array of JSON SQLite gives also a name
    that is no text."""
    (sources,) = connection.execute(
        "SELECT json_extract(plain(body), '$.asset.source', '$.asset.role') FROM entry "
        "WHERE seq = ?",
        (seq,),
    ).fetchone()
    name = Path(json.loads(sources)[0]).name
    return os.fsencode(name).decode("utf-8", "replace")

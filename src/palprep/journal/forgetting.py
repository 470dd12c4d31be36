"""Forgetting one person: every row that tells of them goes, and marks stay.

A mark is an HMAC-SHA256 of a name, or of a creation's key or id, under a random key of this journal
alone. It answers whether a name that somebody gives was forgotten here. It names nobody.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import shlex
import sqlite3
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from palprep.errors import JournalError, UsageError
from palprep.journal.file import APPEND_ONLY, kept

Marked = Literal["person", "name", "made"]
"""What a mark is of: the slug, a name of the person, or the key or id of a voice or replica."""

_SECRET = "forgotten_key"
_PREFIX = "forgotten:"


def name_key(full_name: str) -> str:
    """The key of entries about the codes for a name: who bears it is known by a folder later."""
    return f"code:{' '.join(full_name.split()).casefold()}"


class Made(NamedTuple):
    """The keys of what was created for a person alone, and all ids that the service gave it."""

    keys: tuple[str, ...]
    ids: tuple[str, ...]


def forgotten(connection: sqlite3.Connection, what: Marked, names: Iterable[str]) -> frozenset[str]:
    """Those of the names that were forgotten."""
    secret = _setting(connection, _SECRET)
    if secret is None:
        return frozenset()
    return frozenset(each for each in names if _setting(connection, _mark(secret, what, each)))


def refuse(
    connection: sqlite3.Connection, person: str | None, key: str | None, path: Path | None
) -> None:
    """Raise UsageError where the person, or the creation under the key, was forgotten."""
    made = () if key is None else (key,)
    if person is not None and (
        forgotten(connection, "person", (person,)) or forgotten(connection, "made", made)
    ):
        again = shlex.join(["palprep", "forget", str(path.parent if path else "DIR"), person])
        raise UsageError(
            f"{person} was forgotten, and nothing is recorded or made for them: "
            f"`{again} --again` takes them in again"
        )


def mark(connection: sqlite3.Connection, person: str, names: Iterable[str]) -> None:
    """Mark a person, who also has these names, and everything that was made for them."""
    connection.execute(
        "INSERT INTO setting VALUES (?, ?) ON CONFLICT DO NOTHING", (_SECRET, secrets.token_hex(32))
    )
    secret = _setting(connection, _SECRET) or ""
    own, made = _mark(secret, "person", person), made_for(connection, person)
    marks = {
        own,
        *(_mark(secret, "name", each.casefold()) for each in names),
        *(_mark(secret, "made", each) for each in (*made.keys, *made.ids)),
    }
    connection.executemany(
        "INSERT INTO setting VALUES (?, ?) ON CONFLICT DO NOTHING", ((each, own) for each in marks)
    )


def unmark(connection: sqlite3.Connection, person: str) -> bool:
    """Take every mark of a person away; whether there were any."""
    secret = _setting(connection, _SECRET)
    own = _mark(secret or "", "person", person)
    return connection.execute("DELETE FROM setting WHERE value = ?", (own,)).rowcount > 0


def made_for(connection: sqlite3.Connection, person: str) -> Made:
    """What was created for this person, and is used by nobody else."""
    keys = [
        str(key)
        for (key,) in connection.execute(
            "SELECT key FROM creation WHERE person = ? AND key NOT IN (SELECT key FROM entry WHERE "
            "kind = 'creation_used' AND person <> ? AND key IS NOT NULL)",
            (person, person),
        )
    ]
    ids = {
        str(found)
        for key in keys
        for _, text in _texts(connection, "key = ?", key)
        for found in ((json.loads(text).get("snapshot") or {}).get("id"),)
        if found
    }
    return Made(tuple(keys), tuple(sorted(ids)))


def forget(connection: sqlite3.Connection, person: str) -> None:
    """Remove every row about a person, in one transaction; nothing of them can be restored."""
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("BEGIN IMMEDIATE")
    for name in APPEND_ONLY:
        connection.execute(f"DROP TRIGGER {name}")
    made = made_for(connection, person)
    # What somebody else uses, too, is theirs from now on.
    heirs = connection.execute(
        "SELECT key, min(person) FROM entry WHERE kind = 'creation_used' AND person <> ? "
        "AND key IN (SELECT key FROM creation WHERE person = ?) GROUP BY key",
        (person, person),
    ).fetchall()
    for key, heir in heirs:
        row = (heir, key, person)
        connection.execute("UPDATE creation SET person = ? WHERE key = ? AND person = ?", row)
        connection.execute(
            "UPDATE entry SET person = ? WHERE key = ? AND person = ? "
            "AND kind NOT IN ('creation_used', 'consent_waived')",
            row,
        )
    stray = [
        seq
        for seq, text in _texts(connection, "person IS NULL AND kind = 'called_back'")
        if any(json.dumps(each)[1:-1] in text for each in (*made.keys, *made.ids))
    ]
    connection.executemany("DELETE FROM entry WHERE seq = ?", ((seq,) for seq in stray))
    connection.executemany("DELETE FROM entry WHERE key = ?", ((key,) for key in made.keys))
    for table in ("entry", "creation", "standing"):
        connection.execute(f"DELETE FROM {table} WHERE person = ?", (person,))  # noqa: S608
    names = {person}
    for seq, text in _texts(connection, "kind = 'run_started'"):
        run = json.loads(text)
        names.update(each["full_name"] for each in run["people"] if each["slug"] == person)
        run["people"] = [each for each in run["people"] if each["slug"] != person]
        run["only"] = run["only"] and [each for each in run["only"] if each != person]
        if run != json.loads(text):
            body, content = kept(connection, json.dumps(run))
            connection.execute(
                "UPDATE entry SET body = ?, content = ? WHERE seq = ?", (body, content, seq)
            )
    codes = ((name_key(each),) for each in names)
    connection.executemany("DELETE FROM entry WHERE key = ?", codes)
    connection.execute(
        "DELETE FROM content WHERE sha256 NOT IN "
        "(SELECT content FROM entry WHERE content IS NOT NULL)"
    )
    for statement in APPEND_ONLY.values():
        connection.execute(statement)


def compact(connection: sqlite3.Connection) -> None:
    """Write the file anew without what was removed, and empty its log.

    Raises JournalError while another program reads an older state of it.
    """
    connection.execute("VACUUM")
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise JournalError(
            "Another program is reading the journal, and its log still holds what was removed: "
            "close that program, and run the same command again"
        )


def _texts(connection: sqlite3.Connection, condition: str, *values: str) -> list[tuple[int, str]]:
    """The numbers of entries, and their whole JSON."""
    rows = connection.execute(
        f"SELECT seq, body, zipped FROM entry LEFT JOIN content ON sha256 = content "  # noqa: S608
        f"WHERE {condition}",
        values,
    )
    return [
        (seq, zlib.decompress(zipped).decode() if zipped else text) for seq, text, zipped in rows
    ]


def _setting(connection: sqlite3.Connection, name: str) -> str | None:
    row = connection.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _mark(secret: str, what: Marked, name: str) -> str:
    told = f"{what}\0{name}".encode("utf-8", "surrogateescape")
    return _PREFIX + hmac.new(bytes.fromhex(secret), told, hashlib.sha256).hexdigest()

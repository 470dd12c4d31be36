"""Forgetting one person: every row about the person is removed, and marks stay.

A mark is an HMAC-SHA256 of a name, a creation's key or id, or a file's SHA-256, under a random key
of this journal alone. It answers whether a name or a file was forgotten here, and names nobody.
"""

from __future__ import annotations

import hmac
import json
import secrets
import shlex
import sqlite3
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from palprep.errors import JournalError, UsageError
from palprep.journal.file import packed
from palprep.vocabulary import same_name

Marked = Literal["person", "name", "made"]
"""What a mark stands for: a slug; a name of a person; or what was made for them, which is the key
or id of a voice or replica, or the SHA-256 of a file that was listened to."""

_SECRET = "forgotten_key"
_SHARED = (
    "(SELECT key, min(person) AS heir FROM entry WHERE kind = 'creation_used' AND person <> :own "
    "AND key IS NOT NULL GROUP BY key)"
)
"""The keys of creations that people other than ``:own`` use, each with one of them, the heir."""

_JUDGED = (
    "SELECT seq, key FROM entry WHERE kind = 'file_judged' AND json_extract(plain(body), "
    "'$.sha256') IN (SELECT json_extract(plain(body), '$.asset.source_sha256') FROM entry WHERE "
    "kind = 'asset_prepared' AND person = :own)"
)
"""The entries by which a person's files were judged for a code."""


def name_key(full_name: str) -> str:
    """The key of entries about whoever has this name, before a folder gives them a slug. Spaces,
    signs and accents are left out, so that a hyphen in place of a space makes no difference."""
    name = unicodedata.normalize("NFKD", same_name(full_name))
    kept = (char for char in name if not unicodedata.combining(char))
    letters = (char for char in kept if unicodedata.category(char)[0] in "LNM")
    return f"code:{''.join(letters)}"


class Made(NamedTuple):
    """The keys of what was created for a person alone, and all ids that the service gave to it."""

    keys: tuple[str, ...]
    ids: tuple[str, ...]


def forgotten(connection: sqlite3.Connection, what: Marked, names: Iterable[str]) -> frozenset[str]:
    secret = _setting(connection, _SECRET)
    if secret is None:
        return frozenset()
    return frozenset(each for each in names if _setting(connection, _mark(secret, what, each)))


def refuse(
    connection: sqlite3.Connection, person: str | None, key: str | None, path: Path | None
) -> None:
    """Raise UsageError where the person, or the creation under the key, was forgotten."""
    if person is None:
        return
    own = forgotten(connection, "person", (person,))
    if own or (key is not None and forgotten(connection, "made", (key,))):
        # The journal does not know the name: the folder may have another one by now.
        who, folder = (person, person) if own else (f"Who had the same as {person}", "FOLDER")
        again = shlex.join(["palprep", "forget", str(path.parent if path else "DIR"), folder])
        raise UsageError(
            f"{who} was forgotten, and nothing is recorded or made for them: "
            f"`{again} --again` takes them in again"
        )


def mark(connection: sqlite3.Connection, person: str, names: Iterable[str]) -> None:
    """Mark a person, these names of theirs, everything that was made for them, and the files in
    which only they were listened to: a consent that was taken back must not count again."""
    connection.execute(
        "INSERT INTO setting VALUES (?, ?) ON CONFLICT DO NOTHING", (_SECRET, secrets.token_hex(32))
    )
    secret = _setting(connection, _SECRET) or ""
    own, made = _mark(secret, "person", person), made_for(connection, person)
    heard = connection.execute(
        "SELECT key FROM entry WHERE kind = 'dossier_kept' AND length(key) = 64 "
        "GROUP BY key HAVING max(person <> ?) = 0",
        (person,),
    )
    marks = {
        own,
        *(_mark(secret, "name", each) for each in names),
        *(_mark(secret, "made", each) for each in (*made.keys, *made.ids)),
        *(_mark(secret, "made", each) for (each,) in heard),
    }
    connection.executemany(
        "INSERT INTO setting VALUES (?, ?) ON CONFLICT DO NOTHING", ((each, own) for each in marks)
    )


def unmark(connection: sqlite3.Connection, person: str) -> bool:
    secret = _setting(connection, _SECRET)
    own = _mark(secret or "", "person", person)
    return connection.execute("DELETE FROM setting WHERE value = ?", (own,)).rowcount > 0


def made_for(connection: sqlite3.Connection, person: str) -> Made:
    # By the key of each: all that others use would be read for every person of a run.
    keys = connection.execute(
        "SELECT key FROM creation WHERE person = :own AND NOT EXISTS (SELECT 1 FROM entry WHERE "
        "key = creation.key AND kind = 'creation_used' AND person <> :own)",
        {"own": person},
    )
    made = tuple(str(key) for (key,) in keys)
    ids: set[str] = set()
    query = (
        "SELECT coalesce(json_extract(plain(body), '$.snapshot.id'), "
        "json_extract(plain(body), '$.found_id')) FROM entry WHERE key = ?"
    )
    for key in made:
        ids.update(found for (found,) in connection.execute(query, (key,)) if found)
    return Made(made, tuple(sorted(ids)))


def forget(connection: sqlite3.Connection, person: str) -> None:
    """Remove every row about a person, in one transaction. Nothing of it can be restored."""
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("INSERT INTO setting VALUES ('forgetting', '')")
    made = made_for(connection, person)
    # A creation that somebody else uses, too, is that person's from now on.
    own = {"own": person}
    connection.execute(
        f"UPDATE entry SET person = heir FROM {_SHARED} AS shared "  # noqa: S608
        "WHERE shared.key = entry.key AND entry.person = :own "
        "AND kind NOT IN ('creation_used', 'consent_waived') "
        "AND entry.key IN (SELECT key FROM creation WHERE person = :own)",
        own,
    )
    connection.execute(
        "UPDATE creation SET body = json_set(body, '$.person', heir) "  # noqa: S608
        f"FROM {_SHARED} AS shared WHERE shared.key = creation.key AND creation.person = :own",
        own,
    )
    for each in (*made.keys, *made.ids):
        connection.execute(
            "DELETE FROM entry WHERE person IS NULL AND kind = 'called_back' "
            "AND instr(plain(body), ?)",
            (json.dumps(each)[1:-1],),
        )
    connection.executemany("DELETE FROM entry WHERE key = ?", ((key,) for key in made.keys))
    # Their codes may be those of a name that only sounds the same.
    judged = connection.execute(_JUDGED, own).fetchall()
    connection.executemany("DELETE FROM entry WHERE seq = ?", ((seq,) for seq, _ in judged))
    for table in ("entry", "creation", "standing"):
        connection.execute(f"DELETE FROM {table} WHERE person = ?", (person,))  # noqa: S608
    names, others = {person}, set[str]()
    runs = "SELECT seq, plain(body) FROM entry WHERE kind = 'run_started'"
    for seq, text in connection.execute(runs).fetchall():
        run = json.loads(text)
        names.update(each["full_name"] for each in run["people"] if each["slug"] == person)
        run["people"] = [each for each in run["people"] if each["slug"] != person]
        others.update(name_key(each["full_name"]) for each in run["people"])
        run["only"] = run["only"] and [each for each in run["only"] if each != person]
        row = (packed(json.dumps(run)), seq)
        connection.execute("UPDATE entry SET body = ? WHERE seq = ?", row)
    codes = {*map(name_key, names), *({key for _, key in judged} - others)}
    connection.executemany("DELETE FROM entry WHERE key = ?", ((each,) for each in codes))
    connection.execute("DELETE FROM setting WHERE name = 'forgetting'")


def compact(connection: sqlite3.Connection) -> None:
    """Write the file anew without what was removed, and empty its log. Raises JournalError while
    another program reads an older state of it."""
    connection.execute("VACUUM")
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    if busy:
        raise JournalError(
            "Another program is reading the journal, and its log still holds what was removed: "
            "close that program, and run the same command again"
        )


def _setting(connection: sqlite3.Connection, name: str) -> str | None:
    row = connection.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _mark(secret: str, what: Marked, name: str) -> str:
    text = f"{what}\0{same_name(name) if what == 'name' else name}"
    message = text.encode("utf-8", "surrogateescape")
    return "forgotten:" + hmac.digest(bytes.fromhex(secret), message, "sha256").hex()

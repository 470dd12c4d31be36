"""The tables beside the entries: always what the entries add up to, whoever wrote them."""

from __future__ import annotations

import json
import random
import sqlite3

import pytest
from folded import fold

from palprep.journal.entries import (
    AboutCreation,
    CalledBack,
    Created,
    CreationUsed,
    Doubt,
    Intent,
    NotCreated,
    PersonEnded,
    PersonNames,
    Polled,
    Resolved,
    Reused,
    RunStarted,
)
from palprep.journal.results import PersonOutcome, Snapshot
from palprep.journal.run_view import standing, view
from palprep.journal.store import JOURNAL_NAME, Journal

RUN = RunStarted(
    people=(PersonNames(slug="ada", name="Ada", full_name="Ada L"),),
    target="http://x", profile="core-4", dry_run=False, palprep_version="0",
)  # fmt: skip

STATES = ("started", "completed", "error")

MOVES = (
    Intent(what="voice", request={"name": "Ada", "n": [1, None]}),
    NotCreated(code="x", message="no"),
    Doubt(code="x", message="lost"),
    Resolved(),
    Resolved(found_id="v1"),
    CalledBack(received={"odd": True}),
    *(Created(snapshot=Snapshot(id="v1", status=each)) for each in STATES),
    *(Polled(snapshot=Snapshot(id="v2", status=each, error_message="e")) for each in STATES),
)

VERSION_2 = """
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entry (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, person TEXT, kind TEXT NOT NULL,
    key TEXT, body TEXT NOT NULL CHECK (json_valid(body)), version INTEGER NOT NULL
);
CREATE INDEX entry_by_key ON entry (key, kind);
CREATE TRIGGER entry_stays BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
PRAGMA application_id = 0x50414C4A;
PRAGMA user_version = 2;
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / JOURNAL_NAME


@pytest.mark.parametrize("seed", range(5))
def test_the_table_of_creations_is_the_fold_of_the_entries(seed):
    chosen = random.Random(seed)  # noqa: S311 - repeatable, not secret
    with Journal() as journal:
        for _ in range(200):
            journal.append(chosen.choice(MOVES), person="ada", key=chosen.choice("abcd"))
        folded = fold(journal.entries(AboutCreation))
        assert len(folded) == 4
        assert journal.creations() == tuple(folded.values())
        assert [journal.creation(key) for key in folded] == list(folded.values())
        assert journal.in_doubt() == tuple(c for c in folded.values() if c.state == "in_doubt")


def test_a_creation_is_found_by_its_id():
    with Journal() as journal:
        journal.append(MOVES[0], person="ada", key="a")
        journal.append(MOVES[6], person="ada", key="a")
        assert journal.creation_of("v1") == journal.creation("a")
        assert journal.creation_of("v7") is None


def test_callbacks_that_belong_to_nothing_are_counted():
    with Journal() as journal:
        journal.append(MOVES[0], person="ada", key="a")
        for key in ("a", "unknown", None):
            journal.append(CalledBack(received=1), key=key)
        assert journal.unclaimed_callbacks() == 2


def old_rows(path, *bodies):
    """Entries as a palprep writes them that knows no tables beside them."""
    with sqlite3.connect(path) as connection:
        connection.executemany(
            "INSERT INTO entry (at, person, kind, key, body, version) VALUES (?, ?, ?, ?, ?, 2)",
            [
                ("2026-11-21T05:00:00.000+00:00", "ada", body.kind, key, json.dumps(body.stored()))
                for key, body in bodies
            ],
        )
    connection.close()


RAN = (
    (None, RUN),
    ("k", CreationUsed(what="voice")),
    ("k", MOVES[0]),
    ("k", MOVES[7]),
    (None, PersonEnded(outcome=PersonOutcome(status="waiting", complete=True))),
)


def test_a_journal_of_version_2_is_brought_up_to_date(path):
    sqlite3.connect(path).executescript(VERSION_2).close()
    old_rows(path, *RAN)
    with Journal(path) as journal:
        [ada] = standing(journal).people
        assert (ada.status, ada.voice_id, ada.voice_status) == ("done", "v1", "completed")
        assert journal.append(MOVES[2], person="ada", key="l").seq == 6
    with Journal(path) as journal:
        assert [each.key for each in journal.creations()] == ["k"]


def test_what_an_older_palprep_adds_meanwhile_is_caught_up_with(path):
    with Journal(path, create=True) as journal:
        journal.append(RUN)
        old_rows(path, *RAN[1:])
        assert journal.creation("k").id == "v1"
        old_rows(path, ("l", MOVES[0]))
        journal.append(Doubt(code="x", message="lost"), person="ada", key="l")
        assert journal.creation("l").why == "lost"
        assert view(journal).people[0].status == "done"


def test_what_stands_is_of_the_last_run_alone():
    ended = PersonEnded(outcome=PersonOutcome(status="refused", reasons=("no",)))
    with Journal() as journal:
        journal.append(RUN)
        first = journal.append(ended, person="ada")
        journal.append(RUN)
        assert journal.standing() == ()
        journal.append(Reused(seq=first.seq), person="ada")
        [entry] = journal.standing("person_ended", person="ada")
        assert (entry.seq, entry.body) == (4, ended)
        assert journal.standing(person="bob") == ()
        assert journal.standing("consent_waived") == ()


def test_standing_says_what_the_view_says():
    with Journal() as journal:
        for key, body in RAN:
            journal.append(body, person="ada", key=key)
        [seen], [stands] = view(journal).people, standing(journal).people
        assert seen.standing == stands
        assert stands.status == "done"


def test_a_long_body_is_kept_once_and_compressed(path):
    note = CalledBack(received="the same report " * 1000)
    with Journal(path, create=True) as journal:
        for _ in range(3):
            journal.append(note)
        assert [entry.body for entry in journal.entries(CalledBack)] == [note] * 3
    connection = sqlite3.connect(path)
    [[zipped]] = connection.execute("SELECT zipped FROM content").fetchall()
    assert len(zipped) < 1000
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("DELETE FROM content")
    connection.close()

"""The tables beside the entries: always what the entries add up to, whoever wrote them."""

from __future__ import annotations

import random
import sqlite3

import pytest
from folded import fold
from standings import status

from palprep.journal.entries.bodies import (
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
    Snapshot,
)
from palprep.journal.runs import RunReader
from palprep.journal.runs.outcome import PersonOutcome
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


RAN = (
    (None, RUN),
    ("k", CreationUsed(what="voice")),
    ("k", MOVES[0]),
    ("k", MOVES[7]),
    (None, PersonEnded(outcome=PersonOutcome(status="waiting", complete=True))),
)


def test_what_stands_is_of_the_last_run_alone():
    ended = PersonEnded(outcome=PersonOutcome(status="redo", reasons=("no",)))
    with Journal() as journal:
        journal.append(RUN)
        first = journal.append(ended, person="ada")
        journal.append(RUN)
        assert journal.standing() == ()
        journal.append(Reused(seq=first.seq, slot="person_ended"), person="ada")
        [entry] = journal.standing("person_ended", people=["ada"])
        assert (entry.seq, entry.body) == (4, ended)
        assert journal.standing(people=["bob"]) == ()
        assert journal.standing("consent_waived") == ()


def test_status_says_what_the_view_says(tmp_path):
    with Journal.of(tmp_path, create=True) as journal:
        for key, body in RAN:
            journal.append(body, person="ada", key=key)
        [seen], [stands] = RunReader(journal).view().people, status(tmp_path).people
        assert seen.standing == stands
        assert (stands.status, stands.voice_id, stands.voice_status) == (
            "voice_only",
            "v1",
            "completed",
        )


def test_what_another_process_adds_is_seen(path):
    with Journal(path, create=True) as journal, Journal(path) as other:
        for key, body in RAN:
            other.append(body, person="ada", key=key)
        assert journal.creation("k").id == "v1"
        other.append(MOVES[0], person="ada", key="l")
        journal.append(Doubt(code="x", message="lost"), person="ada", key="l")
        assert other.creation("l").why == "lost"
        assert [each.key for each in other.creations()] == ["k", "l"]


def test_a_long_body_is_kept_compressed(path):
    note = CalledBack(received="the same report " * 1000)
    with Journal(path, create=True) as journal:
        journal.append(note)
        assert [entry.body for entry in journal.entries(CalledBack)] == [note]
    connection = sqlite3.connect(path)
    [[zipped]] = connection.execute("SELECT body FROM entry").fetchall()
    assert len(zipped) < 1000
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute("DELETE FROM entry")
    connection.close()

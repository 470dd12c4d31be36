"""A journal of version 1: what it knows of creations holds, its own work is done again."""

from __future__ import annotations

import shutil
import sqlite3

import pytest
from version_1 import VOICE_ID, VOICE_KEY, write_journal

from palprep.batch.dossiers import kept_dossiers
from palprep.batch.outputs import write_report
from palprep.batch.runner import run
from palprep.batch.status import status
from palprep.errors import JournalError
from palprep.journal.creations import CreationState
from palprep.journal.entries import AssetPrepared, CalledBack, CreationUsed, RunStarted
from palprep.journal.resolve import resolve_found, resolve_retry
from palprep.journal.store import JOURNAL_NAME, Journal

INTENT = {"what": "replica", "request": {"replica_name": "Ada"}}
TOLD = {"id": "r1", "status": "completed", "error_message": None}
LOST = {"code": "outcome_unknown", "message": "connection lost"}
NO = {"code": "service_refused", "message": "no"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / JOURNAL_NAME


def test_what_was_created_stays_known(path):
    write_journal(path)
    with Journal(path) as journal:
        creation = journal.creation(VOICE_KEY)
        [callback] = journal.entries(CalledBack)
    assert (creation.state, creation.id, creation.person) == ("completed", VOICE_ID, "ada")
    assert creation.request["voice_name"] == "Ada"
    assert creation.intended_at < creation.ended_at
    assert callback.body.received["voice_name"] == "Ada"


@pytest.mark.parametrize(
    ("rows", "state", "found"),
    [
        ([("intent", INTENT)], "in_doubt", None),
        ([("intent", INTENT), ("unknown", LOST)], "in_doubt", None),
        ([("intent", INTENT), ("refused", NO)], "absent", None),
        ([("intent", INTENT), ("unsent", NO)], "absent", None),
        ([("intent", INTENT), ("created", {**TOLD, "status": "started"})], "started", "r1"),
        ([("intent", INTENT), ("status", TOLD)], "completed", "r1"),
        ([("intent", INTENT), ("callback", {**TOLD, "received": {}})], "completed", "r1"),
        ([("intent", INTENT), ("callback", {"received": "?"})], "in_doubt", None),
        ([("intent", INTENT), ("settled", {"decision": "found", "id": "r7"})], "started", "r7"),
        ([("intent", INTENT), ("settled", {"decision": "retry"})], "absent", None),
    ],
)
def test_every_kind_that_speaks_of_a_creation_is_honoured(path, rows, state, found):
    write_journal(path, *((kind, "replica-1", body) for kind, body in rows))
    with Journal(path) as journal:
        creation = journal.creation("replica-1")
        assert (creation.state, creation.id) == (state, found)
        assert creation.request == {"replica_name": "Ada"}


def test_what_a_run_did_is_not_half_understood(path):
    write_journal(path)
    with Journal(path) as journal:
        assert journal.entries(AssetPrepared) == ()
        assert journal.entries(RunStarted) == ()
        assert journal.entries(CreationUsed) == ()


@pytest.mark.parametrize("read", [status, write_report])
def test_its_run_is_refused_with_what_to_do(path, read):
    write_journal(path)
    with pytest.raises(JournalError, match=r"another version.*run the same command again"):
        read(path.parent)


def test_a_doubt_of_version_1_can_be_resolved(path):
    write_journal(path, upto=5)
    with Journal(path) as journal:
        assert journal.creation(VOICE_KEY).state is CreationState.IN_DOUBT
        assert resolve_found(journal, VOICE_KEY, "v9").id == "v9"
    write_journal(path.with_name("other.sqlite"), upto=5)
    with Journal(path.with_name("other.sqlite")) as journal:
        assert resolve_retry(journal, VOICE_KEY).state is CreationState.ABSENT


def test_knowledge_that_cannot_be_read_is_refused(path):
    write_journal(path, ("created", VOICE_KEY, {"shape": "odd"}))
    with Journal(path) as journal, pytest.raises(JournalError, match="must not be lost"):
        journal.creations()


def test_a_dossier_of_version_1_is_kept(path):
    write_journal(path, ("dossier", None, {"path": "a.consent.json", "dossier": {"entries": []}}))
    [(place, dossier)] = kept_dossiers(path.parent).items()
    assert (place, dossier.entries) == (path.parent / "a.consent.json", ())


def test_a_run_of_version_1_that_is_at_work_goes_on(path):
    write_journal(path, upto=4)
    old = sqlite3.connect(path)
    Journal(path).close()
    with old:
        old.execute(
            "INSERT INTO entry (at, person, kind, key, body) VALUES ('', 'ada', 'intent', 'k', ?)",
            ('{"what": "voice", "request": {}}',),
        )
    old.close()
    with Journal(path) as journal:
        assert journal.creation("k").state is CreationState.IN_DOUBT


def test_the_same_command_does_the_work_again_and_creates_nothing(path, tmp_path, sample_media):
    write_journal(path)
    folder = tmp_path / "people" / "ada"
    folder.mkdir(parents=True)
    shutil.copy(sample_media / "people/jane-carter/recording.m4a", folder)
    [person] = run(tmp_path / "people", into=tmp_path, jobs=1).people
    assert (person.status, person.reasons) == ("done", ())
    assert (person.voice.key, person.voice.id) == (VOICE_KEY, VOICE_ID)
    assert [each.role.value for each in person.assets] == ["voice-audio"]
    assert status(tmp_path).people == (person.standing,)

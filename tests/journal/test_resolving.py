"""Doubts and endings that a person resolves by hand."""

from __future__ import annotations

import pytest

from palprep.errors import JournalError, UsageError
from palprep.journal.creations.at_most_once import (
    resolve_ended,
    resolve_found,
    resolve_retry,
)
from palprep.journal.creations.states import CreationState
from palprep.journal.entries.bodies import (
    Created,
    Intent,
    Polled,
    Snapshot,
)
from palprep.journal.store import JOURNAL_NAME, Journal

INTENT = Intent(what="voice", request={"voice_name": "Ada"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / JOURNAL_NAME


def test_resolving_by_hand(path):
    with Journal(path, lock=True, create=True) as journal:
        journal.append(INTENT, person="ada", key="a")
        journal.append(INTENT, person="bob", key="b")
        assert resolve_found(journal, "a", " v7 ").id == "v7"
        assert resolve_retry(journal, "b").state is CreationState.ABSENT
        with pytest.raises(UsageError, match="nothing is in doubt"):
            resolve_found(journal, "a", "v8")
        with pytest.raises(UsageError, match="Nothing is in doubt under 'zzz'"):
            resolve_retry(journal, "zzz")
        # As a shell gives what is not UTF-8.
        with pytest.raises(JournalError, match="no text in whole characters"):
            resolve_retry(journal, "\udcff")


def test_resolving_lists_what_is_in_doubt(path):
    with Journal(path, lock=True, create=True) as journal:
        journal.append(INTENT, person="ada", key="a")
        with pytest.raises(UsageError, match="in doubt are a"):
            resolve_found(journal, "typo", "v8")
        with pytest.raises(UsageError, match="Give the id"):
            resolve_found(journal, "a", " ")


def test_what_is_known_to_be_of_another_was_not_found(path):
    with Journal(path, lock=True, create=True) as journal:
        for person in ("ada", "bob"):
            journal.append(INTENT, person=person, key=person)
        resolve_found(journal, "ada", "v7")
        with pytest.raises(UsageError, match="v7 is the voice of ada already"):
            resolve_found(journal, "bob", "v7")
        assert [each.key for each in journal.in_doubt()] == ["bob"]


def test_a_resource_in_error_may_be_retried(path):
    with Journal(path, lock=True, create=True) as journal:
        journal.append(INTENT, person="ada", key="a")
        journal.append(Created(snapshot=Snapshot(id="v1", status="started")), key="a")
        with pytest.raises(UsageError):
            resolve_retry(journal, "a")
        journal.append(Polled(snapshot=Snapshot(id="v1", status="error")), key="a")
        assert resolve_retry(journal, "a").state is CreationState.ABSENT


@pytest.mark.parametrize("named_by", ["a", "r1"])
def test_a_training_that_nobody_can_hear_of_is_ended_by_hand(path, named_by):
    with Journal(path, lock=True, create=True) as journal:
        journal.append(INTENT, person="ada", key="a")
        with pytest.raises(UsageError, match="Nothing is in training"):
            resolve_ended(journal, named_by, "completed")
        journal.append(Created(snapshot=Snapshot(id="r1", status="started")), key="a")
        with pytest.raises(UsageError, match="not as 'done'"):
            resolve_ended(journal, named_by, "done")
        ended = resolve_ended(journal, named_by, "completed")
        assert (ended.state, ended.id, ended.ended_at is None) == ("completed", "r1", False)
        with pytest.raises(UsageError, match="Nothing is in training"):
            resolve_ended(journal, named_by, "error")


def test_nothing_is_resolved_while_a_run_is_at_work(path):
    with Journal(path, lock=True, create=True) as run:
        run.append(INTENT, person="ada", key="a")
        with Journal(path) as other:
            with pytest.raises(JournalError, match="Another run"):
                resolve_retry(other, "a")
            with pytest.raises(JournalError, match="Another run"):
                resolve_found(other, "a", "v1")
    with Journal(path) as other:
        assert resolve_retry(other, "a") == other.creation("a")


def test_a_folder_is_as_good_as_its_journal_to_resolve_in(tmp_path):
    with Journal.of(tmp_path, create=True) as journal:
        for key in ("a", "b", "c"):
            journal.append(INTENT, person="ada", key=key)
        journal.append(Created(snapshot=Snapshot(id="r1", status="started")), key="c")
    assert resolve_found(tmp_path, "a", "v7").id == "v7"
    assert resolve_retry(str(tmp_path), "b").state is CreationState.ABSENT
    assert resolve_ended(tmp_path, "r1", "error").state is CreationState.ERROR

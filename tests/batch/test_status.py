"""What status says of a journal that no run has written."""

from __future__ import annotations

import pytest
from standings import status

from palprep.errors import JournalError
from palprep.journal import Journal
from palprep.journal.creations import resolve_found
from palprep.journal.entries.bodies import Created, Doubt, Intent, Snapshot

REQUEST = {"target": "http://service"}


@pytest.fixture
def journal(tmp_path):
    with Journal.of(tmp_path, create=True) as opened:
        yield opened


def make(journal, what, key, *, answer):
    journal.append(Intent(what=what, request=REQUEST), person="Ada", key=key)
    journal.append(answer, person="Ada", key=key)


def test_what_programs_have_made_is_shown(journal, tmp_path):
    snapshot = Snapshot(id="v1", status="completed")
    make(journal, "voice", "voice-1", answer=Created(snapshot=snapshot))
    standing = status(tmp_path)
    assert standing.head.target == "http://service"
    [ada] = standing.people
    assert (ada.person, ada.status, ada.voice_id) == ("Ada", "voice_only", "v1")
    assert ada.replica_id is None


def test_a_doubt_of_a_program_can_be_resolved(journal, tmp_path):
    make(journal, "replica", "replica-1", answer=Doubt(code="outcome_unknown", message="no answer"))
    standing = status(tmp_path)
    assert [each.key for each in standing.head.in_doubt] == ["replica-1"]
    assert standing.people[0].status == "in_doubt"
    resolve_found(journal, "replica-1", "r7")
    standing = status(tmp_path)
    assert standing.head.in_doubt == ()
    assert (standing.people[0].status, standing.people[0].replica_id) == ("waiting", "r7")


def test_an_empty_journal_says_so(journal, tmp_path):
    with pytest.raises(JournalError, match="holds no run yet"):
        status(tmp_path)

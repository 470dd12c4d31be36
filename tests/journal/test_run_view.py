"""The journal read back: what results say when a run was cut off, and when more has arrived."""

from __future__ import annotations

import pytest

from palprep.batch.outputs import replace, write_report
from palprep.errors import JournalError, OutputUnwritable
from palprep.journal.run_view import CUT_OFF, view
from palprep.journal.store import Journal

RUN = {"people": ["ada", "bob"], "target": "http://x", "profile": "core-4", "dry_run": False,
       "version": "0"}  # fmt: skip


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal.sqlite", create=True) as opened:
        yield opened


def seen(journal):
    return {person.slug: person for person in view(journal.entries()).people}


def test_no_run_no_view(journal):
    assert view(journal.entries()) is None
    journal.append("callback", body={"received": 1})
    assert view(journal.entries()) is None


def test_people_who_were_not_reached_are_waiting(journal):
    journal.append("run", body=RUN)
    journal.append("person", person="ada", body={"name": "Ada", "full_name": "Ada L"})
    people = seen(journal)
    assert list(people) == ["ada", "bob"]
    assert (people["ada"].name, people["ada"].full_name) == ("Ada", "Ada L")
    assert people["bob"].name == "bob"
    assert {p.status for p in people.values()} == {"waiting"}
    assert people["bob"].reasons == (CUT_OFF,)


def test_only_the_last_run_counts_but_creations_of_all(journal):
    journal.append("run", body=RUN)
    journal.append("outcome", person="ada", body={"status": "refused", "reasons": ["no"]})
    journal.append("intent", person="ada", key="v", body={"what": "voice", "request": {}})
    journal.append("created", person="ada", key="v", body={"id": "v1", "status": "completed"})
    journal.append("run", body={**RUN, "people": ["ada"]})
    journal.append("uses", person="ada", key="v", body={"what": "voice"})
    journal.append("outcome", person="ada", body={"status": "done", "reasons": []})
    people = seen(journal)
    assert list(people) == ["ada"]
    assert people["ada"].result.to_json() == {
        "person": "ada", "status": "done", "voice_id": "v1", "voice_status": "completed",
        "replica_id": None, "replica_status": None, "reasons": [], "assets": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "expected"), [("completed", "done"), ("error", "failed"), ("started", "waiting")]
)
def test_what_arrives_after_the_run_counts(journal, status, expected):
    journal.append("run", body=RUN)
    journal.append("uses", person="ada", key="r", body={"what": "replica"})
    journal.append("intent", person="ada", key="r", body={"what": "replica", "request": {}})
    journal.append("created", person="ada", key="r", body={"id": "r1", "status": "started"})
    outcome = {"status": "waiting", "reasons": ["in training"], "complete": True}
    journal.append("outcome", person="ada", body=outcome)
    journal.append("callback", key="r", body={"id": "r1", "status": status})
    assert seen(journal)["ada"].status == expected


def test_waiting_for_more_than_callbacks_stays_waiting(journal):
    journal.append("run", body=RUN)
    journal.append("uses", person="ada", key="v", body={"what": "voice"})
    journal.append("intent", person="ada", key="v", body={"what": "voice", "request": {}})
    journal.append("created", person="ada", key="v", body={"id": "v1", "status": "completed"})
    body = {"status": "waiting", "reasons": ["interrupted"], "complete": False}
    journal.append("outcome", person="ada", body=body)
    assert seen(journal)["ada"].reasons == ("interrupted",)


def test_a_doubt_outranks_any_outcome(journal):
    journal.append("run", body=RUN)
    journal.append("uses", person="ada", key="v", body={"what": "voice"})
    journal.append("intent", person="ada", key="v", body={"what": "voice", "request": {}})
    ada = seen(journal)["ada"]
    assert ada.status == "in_doubt"
    assert "settle v" in ada.reasons[0]


def test_a_journal_of_another_version_is_a_clear_error(journal):
    journal.append("run", body={"people": ["ada"]})
    with pytest.raises(JournalError, match="another version of palprep"):
        view(journal.entries())
    journal.append("run", body=RUN)
    journal.append("prepared", person="ada", body={"role": "face-image", "shape": "old"})
    with pytest.raises(JournalError, match="run the same command again"):
        view(journal.entries())


def test_a_report_needs_a_run(tmp_path):
    with pytest.raises(JournalError, match="There is no journal at"):
        write_report(tmp_path)
    Journal(tmp_path / "journal.sqlite", create=True).close()
    with pytest.raises(JournalError, match="holds no run yet"):
        write_report(tmp_path)


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "results.jsonl"
    replace(path, "old")
    replace(path, "new ä")
    assert path.read_text("utf-8") == "new ä"
    assert [each.name for each in tmp_path.iterdir()] == ["results.jsonl"]
    with pytest.raises(OutputUnwritable, match="cannot be written"):
        replace(tmp_path / "gone" / "results.jsonl", "x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputUnwritable, match="cannot be written"):
        replace(tmp_path / "folder", "x")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "results.jsonl"]

"""The journal read back: what results say when a run was cut off, and when more has arrived."""

from __future__ import annotations

import json
import os

import pytest

from palprep.batch import write_report
from palprep.errors import DamagedMedia, JournalError
from palprep.journal.creations.states import CUT_OFF, RESOLVED
from palprep.journal.entries.bodies import (
    AssetPrepared,
    CalledBack,
    Created,
    CreationUsed,
    FaceValidated,
    FaceVerdict,
    Intent,
    PersonEnded,
    PersonNames,
    Resolved,
    Reused,
    RunStarted,
    Snapshot,
)
from palprep.journal.runs.outcome import PersonOutcome
from palprep.journal.runs.views import RunReader
from palprep.journal.store import Journal
from palprep.preflight import Asset
from palprep.rules import Report
from palprep.rules.consent import ConsentState
from palprep.values import Role

RUN = RunStarted(
    people=(
        PersonNames(slug="ada", name="Ada", full_name="Ada L"),
        PersonNames(slug="bob", name="Bob", full_name="Bob"),
    ),
    target="http://x", profile="core-4", dry_run=False, palprep_version="0",
)  # fmt: skip


@pytest.fixture
def journal():
    with Journal() as opened:
        yield opened


def seen(journal):
    return {person.slug: person for person in RunReader(journal).view().people}


def make(journal, what, key, status=None):
    """Ada's voice or replica: used, intended, and created in that status."""
    journal.append(CreationUsed(what=what), person="ada", key=key)
    journal.append(Intent(what=what, request={}), person="ada", key=key)
    if status is not None:
        created = Created(snapshot=Snapshot(id=f"{key}1", status=status))
        journal.append(created, person="ada", key=key)


def end(journal, status, *reasons, complete=False):
    outcome = PersonOutcome(status=status, reasons=reasons, complete=complete)
    journal.append(PersonEnded(outcome=outcome), person="ada")


def test_no_run_no_view(journal):
    with pytest.raises(JournalError, match="holds no run yet"):
        RunReader(journal)
    journal.append(CalledBack(received=1))
    with pytest.raises(JournalError, match="holds no run yet"):
        RunReader(journal)


def test_what_is_true_of_a_file_and_of_its_consent_is_told_once(journal):
    journal.append(RUN)
    end(journal, "redo", "a.mp4: Still.", "a.mp4: Still.", "Record it again.")
    assert seen(journal)["ada"].reasons == ("a.mp4: Still.", "Record it again.")


def test_people_who_were_not_reached_are_waiting(journal):
    journal.append(RUN)
    people = seen(journal)
    assert list(people) == ["ada", "bob"]
    assert (people["ada"].name, people["ada"].full_name) == ("Ada", "Ada L")
    assert {p.status for p in people.values()} == {"waiting"}
    assert people["bob"].reasons == CUT_OFF.reasons


def test_only_the_last_run_counts_but_creations_of_all(journal):
    journal.append(RUN)
    end(journal, "redo", "no")
    journal.append(Intent(what="voice", request={}), person="ada", key="v")
    created = Created(snapshot=Snapshot(id="v1", status="completed"))
    journal.append(created, person="ada", key="v")
    journal.append(RUN.model_copy(update={"people": RUN.people[:1]}))
    journal.append(CreationUsed(what="voice"), person="ada", key="v")
    end(journal, "done")
    people = seen(journal)
    assert list(people) == ["ada"]
    assert people["ada"].result.to_json() == {
        "person": "ada", "status": "done", "voice_id": "v1", "voice_status": "completed",
        "replica_id": None, "replica_status": None, "reasons": [], "assets": [],
    }  # fmt: skip


def test_a_stage_that_was_reused_counts_for_this_run_too(journal):
    journal.append(RUN)
    verdict = FaceVerdict(passed=True, message="fine", model="core-4", checks=())
    first = journal.append(FaceValidated(verdict=verdict), person="ada", key="f")
    journal.append(RUN)
    assert seen(journal)["ada"].face is None
    journal.append(Reused(seq=first.seq, slot="face_validated"), person="ada", key="f")
    assert seen(journal)["ada"].face == verdict


@pytest.mark.parametrize(
    ("status", "expected"),
    [("completed", "done"), ("error", "failed"), ("started", "waiting")],
)
def test_what_arrives_after_the_run_counts(journal, status, expected):
    journal.append(RUN)
    make(journal, "replica", "r", "started")
    end(journal, "waiting", "in training", complete=True)
    journal.append(CalledBack(snapshot=Snapshot(id="r1", status=status)), key="r")
    assert seen(journal)["ada"].status == expected


@pytest.mark.parametrize(
    ("held", "not_made", "replica", "status"),
    [
        (False, (), True, "done"),
        (False, (), False, "voice_only"),
        (False, ("No replica.",), False, "redo"),
        (True, ("No replica.",), False, "needs_decision"),
    ],
)
def test_what_is_left_to_do_once_all_is_ready(held, not_made, replica, status):
    waiting = PersonOutcome(status="waiting", reasons=("…",), held=held, not_made=not_made)
    ended = waiting.ended_well(replica=replica)
    assert (ended.status, ended.reasons) == (status, ())


@pytest.mark.parametrize(
    ("before", "state", "status", "held"),
    [
        ("needs_decision", "holds", "waiting", False),
        ("needs_decision", "refused", "redo", False),
        ("needs_decision", "open", "needs_decision", True),
        ("failed", "holds", "failed", False),
        ("failed", "refused", "failed", False),
    ],
)
def test_a_decision_changes_what_it_held(before, state, status, held):
    held_before = PersonOutcome(status=before, reasons=("a",), notes=("n",), held=True)
    decided = held_before.decided(ConsentState(state=state, reasons=("b",)), made=False)
    assert (decided.status, decided.held, decided.notes) == (status, held, ("n",))
    assert decided.not_made == (("b",) if (before, state) == ("failed", "refused") else ())


def test_a_training_that_may_be_asked_for_again_waits_for_the_next_run(journal):
    journal.append(RUN)
    make(journal, "replica", "r", "error")
    end(journal, "waiting", "in training", complete=True)
    journal.append(Resolved(), key="r")
    ada = seen(journal)["ada"]
    assert (ada.status, ada.reasons) == ("waiting", RESOLVED.reasons)


def test_waiting_for_more_than_callbacks_stays_waiting(journal):
    journal.append(RUN)
    make(journal, "voice", "v", "completed")
    end(journal, "waiting", "interrupted")
    assert seen(journal)["ada"].reasons == ("interrupted",)


def test_no_training_that_has_ended_is_waited_for(journal):
    journal.append(RUN)
    make(journal, "voice", "v", "completed")
    make(journal, "replica", "r", "started")
    end(journal, "waiting", "The voice v1 is in training", "The replica r1 is", complete=True)
    ada = seen(journal)["ada"]
    assert (ada.status, ada.reasons) == ("waiting", ("The replica r1 is",))


def test_a_doubt_outranks_any_outcome(journal):
    journal.append(RUN)
    make(journal, "voice", "v")
    ada = seen(journal)["ada"]
    assert ada.status == "in_doubt"
    assert "resolve v" in ada.reasons[0]


def stored(journal, kind, body):
    """An entry as this version does not write it."""
    journal._connection.execute(
        "INSERT INTO entry (at, person, kind, body) VALUES ('', 'ada', ?, ?)",
        (kind, json.dumps(body)),
    )


def test_a_run_that_cannot_be_read_is_a_clear_error(journal):
    journal.append(RUN)
    stored(journal, "run_started", {"people": ["ada"]})
    with pytest.raises(JournalError, match="use the palprep that wrote it"):
        RunReader(journal)


@pytest.mark.parametrize("kind", ["created", "asset_prepared", "unheard_of"])
def test_no_entry_is_half_read(journal, kind):
    stored(journal, kind, {"shape": "new"})
    with pytest.raises(JournalError, match="must not be lost"):
        journal.newest()


def test_a_report_needs_a_run(tmp_path):
    with pytest.raises(JournalError, match="There is no journal at"):
        write_report(tmp_path)
    Journal(tmp_path / "journal.sqlite", create=True).close()
    with pytest.raises(JournalError, match="holds no run yet"):
        write_report(tmp_path)


def validated(passed):
    return FaceValidated(verdict=FaceVerdict(passed=passed, message="m", model="core-4", checks=()))


def test_a_reader_reads_reports_of_whom_it_is_asked_for(journal, monkeypatch):
    journal.append(RUN)
    make(journal, "voice", "v", status="completed")
    journal.append(validated(passed=True), person="ada", key="face")
    end(journal, "waiting", complete=True)
    reader = RunReader(journal)
    whole = reader.view()
    assert whole.head == reader.head
    assert [*reader.people] == [each.model_copy(update={"face": None}) for each in whole.people]
    assert reader.person("ada").face.passed
    assert [each.slug for each in reader.view({"bob"}).people] == ["bob"]
    monkeypatch.setattr(RunReader, "person", lambda *_: pytest.fail("reports were read"))
    [ada, _] = reader.view(with_reports=False).people
    assert (ada.status, ada.voice.id) == ("voice_only", "v1")


def mark(journal, slug):
    return next(each.mark for each in RunReader(journal).people if each.slug == slug)


def test_a_mark_changes_with_whatever_is_known_of_somebody(journal):
    journal.append(RUN)
    end(journal, "waiting", "because")
    marks = [mark(journal, "ada")]
    end(journal, "waiting", "because")
    assert mark(journal, "ada") == marks[0]
    for body in (validated(passed=True), validated(passed=True)):
        journal.append(body, person="ada", key="face")
        marks.append(mark(journal, "ada"))
    last = journal.newest()
    journal.append(RUN)
    journal.append(Reused(seq=last.seq, slot="face_validated"), person="ada", key="face")
    end(journal, "waiting", "because")
    assert mark(journal, "ada") == marks[-1]
    make(journal, "voice", "v")
    marks.append(mark(journal, "ada"))
    assert len(set(marks)) == 4
    assert mark(journal, "bob") not in marks


def test_a_view_gives_its_people_and_the_exit_code_of_its_run(journal):
    journal.append(RUN)
    end(journal, "done")
    view = RunReader(journal).view()
    assert ([each.slug for each in view], len(view)) == (["ada", "bob"], 2)
    assert view.exit_code == 5
    ada, bob = view
    failed = bob.model_copy(update={"status": "failed"})
    held = ada.model_copy(update={"held": True})
    codes = {
        view.model_copy(update={"people": people}).exit_code
        for people in ((), (ada,), (ada, failed), (held, failed))
    }
    assert codes == {0, 3, 4}
    dry = view.model_copy(update={"head": view.head.model_copy(update={"dry_run": True})})
    assert dry.exit_code == 5  # It was cut off.
    waiting = bob.model_copy(update={"reasons": ("Dry run",)})
    assert dry.model_copy(update={"people": (ada, waiting)}).exit_code == 0


def test_a_file_of_two_people_may_have_a_name_that_is_no_text(journal):
    journal.append(RUN)
    for slug, name in (("ada", os.fsdecode(b"r\xff.wav")), ("bob", "b.wav")):
        report = Report.of_error(
            name, DamagedMedia("It is cut off"), role=Role.VOICE_AUDIO, profile="core-4"
        )
        asset = Asset(
            role=Role.VOICE_AUDIO,
            source=f"/people/{name}",
            source_sha256="0" * 64,
            source_report=report,
            seconds=0.0,
        )
        journal.append(AssetPrepared(asset=asset), person=slug, key=f"prepared-{'0' * 64}-1")
    told = {slug: person.reasons[-1] for slug, person in seen(journal).items()}
    assert told["ada"] == "r\ufffd.wav is the same file as b.wav of bob."
    assert told["bob"] == "b.wav is the same file as r\ufffd.wav of ada."

"""palprep status and report while a run is at work, and after it was cut off."""

from __future__ import annotations

from pathlib import Path

from palprep.callbacks import Delivery
from palprep.journal import Journal, into_journal
from palprep.journal.entries.bodies import (
    CalledBack,
    Created,
    CreationUsed,
    Intent,
    PersonEnded,
    PersonNames,
    RunStarted,
    Snapshot,
)
from palprep.journal.runs import PersonOutcome

from .conftest import Palprep


def started(*names: str, dry_run: bool = False) -> RunStarted:
    people = tuple(PersonNames(slug=each.lower(), name=each, full_name=each) for each in names)
    return RunStarted(
        people=people, target="http://x", profile="core-4", dry_run=dry_run, palprep_version="0"
    )


def test_what_is_under_way_is_no_doubt_while_a_run_is_at_work(
    palprep: Palprep, tmp_path: Path
) -> None:
    into = tmp_path / "out of ada's"
    with Journal.of(into, create=True, lock=True) as journal:
        journal.append(started("Ada"))
        journal.append(CreationUsed(what="voice"), person="ada", key="voice-1")
        journal.append(Intent(what="voice", request={}), person="ada", key="voice-1")
        journal.append(CalledBack(received=1), key="unknown")
        during = palprep("status", into)
        page = palprep("report", into)
        assert palprep("status", into, "--retry", "voice-1").code == 5
    assert (during.code, page.code) == (5, 0)
    assert "A run is at work, and this person is not finished yet" in during.out
    assert "in doubt: look again after the run.\n" in during.out
    assert during.out.endswith("\n1 callback belongs to nothing made here\n")
    assert during.err.endswith("Next: let the run that is at work end, or interrupt it.\n")
    assert page.err == during.err
    assert "not finished yet" in (into / "results.jsonl").read_text()
    after = palprep("status", into)
    assert after.code == 4
    assert f"palprep status '{tmp_path}/out of ada'\"'\"'s' --retry voice-1" in after.out


def test_after_a_dry_run_nobody_is_waited_for_once_it_has_ended_for_everybody(
    palprep: Palprep, tmp_path: Path
) -> None:
    """Otherwise a script that looks until nobody waits would never end."""
    ended = PersonEnded(outcome=PersonOutcome(status="waiting", reasons=("Dry run",)))
    with Journal.of(tmp_path, create=True, lock=True) as journal:
        journal.append(started("Ada", "Bob", dry_run=True))
        journal.append(ended, person="ada")
        assert palprep("status", tmp_path).code == 5
    assert palprep("status", tmp_path).code == 5
    with Journal.of(tmp_path) as journal:
        journal.append(ended, person="bob")
    after = palprep("status", tmp_path)
    assert after.code == 0
    assert after.err.endswith("Next: start `palprep run` again without --dry-run.\n")
    twice = palprep("status", tmp_path, tmp_path / "../" / tmp_path.name)
    assert (twice.code, twice.out, twice.err) == (0, after.out, after.err)
    in_the_way = palprep("status", tmp_path, "--because", "nothing")
    assert (in_the_way.code, "there is: nothing" in in_the_way.err) == (2, True)


def test_a_training_that_no_callback_will_tell_of_is_ended_by_hand(
    palprep: Palprep, tmp_path: Path
) -> None:
    """Until then a scheduler is told that somebody waits."""
    with Journal.of(tmp_path, create=True, lock=True) as journal:
        journal.append(started("Ada"))
        journal.append(CreationUsed(what="replica"), person="ada", key="replica-1")
        journal.append(Intent(what="replica", request={}), person="ada", key="replica-1")
        told = Created(snapshot=Snapshot(id="r 1", status="started"))
        journal.append(told, person="ada", key="replica-1")
        outcome = PersonOutcome(status="waiting", complete=True)
        journal.append(PersonEnded(outcome=outcome), person="ada")
    before = palprep("status", tmp_path)
    assert before.code == 5
    assert f"palprep status {tmp_path} --ended 'r 1' completed" in before.out + before.err
    assert "callback about" not in before.out
    with Journal.of(tmp_path) as journal:
        # The specification does not show what is posted of a replica.
        body = {"uuid": "r 1", "state": "done", "note": "x" * 2000}
        into_journal(journal)(Delivery(tag="replica-1", event=None, body=body))
    unread = palprep("status", tmp_path).out
    said = 'The last callback about ada tells no end that palprep knows: {"uuid": "r 1", "state": '
    assert said in " ".join(unread.split())
    assert "x" * 1000 not in "".join(unread.split())
    assert palprep("status", tmp_path, "--ended", "r 1", "completed").code == 0
    after = palprep("status", tmp_path, "--json")
    assert after.code == 0
    assert after.objects[0]["people"][0]["replica_status"] == "completed"


def test_what_a_script_made_without_a_run_leads_to_no_page(
    palprep: Palprep, tmp_path: Path
) -> None:
    with Journal.of(tmp_path, create=True) as journal:
        journal.append(Intent(what="voice", request={}), person="ada", key="voice-1")
        told = Created(snapshot=Snapshot(id="v1", status="completed"))
        journal.append(told, person="ada", key="voice-1")
    said = palprep("status", tmp_path)
    assert (said.code, "voice v1 completed" in said.out) == (0, True)
    assert said.err == "1 person: 1 voice only\n"


def test_what_is_decided_together_is_recorded_whole_or_not_at_all(
    palprep: Palprep, tmp_path: Path
) -> None:
    with Journal.of(tmp_path, create=True, lock=True) as journal:
        journal.append(started("Ada"))
        for what in ("voice", "replica"):
            journal.append(CreationUsed(what=what), person="ada", key=what)
            journal.append(Intent(what=what, request={}), person="ada", key=what)
    for wrong, said in (
        (["--retry", "nothing"], "Nothing is in doubt under 'nothing'"),
        (["--retry", "voice"], "Decide about voice once"),
        (["--found", "replica=v1"], "Decide about v1 once"),
        (["--ended", "v1", "completed"], "Nothing is in training under 'v1'"),
        (["--because", "in_doubt"], "--because in a command of its own"),
    ):
        refused = palprep("status", tmp_path, "--found", "voice=v1", *wrong)
        assert (refused.code, said in refused.err) == (2, True), refused.err
        with Journal.of(tmp_path) as journal:
            assert len(journal.in_doubt()) == 2
    assert palprep("status", tmp_path, "--found", "voice=v1", "--retry", "replica").code == 5
    with Journal.of(tmp_path) as journal:
        assert {each.key: (each.state, each.id) for each in journal.creations()} == {
            "voice": ("started", "v1"),
            "replica": ("absent", None),
        }

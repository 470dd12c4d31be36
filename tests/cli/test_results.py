"""The end of a run: its exit code, its words, and the command that comes next."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import typer

from palprep.cli.exits import ExitCode, Interrupted
from palprep.cli.output import telling
from palprep.cli.results import Tally, people_at_work
from palprep.journal.creations import CUT_OFF, Creation, CreationState
from palprep.journal.entries import What
from palprep.journal.runs import PersonStatus, PersonView
from palprep.values import Role


def creation(what: What, state: str) -> Creation:
    made = {"voice": "v1", "replica": "r1"}[what]
    return Creation(key=what, person="ada", what=what, state=CreationState(state), id=made)


def result(status: PersonStatus) -> PersonView:
    reasons = ("because",) if status != "done" else ()
    return standing(status, voice_status="completed").model_copy(update={"reasons": reasons})


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["done"], ExitCode.OK),
        (["done", "voice_only"], ExitCode.OK),
        (["done", "waiting"], ExitCode.WAITING),
        (["waiting", "redo"], ExitCode.FAILED),
        (["waiting", "needs_answer"], ExitCode.FAILED),
        (["redo", "failed"], ExitCode.SERVICE),
        (["failed", "in_doubt", "redo"], ExitCode.IN_DOUBT),
        (["failed", "needs_decision", "redo"], ExitCode.IN_DOUBT),
    ],
)
def test_the_worst_person_decides(statuses: list[PersonStatus], code: ExitCode) -> None:
    assert Tally(map(result, statuses)).exit_code() is code


@pytest.mark.parametrize("status", ["waiting", "failed"])
def test_who_is_held_needs_a_decision_whatever_becomes_of_the_voice(status: PersonStatus) -> None:
    held = result(status).model_copy(update={"held": True})
    assert Tally([held, result("failed")]).exit_code() is ExitCode.IN_DOUBT
    assert "held" not in held.standing.to_json()


def test_a_dry_run_waits_for_nothing() -> None:
    assert Tally([result("waiting")]).exit_code(dry_run=True) is ExitCode.OK
    assert Tally([result("waiting"), result("redo")]).exit_code(dry_run=True) == 1
    cut_off = result("waiting").model_copy(update={"reasons": CUT_OFF.reasons})
    assert Tally([result("waiting"), cut_off]).exit_code(dry_run=True) is ExitCode.WAITING


def standing(status: PersonStatus, *, voice_status: str | None = None) -> PersonView:
    names = {"slug": "ada", "name": "Ada", "full_name": "Ada"}
    voice = creation("voice", voice_status) if voice_status else None
    return PersonView(**names, status=status, reasons=(), voice=voice)


def replica(what: str) -> PersonView:
    told = {
        "replica": creation("replica", "started"),
        "reasons": (f"The replica r1 is in training: {what}",),
    }
    return standing("waiting").model_copy(update=told)


def test_everybody_is_counted():
    people = [standing(each) for each in ("done", "redo", "done", "waiting")]
    assert Tally(people).summary() == "4 people: 2 done, 1 waiting, 1 redo"
    assert Tally(people[:1]).summary() == "1 person: 1 done"
    asked = [standing("needs_answer")]
    assert Tally(asked).summary() == "1 person: 1 needs an answer"
    assert Tally(2 * asked).summary() == "2 people: 2 need an answer"


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ([standing("done")], "open 'my out/report.html'"),
        ([standing("done"), standing("redo")], "`palprep ask 'my out' --into messages` writes"),
        ([standing("redo"), standing("needs_answer").model_copy(
            update={"asked": {Role.VOICE_AUDIO: ("a.mp3", "b.mp3")}})],
         "`palprep review 'my out'` asks"),
        # Nothing that the review page could ask.
        ([standing("done"), standing("needs_answer")], "Next: see to what the reasons name, and"),
        ([standing("redo"), standing("waiting", voice_status="started")],
         "`palprep watch 'my out'`"),
        ([standing("done"), replica("no callback has told its end yet; `palprep watch` waits")],
         "`palprep watch 'my out'`"),
        ([standing("done"), replica("the service will tell https://example.com/c")],
         "`palprep status 'my out'` says how to record the end of a training"),
        ([standing("in_doubt"), standing("failed")], "`palprep status 'my out'`"),
        ([standing("waiting")], "start `palprep run` again"),
        # Who only watches never gets the replica of somebody at whom the run was cut off.
        ([standing("waiting", voice_status="started").model_copy(
            update={"reasons": CUT_OFF.reasons})], "start `palprep run` again"),
    ],
)  # fmt: skip
def test_the_most_urgent_comes_next(people, said):
    assert said in Tally(people).next_step(Path("my out"))


def test_what_goes_on_with_the_run_is_named():
    said = Tally([standing("failed")]).next_step(Path("out"), again="run the same command again")
    assert "reasons name, and run the same command again." in said


def test_what_is_in_the_way_is_told_by_reason_with_the_command_that_lists_each(capsys):
    def blocked(status, *ids):
        return standing(status).model_copy(update={"blocked_by": ids})

    people = [
        *([blocked("needs_answer", "nothing_to_make", "image_resolution")] * 3),
        *([blocked("redo", "appears_under_18")] * 2),
        *(blocked("failed", "unexpected_reply"), standing("in_doubt")),
        *(blocked("done", "nothing_to_make"), standing("waiting")),
    ]
    with telling():
        Tally(people).tell_blockers(Path("my out"))
    listing = "(`palprep status 'my out' --because"
    assert capsys.readouterr().err.splitlines() == [
        f"3 people: no recording, and no stock_voice {listing} nothing_to_make`)",
        f"2 people: may be under 18 {listing} appears_under_18`)",
        f"1 person: unexpected reply {listing} unexpected_reply`)",
        f"1 person: a create may have happened {listing} in_doubt`)",
    ]


def test_with_no_one_to_work_on():
    assert Tally([]).summary() == "There was no one to work on"
    assert Tally([]).next_step(Path("out"), dry_run=True) == "Next: open out/report.html"
    assert Tally([]).next_step(Path("o #1"), dry_run=True) == "Next: open 'o #1/report.html'"


def test_after_a_dry_run():
    assert "without --dry-run" in Tally([standing("waiting")]).next_step(Path("out"), dry_run=True)
    assert Tally([standing("done")]).next_step(Path("out"), dry_run=True).endswith("report.html")


def test_an_interruption_before_the_work_promises_no_page(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with (
        telling(),
        pytest.raises(typer.Exit),
        people_at_work(Path("out"), "", wanted=False),
    ):
        raise Interrupted(signal.SIGINT)
    said = capsys.readouterr().err
    assert said.startswith("Interrupted: no work on people had begun. Go on with: ")

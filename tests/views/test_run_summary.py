"""The end of a run in words, and the command that comes next."""

from __future__ import annotations

from pathlib import Path

import pytest

from palprep.journal.run_view import PersonStanding
from palprep.views.run_summary import RUN, by_file, next_step, summary


def standing(status, *, voice_status=None):
    return PersonStanding(
        person="ada", status=status, voice_id=None, voice_status=voice_status,
        replica_id=None, replica_status=None, reasons=(),
    )  # fmt: skip


def test_everybody_is_counted():
    people = [standing(each) for each in ("done", "refused", "done", "waiting")]
    assert summary(people) == "4 people: 2 done, 1 waiting, 1 refused"
    assert summary(people[:1]) == "1 person: 1 done"


@pytest.mark.parametrize(
    ("people", "said"),
    [
        ([standing("done")], "open my out/report.html"),
        ([standing("done"), standing("refused")], "fix what the reasons name"),
        ([standing("refused"), standing("waiting", voice_status="started")],
         "`palprep watch 'my out'`"),
        ([standing("in_doubt"), standing("failed")], "`palprep status 'my out'`"),
        ([standing("waiting")], "run the same command again"),
    ],
)  # fmt: skip
def test_the_most_urgent_comes_next(people, said):
    assert said in next_step(people, Path("my out"))


def test_what_goes_on_with_the_run_is_named():
    assert "start `palprep run` again" in next_step([standing("failed")], Path("out"), again=RUN)


def test_with_no_one_to_work_on():
    assert summary([]) == "No one was to be worked on"
    assert next_step([], Path("out"), dry_run=True) == "Next: open out/report.html"


def test_after_a_dry_run():
    assert "without --dry-run" in next_step([standing("waiting")], Path("out"), dry_run=True)


def test_a_file_is_named_once_for_all_that_is_found_in_it() -> None:
    reasons = [
        "Only the voice is made. a.jpg (face-image): Two people.",
        "a.jpg (face-image): Far.",
    ]
    other = [
        "Left out: b.jpg (face-image): Dark.",
        "Left out: b.jpg (face-image): Small.",
        "And this.",
    ]
    assert by_file([*reasons, *other]) == [
        "Only the voice is made. a.jpg (face-image): Two people. Far.",
        "Left out: b.jpg (face-image): Dark. Small.",
        "And this.",
    ]

"""What a run shows of people: bars on a terminal, else a line for each who is through."""

from __future__ import annotations

import io
import logging

import pytest
from rich.console import Console

from palprep.batch.progress import Progress
from palprep.cli.run_progress import RunProgress
from palprep.views.run_bars import run_bars


def step(person: str, name: str) -> Progress:
    return Progress(person=person, step=name, people=3)


def end(person: str, status: str, *reasons: str) -> Progress:
    return Progress(person=person, step="end", status=status, reasons=reasons, people=3)  # type: ignore[arg-type]


def test_a_line_for_each_person_who_is_through(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "palprep.cli")
    progress = RunProgress()
    progress.tell(step("ada", "prepare face-image"))
    progress.tell(end("bob", "refused", "No face was found.", "And more."))
    progress.tell(end("ada", "in_doubt"))
    assert [(each.levelname, each.message) for each in caplog.records] == [
        ("DEBUG", "ada: prepare face-image"),
        ("INFO", "1 of 3: bob refused: No face was found."),
        ("INFO", "2 of 3: ada in doubt"),
    ]
    assert (progress.people, dict(progress.ended)) == (3, {"refused": 1, "in_doubt": 1})


def drawn(bars) -> list[str]:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(bars.get_renderable())
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return [line.strip("\N{BRAILLE PATTERN DOTS-124}\N{BRAILLE PATTERN DOTS-1} ") for line in lines]


def test_bars_count_people_and_name_who_is_at_work() -> None:
    bars = run_bars(Console(file=io.StringIO(), width=80, color_system=None))
    progress = RunProgress(bars)
    progress.tell(step("ada [b]", "prepare face-image, voice-audio"))
    progress.tell(step("bob", "compare faces"))
    progress.tell(step("cyd", "training"))
    whole, ada, bob = drawn(bars)
    assert "0 of 3 people, 1 in training" in whole
    assert "left" in whole
    assert "ada [b]  prepare face-image, voice-audio" in ada
    assert "left" not in ada
    assert "bob  compare faces" in bob
    for person in ("ada [b]", "bob", "cyd"):
        progress.tell(end(person, "done"))
    [whole] = drawn(bars)
    assert "3 of 3 people" in whole
    assert "training" not in whole


def test_a_long_step_leaves_the_times_whole() -> None:
    bars = run_bars(Console(file=io.StringIO(), width=80, color_system=None))
    progress = RunProgress(bars)
    progress.tell(step("ada", "prepare face-image, training-video, consent-video, " * 3))
    whole, ada = drawn(bars)
    assert whole.endswith("0:00:00 left -:--:--")
    assert ada.endswith("… 0:00:00")


def test_more_people_at_work_than_a_screen_holds() -> None:
    bars = run_bars(Console(file=io.StringIO(), width=80, color_system=None))
    progress = RunProgress(bars)
    for number in range(40):
        progress.tell(step(f"person-{number}", "validate face"))
    assert len(drawn(bars)) == 9

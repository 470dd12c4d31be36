"""Progress of files and of people: bars on a terminal, else a line for each who is through."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from rich.console import Console

from palprep.cli import progress
from palprep.cli.progress import Bars, run_progress
from palprep.views.terminal import Progress, RunProgress


@contextmanager
def showing_files(files: int) -> Iterator[progress.FilesProgress]:
    with progress.bars_on_terminal() as bars:
        yield progress.FilesProgress(bars, files)


@contextmanager
def showing_run(*, wanted: bool) -> Iterator[RunProgress]:
    with progress.bars_on_terminal(wanted=wanted) as bars:
        yield run_progress(bars)


def test_a_bar_tells_checking_from_fixing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    screened = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "SafeConsole", lambda **_: screened)
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    shown = []
    with (
        showing_files(1) as files,
        files.at("ada[1].mp4") as advance,
    ):
        for fraction in (None, 0.0, 0.5, 1.0):
            if fraction is not None:
                advance(fraction)
            shown.append(_live(screened, screen))
    assert "checking ada[1].mp4" in shown[0]
    assert "━" not in shown[0]
    assert "fixing ada[1].mp4" in shown[2]
    assert "━" in shown[2]
    assert "checking the result of ada[1].mp4" in shown[3]
    assert "━" not in shown[3]
    assert "files" not in "".join(shown)


def test_many_files_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    screened = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "SafeConsole", lambda **_: screened)
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    with showing_files(3) as files:
        with files.at("one.jpg"), files.at("two.jpg"):
            both = _live(screened, screen)
        with files.aside():
            assert screened._live_stack == []
        after = _live(screened, screen)
    assert "one.jpg" in both
    assert "two.jpg" in both
    assert "0 of 3 files" in both
    assert "one.jpg" not in after
    assert "2 of 3 files" in after


def test_bars_go_over_nothing_that_was_printed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    screened = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "SafeConsole", lambda **_: screened)
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    with showing_files(3) as files, files.at("one.jpg"):
        assert "1A" in _live(screened, screen)
        with files.aside():
            screened.print("what was found")
        _live(screened, screen)
        drawn = screen.getvalue()
    assert "files" in drawn
    assert "\x1b[1A" not in drawn.partition("files")[0]


def _live(terminal: Console, screen: io.StringIO) -> str:
    """What the screen shows after the next refresh."""
    screen.truncate(0)
    for live in terminal._live_stack:
        live.refresh()
    return screen.getvalue()


def test_nothing_is_drawn_where_there_is_no_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with showing_files(2) as files, files.at("ada.mp4") as advance:
        advance(0.5)
        with files.aside():
            pass
    for wanted in (True, False):
        with showing_run(wanted=wanted) as people:
            people(step("ada", "prepare face-image"))
    assert capfd.readouterr() == ("", "")


def step(person: str, name: str) -> Progress:
    return Progress(person=person, step=name, people=3)


def end(person: str, status: str, *reasons: str) -> Progress:
    return Progress(person=person, step="end", status=status, reasons=reasons, people=3)  # type: ignore[arg-type]


def test_a_line_for_each_person_who_is_through(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "palprep.cli")
    people = run_progress(Bars(Console(), disable=True))
    people(step("ada", "prepare face-image"))
    people(end("bob", "redo", "No face was found.", "And more."))
    people(end("ada", "in_doubt"))
    assert [(each.levelname, each.message) for each in caplog.records] == [
        ("DEBUG", "ada: prepare face-image"),
        ("INFO", "1 of 3: bob redo: No face was found."),
        ("INFO", "2 of 3: ada in doubt"),
    ]
    assert (people.people, dict(people.ended)) == (3, {"redo": 1, "in_doubt": 1})


def drawn(bars) -> list[str]:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(bars.get_renderable())
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    return [line.strip("\N{BRAILLE PATTERN DOTS-124}\N{BRAILLE PATTERN DOTS-1} ") for line in lines]


def test_bars_count_people_and_name_who_is_at_work() -> None:
    bars = Bars(Console(file=io.StringIO(), width=80, color_system=None))
    people = run_progress(bars)
    people(step("ada [b]", "prepare face-image, voice-audio"))
    people(step("bob", "compare faces"))
    people(step("cyd", "training"))
    whole, ada, bob = drawn(bars)
    assert "0 of 3 people, 1 in training" in whole
    assert "left" in whole
    assert "ada [b]  prepare face-image, voice-audio" in ada
    assert "left" not in ada
    assert "bob  compare faces" in bob
    for person in ("ada [b]", "bob", "cyd"):
        people(end(person, "done"))
    [whole] = drawn(bars)
    assert "3 of 3 people" in whole
    assert "training" not in whole


def test_a_long_step_leaves_the_times_whole() -> None:
    bars = Bars(Console(file=io.StringIO(), width=80, color_system=None))
    people = run_progress(bars)
    people(step("ada", "prepare face-image, training-video, consent-video, " * 3))
    whole, ada = drawn(bars)
    assert whole.endswith("0:00:00 left -:--:--")
    assert ada.endswith("… 0:00:00")


def test_more_people_at_work_than_a_screen_holds() -> None:
    bars = Bars(Console(file=io.StringIO(), width=80, color_system=None))
    people = run_progress(bars)
    for number in range(40):
        people(step(f"person-{number}", "validate face"))
    assert len(drawn(bars)) == 9


def test_the_time_left_is_told_by_those_who_were_worked_on() -> None:
    """Of those whose end is known at once, hundreds end in the first second."""
    now = [0.0]
    console = Console(file=io.StringIO(), width=80, color_system=None, get_time=lambda: now[0])
    bars = Bars(console)
    people = run_progress(bars)

    def at(second: float, told: Progress) -> str:
        now[0] = second
        people(told.model_copy(update={"people": 100}))
        return drawn(bars)[0]

    at(0, step("ada", "prepare voice-audio"))
    for number in range(60):
        known = at(1, end(f"nobody-{number}", "needs_answer"))
    assert known.endswith("left -:--:--")
    assert at(10, end("ada", "done")).endswith("left 0:06:30")
    at(10, step("bob", "prepare voice-audio"))
    assert at(20, step("bob", "training")).endswith("left 0:06:20")


def test_without_a_terminal_the_pace_is_told_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="palprep.cli")
    now = 0.0
    with Bars(Console(file=io.StringIO()), disable=True) as bars:
        shown = run_progress(bars, clock=lambda: now)
        for number in range(9):
            shown(Progress(person=str(number), step="prepare", people=100))
            now += 20.0
            shown(Progress(person=str(number), step="", people=100, status="done"))
    told = [each for each in caplog.messages if "a minute" in each]
    assert told == [
        "3.0 people a minute, 97 to go: about 32 min 20 s left",
        "3.0 people a minute, 94 to go: about 31 min 20 s left",
        "3.0 people a minute, 91 to go: about 30 min 20 s left",
    ]


@pytest.mark.parametrize("kind", ["dumb", "unknown"])
def test_nothing_is_drawn_on_a_terminal_that_goes_back_over_no_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    monkeypatch.setenv("TERM", kind)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with showing_files(1) as shown, shown.at("ada.mp4"), shown.aside():
        pass
    assert capsys.readouterr().err == ""


def test_nothing_is_drawn_into_a_log_that_may_have_colours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with showing_run(wanted=True) as shown:
        shown(Progress(person="ada", step="prepare", people=2))
    with showing_files(1) as files, files.at("ada.mp4"):
        pass
    assert capsys.readouterr().err == ""

"""Progress of files on a terminal, and none elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from palprep.cli import files_progress as progress


def test_a_bar_tells_checking_from_fixing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "progress_console", lambda: terminal)
    shown = []
    with (
        progress.files_progress(1, wanted=True) as files,
        files.at("ada[1].mp4") as advance,
    ):
        for fraction in (None, 0.0, 0.5, 1.0):
            if fraction is not None:
                advance(fraction)
            shown.append(_live(terminal, screen))
    assert "checking ada[1].mp4" in shown[0]
    assert "━" not in shown[0]
    assert "fixing ada[1].mp4" in shown[2]
    assert "━" in shown[2]
    assert "checking the result of ada[1].mp4" in shown[3]
    assert "━" not in shown[3]
    assert "files" not in "".join(shown)


def test_many_files_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "progress_console", lambda: terminal)
    with progress.files_progress(3, wanted=True) as files:
        with files.at("one.jpg"), files.at("two.jpg"):
            both = _live(terminal, screen)
        with files.aside():
            assert terminal._live_stack == []
        after = _live(terminal, screen)
    assert "one.jpg" in both
    assert "two.jpg" in both
    assert "0 of 3 files" in both
    assert "one.jpg" not in after
    assert "2 of 3 files" in after


def test_bars_go_over_nothing_that_was_printed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(progress, "progress_console", lambda: terminal)
    with progress.files_progress(3, wanted=True) as files, files.at("one.jpg"):
        assert "1A" in _live(terminal, screen)
        with files.aside():
            terminal.print("what was found")
        _live(terminal, screen)
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
    for wanted in (True, False):
        with progress.files_progress(2, wanted=wanted) as files, files.at("ada.mp4") as advance:
            advance(0.5)
            with files.aside():
                pass
    assert capfd.readouterr() == ("", "")

"""Progress on a terminal, and none elsewhere."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from palprep.cli import printing


def test_a_bar_tells_checking_from_fixing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(printing, "progress_console", lambda: terminal)
    shown = []
    with printing.progress_bar("ada[1].mp4") as advance:
        assert advance is not None
        for fraction in (None, 0.0, 0.5, 1.0):
            if fraction is not None:
                advance(fraction)
            shown.append(_live(terminal, screen))
    assert "ada[1].mp4: checking" in shown[0]
    assert "fixing" in shown[2]
    assert "50%" in shown[2]
    assert "checking the result" in shown[3]
    assert "%" not in shown[3]


def _live(terminal: Console, screen: io.StringIO) -> str:
    """What the screen shows after the next refresh."""
    screen.truncate(0)
    for live in terminal._live_stack:
        live.refresh()
    return screen.getvalue()


def test_nothing_is_drawn_where_there_is_no_terminal() -> None:
    with printing.progress_bar("ada.mp4") as advance:
        assert advance is None
    with printing.progress_bar("ada.mp4", wanted=False) as advance:
        assert advance is None

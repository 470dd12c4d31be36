"""The timeline on a terminal: cells in order, as wide as there is room, and in plain ASCII."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from palprep.facts import FacingLimits, Timeline
from palprep.facts.facts import Second
from palprep.values import Span
from palprep.views.terminal.reports import TerminalTimeline


def drawn(line: Timeline, width: int = 80, encoding: str = "utf-8") -> dict[str, str]:
    """The rows by their labels."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=file, width=width, highlight=False)
    console.print(TerminalTimeline(line, FacingLimits(head_deg=20.0)))
    file.flush()
    lines = file.buffer.getvalue().decode(encoding).splitlines()
    assert all(len(each) <= width for each in lines)
    return {each[:9].strip(): each[9:].rstrip() for each in lines}


def half_and_half(seconds: int, **more) -> Timeline:
    watched = tuple(
        Second(
            at_s=at, speaking=at < seconds // 2, mouth_moves=at < seconds // 2, seen=True,
            head_off_deg=40.0 if at == 3 else 0.0,
        )
        for at in range(seconds)
    )  # fmt: skip
    return Timeline(duration_s=float(seconds), seconds=watched, **more)


def test_a_cell_is_a_second_while_there_is_room() -> None:
    rows = drawn(half_and_half(40))
    assert rows["Speech"] == "█" * 20
    assert rows["Still"] == " " * 20 + "█" * 20
    assert rows["At lens"] == "███ " + "█" * 36
    assert rows[""].split() == ["╵0:00", "╵0:10", "╵0:20", "╵0:30"]
    assert rows[""].index("╵0:20") == 20
    assert "Consent" not in rows


@pytest.mark.parametrize("width", [30, 60, 100])
def test_a_long_video_gets_several_seconds_to_a_cell(width: int) -> None:
    rows = drawn(half_and_half(600), width)
    cells = len(rows["Face"])
    assert cells <= width - 10
    assert abs(len(rows["Speech"]) - cells / 2) <= 1


def test_the_statement_has_a_row_where_it_was_heard() -> None:
    rows = drawn(half_and_half(40, consent=Span(start_s=1.2, end_s=6.0)))
    assert rows["Consent"] == " █████"


def test_a_short_clip_has_a_scale_too() -> None:
    assert drawn(half_and_half(3))[""] == "╵0:00"


def test_a_terminal_without_unicode_gets_ascii() -> None:
    rows = drawn(half_and_half(40), encoding="ascii")
    assert rows["Speech"] == "#" * 20
    assert rows[""].startswith("+0:00")


def test_a_few_key_frames_are_no_timeline() -> None:
    sparse = tuple(Second(at_s=at, seen=True if at % 10 == 0 else None) for at in range(60))
    assert drawn(Timeline(duration_s=60.0, seconds=sparse)) == {}

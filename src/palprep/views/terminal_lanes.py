"""A video's time line on a terminal: one row of cells for each thing that was watched."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from palprep.facts.timeline import Second, Timeline

_LABEL = 9
_WIDEST = 120
"""Cells; wider rows are harder to follow, not easier."""

_BARS, _ASCII_BARS = " ▁▂▃▄▅▆▇█", " .:-=+*##"
_UNKNOWN, _ASCII_UNKNOWN = "·", "?"
_SIGNS = (("|", "cut"), ("=", "frozen"), ("#", "black"), ("^", "light steps"))
_TICKS_S = (5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
_TICK_CELLS = 10


@dataclass(frozen=True)
class Lanes:
    """Rows of speech, mouth, face, gaze and stillness, as wide as the console allows.

    A cell stands for one second or more; its bar tells in how many of them it holds.
    """

    line: Timeline

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The rows, then what interrupts the take, then a scale."""
        cells = max(1, min(options.max_width - _LABEL - 1, _WIDEST))
        step = max(1, math.ceil(len(self.line.seconds) / cells))
        groups = [
            self.line.seconds[start : start + step]
            for start in range(0, len(self.line.seconds), step)
        ]
        drawn = False
        for label, style, holds in _rows(self.line):
            values = [_share(group, holds) for group in groups]
            # A few key frames are no time line.
            if sum(value is not None for value in values) * 2 > len(values):
                bars = "".join(_bar(value, ascii_only=options.ascii_only) for value in values)
                yield Text.assemble(f"{label:<{_LABEL}}", (bars, style))
                drawn = True
        if not drawn:
            return
        breaks = self._breaks(len(groups), step)
        if breaks:
            yield Text.assemble(f"{'Breaks':<{_LABEL}}", (breaks, "red"))
        scale = _scale(len(groups), step, tick="+" if options.ascii_only else "╵")
        yield Text(" " * _LABEL + scale, "dim")
        if breaks:
            said = ", ".join(f"{sign} {word}" for sign, word in _SIGNS if sign in breaks)
            yield Text(f"{'':<{_LABEL}}{said}", "dim")

    def _breaks(self, count: int, step: int) -> str:
        stretches = (
            [(moment, moment) for moment in self.line.cuts],
            [(span.start_s, span.end_s) for span in self.line.freezes],
            [(span.start_s, span.end_s) for span in self.line.black],
            [(moment, moment) for moment in self.line.exposure_steps],
        )
        cells = [" "] * count
        for (sign, _), spans in reversed(list(zip(_SIGNS, stretches, strict=True))):
            for start, end in spans:
                first, last = (min(count - 1, int(each / step)) for each in (start, end))
                cells[first : last + 1] = sign * (last + 1 - first)
        return "".join(cells).rstrip()


_Row = tuple[str, str, Callable[[Second], bool | None]]
_ROWS: Sequence[_Row] = (
    ("Speech", "blue", lambda second: second.speaking),
    ("Mouth", "blue", lambda second: second.mouth_moves),
    ("Face", "green", lambda second: second.seen),
    ("At lens", "green", lambda second: second.facing),
    ("Still", "cyan", lambda second: second.still),
)


def _rows(line: Timeline) -> Sequence[_Row]:
    span = line.consent
    if span is None:
        return _ROWS
    start, end = span.start_s, span.end_s
    stated: _Row = (
        *("Consent", "magenta"),
        lambda second: second.at_s < end and second.at_s + 1 > start,
    )
    return (stated, *_ROWS)


def _share(group: Sequence[Second], holds: Callable[[Second], bool | None]) -> float | None:
    known = [value for second in group if (value := holds(second)) is not None]
    return sum(known) / len(known) if known else None


def _bar(share: float | None, *, ascii_only: bool) -> str:
    if share is None:
        return _ASCII_UNKNOWN if ascii_only else _UNKNOWN
    bars = _ASCII_BARS if ascii_only else _BARS
    return bars[math.ceil(share * (len(bars) - 1))]


def _scale(count: int, step: int, *, tick: str) -> str:
    every = next((each for each in _TICKS_S if each >= _TICK_CELLS * step), _TICKS_S[-1])
    seconds = range(0, count * step, every)
    row = ""
    for second, end in pairwise([*seconds, count * step]):
        mark = f"{tick}{second // 60}:{second % 60:02d}"
        room = -(-end // step) - len(row)
        row += f"{mark if room > len(mark) or not second else '':<{room}}"
    return row.rstrip()

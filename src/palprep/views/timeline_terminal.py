"""A video's timeline on a terminal: one line of cells for each thing that was watched."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from palprep.facts.timeline import FacingLimits, Timeline
from palprep.views.format import position
from palprep.views.timeline_rows import breaks, rows, share_held, tick_every

_LABEL = 9
_WIDEST = 120
"""Cells; wider rows are harder to follow, not easier."""

_BARS, _ASCII_BARS = " ▁▂▃▄▅▆▇█", " .:-=+*##"
_UNKNOWN, _ASCII_UNKNOWN = "·", "?"
_TICK_CELLS = 10


@dataclass(frozen=True)
class TerminalTimeline:
    """Rows of speech, mouth, face, gaze and stillness, as wide as the console allows.

    A cell stands for one second or more. The height of its bar tells in how many of them the
    row's label holds.
    """

    line: Timeline
    facing: FacingLimits

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The rows, then what interrupts the take, then a scale."""
        cells = max(1, min(options.max_width - _LABEL - 1, _WIDEST))
        step = max(1, math.ceil(len(self.line.seconds) / cells))
        count = math.ceil(len(self.line.seconds) / step)
        drawn = False
        for row in rows(self.line, self.facing):
            starts = range(0, len(row.values), step)
            shares = [share_held(row.values[start : start + step]) for start in starts]
            # A few key frames are no timeline.
            if sum(share is not None for share in shares) * 2 > len(shares):
                bars = "".join(_bar(share, ascii_only=options.ascii_only) for share in shares)
                yield Text.assemble(f"{row.short:<{_LABEL}}", (bars, row.style))
                drawn = True
        if not drawn:
            return
        signs = self._breaks(count, step)
        if signs:
            yield Text.assemble(f"{'Breaks':<{_LABEL}}", (signs, "red"))
        scale = _scale(count, step, tick="+" if options.ascii_only else "╵")
        yield Text(" " * _LABEL + scale, "dim")
        if signs:
            found = [each for each in breaks(self.line) if each.sign in signs]
            legend = ", ".join(f"{each.sign} {each.legend}" for each in found)
            yield Text(f"{'':<{_LABEL}}{legend}", "dim")

    def _breaks(self, count: int, step: int) -> str:
        """A sign in every cell that is interrupted; where several are, the first one's."""
        cells = [" "] * count
        for each in reversed(breaks(self.line)):
            moments = [(moment_s, moment_s) for moment_s in each.moments]
            for start_s, end_s in (*moments, *((span.start_s, span.end_s) for span in each.spans)):
                first, last = (min(count - 1, int(at_s / step)) for at_s in (start_s, end_s))
                cells[first : last + 1] = each.sign * (last + 1 - first)
        return "".join(cells).rstrip()


def _bar(share: float | None, *, ascii_only: bool) -> str:
    if share is None:
        return _ASCII_UNKNOWN if ascii_only else _UNKNOWN
    bars = _ASCII_BARS if ascii_only else _BARS
    return bars[math.ceil(share * (len(bars) - 1))]


def _scale(count: int, step: int, *, tick: str) -> str:
    seconds = range(0, count * step, tick_every(_TICK_CELLS * step))
    row = ""
    for second, end in pairwise([*seconds, count * step]):
        mark = f"{tick}{position(second, digits=0)}"
        room = -(-end // step) - len(row)
        row += f"{mark if room > len(mark) or not second else '':<{room}}"
    return row.rstrip()

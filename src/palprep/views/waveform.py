"""A recording as a waveform in SVG: what was chosen of it, and how loud it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from palprep.media import Source
from palprep.speech import Levels, measure_levels
from palprep.values import Span
from palprep.views.asset_pictures import Embedded
from palprep.views.format import position
from palprep.views.outcomes import BLUE, GREY, ORANGE
from palprep.views.timeline_rows import tick_every

WIDTH, HEIGHT = 1000, 190
"""Of the drawing, in its own units."""

PARTS = 500
"""Bars of the waveform."""

LOUDEST_LUFS, QUIETEST_LUFS = 0.0, -60.0
"""The scale of the loudness, from top to bottom."""

_TOP, _BOTTOM = 6, 158
_RIGHT = 915
"""Where the recording ends; beyond it stand the numbers."""
_MIDDLE, _HALF = (_TOP + _BOTTOM) / 2, (_BOTTOM - _TOP) / 2
_MOST_TICKS, _MOST_POINTS = 10, 250
_LEAST_BAR = 0.6


def waveform(path: str | Path, kept: Sequence[Span] = ()) -> Embedded:
    """The waveform of a recording, or of a video's sound, as SVG without scripts.

    Blue is what was ``kept``, everything where nothing was chosen; grey is what was left out.
    The orange line is the loudness of 3 s each, the dashed line that of the whole. Raises
    MediaError when the file cannot be read.
    """
    drawn = draw_waveform(measure_levels(Source.of(path), parts=PARTS), kept=kept)
    return Embedded(drawn.encode(), "image/svg+xml")


def draw_waveform(levels: Levels, *, kept: Sequence[Span] = ()) -> str:
    """The same of levels that were measured before."""
    sheet = _Sheet(levels)
    return "".join(
        (
            '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="15" ',
            f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
            "<style>path{fill:none;stroke-width:1.5}</style>",
            *sheet.grid(),
            *sheet.bars(kept),
            *sheet.loudness(),
            *sheet.ticks(),
            "</svg>",
        )
    )


class _Sheet:
    """Places moments and levels on the drawing."""

    def __init__(self, levels: Levels) -> None:
        self._levels = levels
        self._duration_s = max(levels.duration_s, 1e-3)

    def grid(self) -> Iterator[str]:
        """Faint lines at levels of loudness, with their numbers."""
        for level in (-20, -40):
            y = self._height(level)
            yield f'<path d="M0 {y:.1f}H{_RIGHT}" stroke="{_css(GREY)}" stroke-opacity=".25"/>'
            yield _text(WIDTH, y + 5, f"{level} LUFS".replace("-", "\N{MINUS SIGN}"), "end")

    def bars(self, kept: Sequence[Span]) -> Iterator[str]:
        """The waveform itself, in one path for each colour."""
        peaks = self._levels.peaks
        chosen: list[str] = []
        left_out: list[str] = []
        for index, peak in enumerate(peaks):
            share = (index + 0.5) / len(peaks)
            at_s = share * self._duration_s
            held = not kept or any(span.start_s <= at_s < span.end_s for span in kept)
            reach = max(min(float(peak), 1.0) * _HALF, _LEAST_BAR)
            bar = f"M{share * _RIGHT:.1f} {_MIDDLE - reach:.1f}V{_MIDDLE + reach:.1f}"
            (chosen if held else left_out).append(bar)
        for bars, colour in ((left_out, GREY), (chosen, BLUE)):
            if bars:
                opacity = "" if colour is BLUE else ' stroke-opacity=".55"'
                yield f'<path d="{"".join(bars)}" stroke="{_css(colour)}"{opacity}/>'

    def loudness(self) -> Iterator[str]:
        """The curve of the short-term loudness, and a line for all of it."""
        points = self._levels.short_term
        points = points[:: max(1, len(points) // _MOST_POINTS)]
        if len(points) > 1:
            line = "L".join(f"{self._at(at):.1f} {self._height(level):.1f}" for at, level in points)
            yield f'<path d="M{line}" stroke="{_css(ORANGE)}" style="stroke-width:3"/>'
        if self._levels.integrated_lufs is not None:
            y = self._height(self._levels.integrated_lufs)
            yield (
                f'<path d="M0 {y:.1f}H{_RIGHT}" stroke="{_css(ORANGE)}" stroke-dasharray="7 6"/>'
            )

    def ticks(self) -> Iterator[str]:
        """The scale of time below."""
        for second in range(
            0, int(self._duration_s) + 1, tick_every(self._duration_s / _MOST_TICKS)
        ):
            x = self._at(second)
            anchor = "start" if second == 0 else "middle"
            yield _text(x, HEIGHT - 8, position(second, digits=0), anchor)

    def _at(self, moment_s: float) -> float:
        return _RIGHT * min(moment_s / self._duration_s, 1.0)

    def _height(self, lufs: float) -> float:
        share = (LOUDEST_LUFS - lufs) / (LOUDEST_LUFS - QUIETEST_LUFS)
        return _TOP + min(max(share, 0.0), 1.0) * (_BOTTOM - _TOP)


def _text(x: float, y: float, words: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{_css(GREY)}">{words}</text>'


def _css(colour: Iterable[int]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)

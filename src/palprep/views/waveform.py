"""A recording as a waveform in SVG: what was chosen of it, and how loud it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from palprep import speech
from palprep.values import Span
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


def draw_waveform(levels: speech.Levels, *, kept: Sequence[Span] = ()) -> str:
    """SVG without scripts: the waveform, its loudness and a scale of time.

    Blue is what was ``kept``, everything where nothing was chosen; grey is what was left out. The
    orange line is the loudness of 3 s each, the dashed line that of the whole.
    """
    parts = (*_grid(), *_bars(levels, kept), *_loudness(levels), *_ticks(levels))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="15" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">'
        f"<style>path{{fill:none;stroke-width:1.5}}</style>{''.join(parts)}</svg>"
    )


def _grid() -> Iterator[str]:
    for level in (-20, -40):
        y = _y(level)
        yield _path(f"M0 {y:.1f}H{_RIGHT}", GREY, 'stroke-opacity=".25"')
        yield _text(WIDTH, y + 5, f"{level} LUFS".replace("-", "\N{MINUS SIGN}"), "end")


def _bars(levels: speech.Levels, kept: Sequence[Span]) -> Iterator[str]:
    chosen, left_out = "", ""
    for index, peak in enumerate(levels.peaks):
        share = (index + 0.5) / len(levels.peaks)
        at_s = share * levels.duration_s
        reach = max(min(float(peak), 1.0) * _HALF, _LEAST_BAR)
        bar = f"M{share * _RIGHT:.1f} {_MIDDLE - reach:.1f}V{_MIDDLE + reach:.1f}"
        if not kept or any(span.start_s <= at_s < span.end_s for span in kept):
            chosen += bar
        else:
            left_out += bar
    if left_out:
        yield _path(left_out, GREY, 'stroke-opacity=".55"')
    if chosen:
        yield _path(chosen, BLUE)


def _loudness(levels: speech.Levels) -> Iterator[str]:
    """The curve of the short-term loudness, and a line for all of it."""
    points = levels.short_term[:: max(1, len(levels.short_term) // _MOST_POINTS)]
    if len(points) > 1:
        line = "L".join(f"{_x(at_s, levels):.1f} {_y(lufs):.1f}" for at_s, lufs in points)
        yield _path(f"M{line}", ORANGE, 'style="stroke-width:3"')
    if levels.integrated_lufs is not None:
        y = _y(levels.integrated_lufs)
        yield _path(f"M0 {y:.1f}H{_RIGHT}", ORANGE, 'stroke-dasharray="7 6"')


def _ticks(levels: speech.Levels) -> Iterator[str]:
    for second in range(0, int(levels.duration_s) + 1, tick_every(levels.duration_s / _MOST_TICKS)):
        anchor = "middle" if second else "start"
        yield _text(_x(second, levels), HEIGHT - 8, position(second, digits=0), anchor)


def _x(moment_s: float, levels: speech.Levels) -> float:
    return _RIGHT * min(moment_s / max(levels.duration_s, 1e-3), 1.0)


def _y(lufs: float) -> float:
    share = (LOUDEST_LUFS - lufs) / (LOUDEST_LUFS - QUIETEST_LUFS)
    return _TOP + min(max(share, 0.0), 1.0) * (_BOTTOM - _TOP)


def _path(drawn: str, colour: Iterable[int], look: str = "") -> str:
    return f'<path d="{drawn}" stroke="{_css(colour)}" {look}/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="{_css(GREY)}">{words}</text>'


def _css(colour: Iterable[int]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)

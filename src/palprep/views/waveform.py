"""A recording as a waveform: what was chosen of it, and how loud it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from palprep import speech
from palprep.values import Span
from palprep.views.outcomes import BLUE, GREY, ORANGE
from palprep.views.svg import TimeScale, drawing, line, text

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
_FONT = 15


def draw_waveform(levels: speech.Levels, *, kept: Sequence[Span] = ()) -> str:
    """SVG: the waveform, its loudness and a scale of time.

    Blue is what was ``kept``, everything where nothing was chosen; grey is what was left out. The
    orange line is the loudness of 3 s each, the dashed line that of the whole.
    """
    scale = TimeScale(0, _RIGHT, levels.duration_s)
    ticks = scale.ticks(HEIGHT - 8, _FONT, _MOST_TICKS)
    return drawing(
        WIDTH, HEIGHT, (*_grid(), *_bars(levels, kept), *_loudness(levels, scale), *ticks)
    )


def _grid() -> Iterator[str]:
    for level in (-20, -40):
        y = _y(level)
        yield line(f"M0 {y:.1f}H{_RIGHT}", GREY, look='stroke-opacity=".25"')
        words = f"{level} LUFS".replace("-", "\N{MINUS SIGN}")
        yield text((WIDTH, y + 5), words, _FONT, anchor="end")


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
        yield line(left_out, GREY, look='stroke-opacity=".55"')
    if chosen:
        yield line(chosen, BLUE)


def _loudness(levels: speech.Levels, scale: TimeScale) -> Iterator[str]:
    """The curve of the short-term loudness, and a line for all of it."""
    points = levels.short_term[:: max(1, len(levels.short_term) // _MOST_POINTS)]
    if len(points) > 1:
        curve = "L".join(f"{scale.at(at_s):.1f} {_y(lufs):.1f}" for at_s, lufs in points)
        yield line(f"M{curve}", ORANGE, 3)
    if levels.integrated_lufs is not None:
        y = _y(levels.integrated_lufs)
        yield line(f"M0 {y:.1f}H{_RIGHT}", ORANGE, look='stroke-dasharray="7 6"')


def _y(lufs: float) -> float:
    share = (LOUDEST_LUFS - lufs) / (LOUDEST_LUFS - QUIETEST_LUFS)
    return _TOP + min(max(share, 0.0), 1.0) * (_BOTTOM - _TOP)

"""Drawings over time: the timeline of a video, as a strip of frames above rows; and the waveform of
a recording, with its loudness and the parts that were kept of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from palprep import speech, vision
from palprep.facts import Timeline
from palprep.media import images, sources
from palprep.rules import Report, facing_limits
from palprep.values import Span
from palprep.views.drawings.svg import INK, PAPER, area, box, drawing, line, picture, text
from palprep.views.drawings.timeline_rows import Row, rows, tick_every
from palprep.views.format import position
from palprep.views.outcomes import BLUE, GREY, ORANGE, VERMILION

FRAMES = 12
FRAME_SIDE = 240

SPARSE_S = 30.0
"""Seconds. In longer videos key frames are frequent enough for the strip."""

WIDTH = 1400
LABEL_WIDTH, SUMMARY_WIDTH = 150, 190
ROW_HEIGHT, GAP = 28, 12
STRIP_HEIGHT = 120
FONT_SIZE, SMALL_SIZE = 22, 20
ROUND = 5

FAINT = (233, 234, 238)
_RIGHT = WIDTH - SUMMARY_WIDTH
_MOST_TICKS = 10
_LEAST_PART = 16
"""A narrower part of a frame is not drawn: nothing can be seen in it."""

WAVE_WIDTH, WAVE_HEIGHT = 1000, 190
"""The size of a waveform, in the units of its SVG."""

LOUDEST_LUFS, QUIETEST_LUFS = 0.0, -60.0
"""The loudness at the top and at the bottom of the scale."""

_TOP, _BOTTOM = 6, 158
_END = 915
"""The end of the recording; beyond it are the numbers."""
_MIDDLE, _HALF = (_TOP + _BOTTOM) / 2, (_BOTTOM - _TOP) / 2
_LEAST_BAR = 0.6
_WAVE_FONT = 15


class TimeScale(NamedTuple):
    """Maps the moments of a recording to places between ``left`` and ``right``."""

    left: float
    right: float
    duration_s: float

    def at(self, moment_s: float) -> float:
        """The place of a moment. One outside the recording is moved to its end."""
        share = min(max(moment_s / max(self.duration_s, 1e-3), 0.0), 1.0)
        return self.left + share * (self.right - self.left)

    def ticks(self, y: float, size: float) -> Iterator[str]:
        for second in range(0, int(self.duration_s) + 1, tick_every(self.duration_s / _MOST_TICKS)):
            anchor = "middle" if second else "start"
            yield text((self.at(second), y), position(second, digits=0), size, GREY, anchor)


def timeline_image(report: Report) -> str | None:
    """The timeline of a report's video as SVG; None without a video. Raises MediaError when the
    file can no longer be read."""
    line = report.facts.timeline if report.facts else None
    if line is None:
        return None
    drawn = rows(line, facing_limits(report))
    return draw_rows(_frames(report.path, line), drawn, line.duration_s)


def draw_rows(
    frames: Sequence[tuple[float, vision.Pixels]], drawn: Sequence[Row], duration_s: float
) -> str:
    """An SVG of the width :data:`WIDTH`: a strip of frames (times in seconds, and pixels), the rows
    below it, and a scale of time."""
    scale, first = TimeScale(LABEL_WIDTH, _RIGHT, duration_s), STRIP_HEIGHT + GAP if frames else 0
    tops = [first + index * (ROW_HEIGHT + GAP) for index in range(len(drawn) + 1)]
    height = tops[-1] + ROW_HEIGHT
    parts = [box((0, WIDTH), (0, height), PAPER), *_strip(frames, scale)]
    for row, top in zip(drawn, tops, strict=False):
        parts += _row(row, top, scale)
    parts += scale.ticks(tops[-1] + SMALL_SIZE, SMALL_SIZE)
    return drawing(WIDTH, height, parts)


def _frames(path: str, line: Timeline) -> list[tuple[float, vision.Pixels]]:
    rate = FRAMES / max(line.duration_s, 1.0)
    frames = images.sample_frames(
        sources.Source.of(path),
        per_second=rate,
        max_side=FRAME_SIDE,
        key_frames_only=line.duration_s > SPARSE_S,
    )
    return [(frame.at_s - line.starts_s, frame.rgb) for frame in islice(frames, FRAMES)]


def _strip(frames: Sequence[tuple[float, vision.Pixels]], scale: TimeScale) -> Iterator[str]:
    """Each frame from its time to the next one's: cut around its middle, and never enlarged."""
    edges = [*(scale.at(at_s) for at_s, _ in frames), float(_RIGHT)]
    for (_, pixels), (left, right) in zip(frames, pairwise(edges), strict=True):
        height, whole, _ = pixels.shape
        width = min(right - left - 2, STRIP_HEIGHT * whole / height)
        if width >= _LEAST_PART:
            aside = round((whole - width * height / STRIP_HEIGHT) / 2)
            yield picture(pixels[:, aside : whole - aside], left, width, STRIP_HEIGHT)


def _row(row: Row, top: float, scale: TimeScale) -> Iterator[str]:
    bottom, base = top + ROW_HEIGHT, top + ROW_HEIGHT / 2 + FONT_SIZE / 3
    yield text((0, base), row.label, FONT_SIZE, INK)
    yield text((_RIGHT + 14, base), row.summary, SMALL_SIZE)
    yield box((LABEL_WIDTH, _RIGHT), (top, bottom), FAINT, ROUND)
    for span in row.unknown:
        across = scale.at(span.start_s), scale.at(span.end_s)
        yield box(across, (top + 2, bottom - 2), PAPER, ROUND)
    for span in row.spans:
        left = scale.at(span.start_s)
        yield box((left, max(scale.at(span.end_s), left + 2)), (top, bottom), row.colour, ROUND)
    if len(row.levels) > 1:
        points = [(scale.at(at_s), bottom - level * ROW_HEIGHT) for at_s, level in row.levels]
        curve = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        yield area(f"{curve}V{bottom}H{points[0][0]:.1f}Z", row.colour, 0.35)
        yield line(curve, row.colour, 2)
    for moment in row.marks:
        at = scale.at(moment)
        yield box((at - 2, at + 2), (top - 4, bottom + 4), VERMILION, 2)


def draw_waveform(voice: speech.VoiceFacts, *, kept: Sequence[Span] = ()) -> str:
    """An SVG of the waveform, its loudness and a scale of time. Parts that were ``kept`` are blue,
    others grey; with none ``kept`` all is blue. The orange curve is the loudness of 3 s each, the
    dashed line that of the whole."""
    scale = TimeScale(0, _END, voice.duration_s)
    ticks = scale.ticks(WAVE_HEIGHT - 8, _WAVE_FONT)
    return drawing(
        WAVE_WIDTH, WAVE_HEIGHT, (*_grid(), *_bars(voice, kept), *_loudness(voice, scale), *ticks)
    )


def _grid() -> Iterator[str]:
    for level in (-20, -40):
        y = _y(level)
        yield line(f"M0 {y:.1f}H{_END}", GREY, look='stroke-opacity=".25"')
        words = f"{level} LUFS".replace("-", "\N{MINUS SIGN}")
        yield text((WAVE_WIDTH, y + 5), words, _WAVE_FONT, anchor="end")


def _bars(voice: speech.VoiceFacts, kept: Sequence[Span]) -> Iterator[str]:
    chosen, left_out = "", ""
    peaks = voice.waveform.peaks
    for index, peak in enumerate(peaks):
        share = (index + 0.5) / len(peaks)
        at_s = share * voice.duration_s
        reach = max(peak * _HALF, _LEAST_BAR)
        bar = f"M{share * _END:.1f} {_MIDDLE - reach:.1f}V{_MIDDLE + reach:.1f}"
        if not kept or any(span.start_s <= at_s < span.end_s for span in kept):
            chosen += bar
        else:
            left_out += bar
    if left_out:
        yield line(left_out, GREY, look='stroke-opacity=".55"')
    if chosen:
        yield line(chosen, BLUE)


def _loudness(voice: speech.VoiceFacts, scale: TimeScale) -> Iterator[str]:
    levels, step_s = voice.waveform.short_term_lufs, voice.waveform.step_s
    if len(levels) > 1:
        points = ((1.5 + at * step_s, lufs) for at, lufs in enumerate(levels))
        curve = "L".join(f"{scale.at(at_s):.1f} {_y(lufs):.1f}" for at_s, lufs in points)
        yield line(f"M{curve}", ORANGE, 3)
    if voice.integrated_lufs is not None:
        y = _y(voice.integrated_lufs)
        yield line(f"M0 {y:.1f}H{_END}", ORANGE, look='stroke-dasharray="7 6"')


def _y(lufs: float) -> float:
    share = (LOUDEST_LUFS - lufs) / (LOUDEST_LUFS - QUIETEST_LUFS)
    return _TOP + min(max(share, 0.0), 1.0) * (_BOTTOM - _TOP)

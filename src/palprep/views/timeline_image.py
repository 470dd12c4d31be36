"""A checked video's timeline as a picture: a strip of frames above rows of what happens when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from palprep import media
from palprep.facts import Timeline
from palprep.rules import Report, facing_limits
from palprep.views.outcomes import VERMILION
from palprep.views.svg import INK, PAPER, TimeScale, area, box, drawing, line, picture, text
from palprep.views.timeline_rows import Row, rows

if TYPE_CHECKING:
    from palprep.vision import Pixels

FRAMES = 12
FRAME_SIDE = 240

SPARSE_S = 30.0
"""From this length on key frames are frequent enough for the strip."""

WIDTH = 1400
LABEL_WIDTH, SUMMARY_WIDTH = 150, 190
ROW_HEIGHT, GAP = 28, 12
STRIP_HEIGHT = 120
FONT_SIZE, SMALL_SIZE = 22, 20
ROUND = 5

FAINT = (233, 234, 238)
_RIGHT = WIDTH - SUMMARY_WIDTH
_MOST_TICKS = 12
_LEAST_PART = 16
"""Narrower parts of a frame show nothing."""


def timeline_image(report: Report) -> str | None:
    """The timeline of a report's video as SVG: frames, speech, mouth, gaze, light, cuts.

    None for what is no video. Raises MediaError when the file can no longer be read.
    """
    line = report.facts.timeline if report.facts else None
    if line is None:
        return None
    drawn = rows(line, facing_limits(report))
    return draw_rows(_frames(report.path, line), drawn, line.duration_s)


def draw_rows(
    frames: Sequence[tuple[float, Pixels]], drawn: Sequence[Row], duration_s: float
) -> str:
    """SVG, :data:`WIDTH` wide: a strip of frames, the rows below it, a scale.

    ``frames`` are pairs of a time in seconds and the pixels. Every frame gets the part of the
    strip from its time to the next one's.
    """
    scale, first = TimeScale(LABEL_WIDTH, _RIGHT, duration_s), STRIP_HEIGHT + GAP if frames else 0
    tops = [first + index * (ROW_HEIGHT + GAP) for index in range(len(drawn) + 1)]
    height = tops[-1] + ROW_HEIGHT
    parts = [box((0, WIDTH), (0, height), PAPER), *_strip(frames, scale)]
    for row, top in zip(drawn, tops, strict=False):
        parts += _row(row, top, scale)
    parts += scale.ticks(tops[-1] + SMALL_SIZE, SMALL_SIZE, _MOST_TICKS)
    return drawing(WIDTH, height, parts)


def _frames(path: str, line: Timeline) -> list[tuple[float, Pixels]]:
    rate = FRAMES / max(line.duration_s, 1.0)
    frames = media.sample_frames(
        media.Source.of(path),
        per_second=rate,
        max_side=FRAME_SIDE,
        key_frames_only=line.duration_s > SPARSE_S,
    )
    return [(frame.at_s - line.starts_s, frame.rgb) for frame in islice(frames, FRAMES)]


def _strip(frames: Sequence[tuple[float, Pixels]], scale: TimeScale) -> Iterator[str]:
    """Every frame is cut to its part, around its middle; none is enlarged to fill a wider one."""
    edges = [*(scale.at(at_s) for at_s, _ in frames), float(_RIGHT)]
    for (_, pixels), (left, right) in zip(frames, pairwise(edges), strict=True):
        height, whole, _ = pixels.shape
        width = min(right - left - 2, STRIP_HEIGHT * whole / height)
        if width >= _LEAST_PART:
            aside = round((whole - width * height / STRIP_HEIGHT) / 2)
            yield picture(pixels[:, aside : whole - aside], left, width, STRIP_HEIGHT)


def _row(row: Row, top: float, scale: TimeScale) -> Iterator[str]:
    """Label, ground, what happens, and what it amounts to."""
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

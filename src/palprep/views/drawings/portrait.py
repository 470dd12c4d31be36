"""A checked portrait with drawings of the face, the head, the gaze, the crop and the findings.

The lines are visible on any background, and the words are below the image.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

import numpy as np

from palprep.media.images import open_image
from palprep.media.sources import Source
from palprep.rules import Report
from palprep.rules.plans import adjustments, not_passed
from palprep.values import Outcome, Rect
from palprep.views.drawings.svg import INK, PAPER, area, box, drawing, line, picture, text
from palprep.views.outcomes import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW, Colour
from palprep.vision import Detections, Floats, Models, detect_subject, measure_head

FACE, POINTS, CROP, FAILED, GAZE = BLUE, SKY, GREEN, VERMILION, YELLOW
AXES = (ORANGE, PURPLE, BLUE)
"""To the subject's left, up, and towards where the face looks."""

OUTSIDE = 0.55
"""The opacity of the black over the parts that a crop leaves out."""

POINT = 1 / 80
"""The diameter of a point in face heights, at which the points of the eyes stay apart."""

LINES_PER_SIDE, SMALLEST_FONT = 44, 13
"""Lines of text that the longer side would hold, and the least height of one in pixels."""

LETTER_WIDTH = 0.58
"""The width of a letter in heights of the font: above the mean, so that lines stay inside."""

LEAST_WIDTH = 320
"""Pixels. Below a narrower image the text would be a column of single words."""


def portrait_overlay(report: Report, *, side: int) -> str | None:
    """The portrait of a report as SVG, at most ``side`` pixels long, with the face, the planned
    crop and the findings; None without a portrait. Raises MediaError when the file can no longer be
    read."""
    if report.facts is None or report.facts.image is None or report.facts.portrait is None:
        return None
    portrait = report.facts.portrait
    planned = adjustments(portrait, not_passed(report))
    crop, size = planned.crop, (portrait.width, portrait.height)
    _, shown = open_image(Source.of(report.path), max_side=side, turned_deg=planned.turned_deg)
    return draw_portrait(
        detect_subject(np.asarray(shown), Models.shared(), size=size),
        crop=Rect(x=crop.left, y=crop.top, width=crop.width, height=crop.height) if crop else None,
        level_deg=planned.level_deg,
        failed=[(check.sentence, check.region) for check in report.told(Outcome.FAIL)],
    )


def draw_portrait(
    seen: Detections,
    *,
    crop: Rect | None = None,
    level_deg: float = 0.0,
    failed: Sequence[tuple[str, Rect | None]] = (),
) -> str:
    """Box, points, head axes and gaze of the subject, the planned ``crop``, and the sentences of
    failed checks with their regions (None for no region). Crop and regions are in pixels of the
    full image. ``level_deg`` is the planned turn, counter-clockwise about the middle of the crop.
    """
    height, width = seen.rgb.shape[:2]
    thick = max(1, max(height, width) / 500)
    parts = [picture(seen.rgb, 0, width, height)]
    captions: list[tuple[Colour, str]] = []
    outline = "" if crop is None else _way(_corners(crop, level_deg) / seen.scale, closed=True)
    if outline:
        parts.append(area(f"M0 0H{width}V{height}H0Z{outline}", (0, 0, 0), OUTSIDE))
    if seen.subject is not None:
        lines, words = _face(seen, seen.subject, thick)
        parts, captions = [*parts, *lines], [(FACE, words)] if words else []
    if crop is not None:
        parts.append(_rimmed(outline, CROP, 2 * thick))
        turn = f", turned {level_deg:+.0f}°" if level_deg else ""
        captions.append((CROP, f"crop {crop.width:.0f} x {crop.height:.0f} px{turn}"))
    for words, region in failed:
        if region is not None:
            around = _way(_corners(region) / seen.scale, closed=True)
            parts.append(_rimmed(around, FAILED, 2 * thick))
        captions.append((FAILED, words))
    return _with_words(parts, captions, width, height)


def _with_words(
    parts: Sequence[str], captions: Sequence[tuple[Colour, str]], width: int, height: int
) -> str:
    """The drawing, and below it each sentence next to a patch of its colour."""
    size = max(SMALLEST_FONT, max(width, height) / LINES_PER_SIDE)
    step, whole = round(1.45 * size), max(width, LEAST_WIDTH)
    letters = int((whole - 2 * step) / (LETTER_WIDTH * size))
    below: list[str] = []
    top = height
    for colour, words in captions:
        lines = textwrap.wrap(words, letters)
        below.append(box((0, step * 2 / 3), (top, top + step * len(lines) - 1), colour))
        for row, each in enumerate(lines, 1):
            below.append(text((step, top + (row - 0.3) * step), each, size, INK))
        top += step * len(lines)
    return drawing(whole, top, [box((0, whole), (0, top), PAPER), *parts, *below])


def _face(seen: Detections, index: int, thick: float) -> tuple[list[str], str]:
    """The lines of a face, as far as it was recognised, and its direction in words."""
    around, marks = seen.box(index), seen.marks(index)
    drawn = [_rimmed(_way(_corners(around), closed=True), FACE, thick)]
    if marks is None:
        return drawn, ""
    dots = "".join(f"{_way([point])}h0" for point in marks.points[:, :2])
    drawn.append(line(dots, POINTS, POINT * around.height, 'stroke-linecap="round"'))
    fit, pose, eyes = measure_head(marks, Models.shared().geometry)
    for axis, colour in enumerate(AXES):
        direction = fit.rotation[:2, axis] * np.array([1, -1]) * 0.4 * around.height
        drawn.append(_rimmed(_arrow(marks.nose, direction), colour, 2 * thick))
    # A dot for eyes that look into the lens; a face's height for those that look to the side.
    angles = np.radians([eyes.gaze_yaw_deg, -eyes.gaze_pitch_deg])
    gaze: Floats = np.sin(angles) * around.height
    drawn += [_rimmed(_arrow(iris, gaze), GAZE, thick) for iris in marks.irises]
    head = f"yaw {pose.yaw_deg:+.0f}° pitch {pose.pitch_deg:+.0f}° roll {pose.roll_deg:+.0f}°"
    return drawn, f"{head}, gaze {eyes.gaze_off_deg:.0f}° off"


def _corners(around: Rect, level_deg: float = 0.0) -> Floats:
    """The corners of a box before the image is turned by ``level_deg``."""
    turn = np.radians(level_deg)
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    middle = np.array([around.x + around.width / 2, around.y + around.height / 2])
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    return np.asarray((square * [around.width, around.height]) @ rotation + middle)


def _way(points: Iterable[Floats], *, closed: bool = False) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("Z" if closed else "")


def _arrow(start: Floats, along: Floats) -> str:
    end, back, aside = start + along, along * 0.2, along[::-1] * [-0.2, 0.2]
    return _way([start, end]) + _way([end - back - aside, end, end - back + aside])


def _rimmed(way: str, colour: Colour, width: float) -> str:
    return line(way, INK, width + 2) + line(way, colour, width)

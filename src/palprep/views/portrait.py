"""A checked portrait with what was seen of it drawn in: face, head, gaze, crop, findings.

What is drawn can be told from any background, and the words stand below the image.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from palprep.media import Source, open_image
from palprep.rules import Report
from palprep.rules.plans import adjustments, not_passed
from palprep.values import Outcome, Rect
from palprep.views.outcomes import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW, Colour
from palprep.views.pictures import VIEW_SIDE
from palprep.vision import (
    Detections,
    Floats,
    Models,
    Pixels,
    detect_subject,
    measure_head,
)

FACE, POINTS, CROP, FAILED, GAZE = BLUE, SKY, GREEN, VERMILION, YELLOW
AXES = (ORANGE, PURPLE, BLUE)
"""To the subject's left, up, and towards where the face looks."""

OUTSIDE = 0.45
"""Brightness of what a crop leaves out."""

POINT = 1 / 260
"""Radius of a point in face heights: the points of the eyes stay apart."""

GAZE_LENGTH = 1.0
"""Length of an arrow from the iris, in face heights, if the eyes looked straight to the side."""

INK, PAPER = (20, 20, 24), (255, 255, 255)

LINES_PER_SIDE, SMALLEST_FONT = 44, 13
"""Lines of text that the longer side would hold, and the least height of one in pixels."""

LETTER_WIDTH = 0.58
"""Of a letter, in heights of the font: more than the mean, so that lines stay inside."""

LEAST_WIDTH = 320
"""Pixels: what is said below a narrower image would be a column of single words."""

SMALLEST_DOT = 0.8
"""Radius in pixels of what is drawn."""

_SUBPIXEL = 4
"""Binary digits of a pixel that OpenCV's drawing takes."""


def portrait_overlay(
    report: Report, models: Models, *, side: int = VIEW_SIDE
) -> Image.Image | None:
    """The image of a report with its face, points, head axes, gaze, planned crop and failures.

    At most ``side`` pixels long, and what is said below. None for what is no portrait. Raises
    MediaError when the file can no longer be read.
    """
    if report.facts is None or report.facts.image is None or report.facts.portrait is None:
        return None
    image, picture = open_image(Source.of(report.path), max_side=side)
    _, planned = adjustments(report.facts.portrait, not_passed(report))
    crop = planned.crop
    return draw_portrait(
        detect_subject(np.asarray(picture), models, size=(image.width, image.height)),
        models,
        crop=Rect(x=crop.left, y=crop.top, width=crop.width, height=crop.height) if crop else None,
        level_deg=planned.level_deg,
        failed=[(check.sentence, check.region) for check in report.told(Outcome.FAIL)],
    )


def draw_portrait(
    seen: Detections,
    models: Models,
    *,
    crop: Rect | None = None,
    level_deg: float = 0.0,
    failed: Sequence[tuple[str, Rect | None]] = (),
) -> Image.Image:
    """Box, points, head axes and gaze of the subject, the planned crop and what failed.

    ``crop`` is in pixels of the full image, and so is the region of each sentence in ``failed``,
    None for nowhere in particular. ``level_deg`` is how far the image will be turned
    counter-clockwise about the middle of the crop. Returns ``seen.rgb``, unchanged wherever nothing
    is drawn, and what is said of it below.
    """
    canvas = Canvas(seen.rgb)
    corners = None if crop is None else _corners(crop, level_deg) / seen.scale
    if corners is not None:
        canvas.dim_outside(corners, OUTSIDE)
    _draw_subject(canvas, seen, models)
    if crop is not None and corners is not None:
        canvas.outline(corners, CROP, weight=2)
        turn = f", turned {level_deg:+.0f}°" if level_deg else ""
        canvas.say(f"crop {crop.width:.0f} x {crop.height:.0f} px{turn}", CROP)
    for words, region in failed:
        if region is not None:
            canvas.outline(_corners(region) / seen.scale, FAILED, weight=2)
        canvas.say(words, FAILED)
    return canvas.finished()


def _draw_subject(canvas: Canvas, seen: Detections, models: Models) -> None:
    """The largest certain face, as far as it can be made out."""
    index = seen.subject
    if index is None:
        return
    box, marks = seen.box(index), seen.marks(index)
    canvas.outline(_corners(box), FACE)
    if marks is None:
        return
    canvas.dots(marks.points[:, :2], POINT * box.height, POINTS)
    fit, pose, eyes = measure_head(marks, models.geometry)
    nose = marks.nose
    for axis, colour in enumerate(AXES):
        direction = fit.rotation[:2, axis] * np.array([1, -1]) * 0.4 * box.height
        canvas.arrow(nose, nose + direction, colour, weight=2)
    # A mere dot for eyes that look into the lens.
    angles = np.radians([eyes.gaze_yaw_deg, -eyes.gaze_pitch_deg])
    gaze: Floats = np.sin(angles) * GAZE_LENGTH * box.height
    for iris in marks.irises:
        canvas.arrow(iris, iris + gaze, GAZE)
    head = f"yaw {pose.yaw_deg:+.0f}° pitch {pose.pitch_deg:+.0f}° roll {pose.roll_deg:+.0f}°"
    canvas.say(f"{head}, gaze {eyes.gaze_off_deg:.0f}° off", FACE)


def _corners(box: Rect, level_deg: float = 0.0) -> Floats:
    """Where the corners of a box are before the image is turned."""
    turn = np.radians(level_deg)
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    middle = np.array([box.x + box.width / 2, box.y + box.height / 2])
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    return np.asarray((square * [box.width, box.height]) @ rotation + middle)


class Canvas:
    """A copy of an image to draw on, in its pixels, and what is said below it."""

    def __init__(self, rgb: Pixels) -> None:
        self.pixels = rgb.copy()
        longest = max(rgb.shape[:2])
        self.thick = max(1, round(longest / 500))
        self._size = max(SMALLEST_FONT, longest / LINES_PER_SIDE)
        self._said: list[tuple[Colour, str]] = []

    def dim_outside(self, corners: Floats, brightness: float) -> None:
        """Darken everything but the convex shape with these n x 2 corners."""
        inside = np.zeros(self.pixels.shape[:2], np.uint8)
        cv2.fillConvexPoly(inside, _rounded(corners), 1)
        dimmed = (self.pixels * brightness).astype(np.uint8)
        self.pixels = np.where(inside[..., None] > 0, self.pixels, dimmed)

    def outline(self, corners: Floats, colour: Colour, *, weight: int = 1) -> None:
        """A closed line through n x 2 corners, with a thin dark rim."""
        for shade, width in self._strokes(colour, weight):
            cv2.polylines(self.pixels, [_rounded(corners)], True, shade, width, cv2.LINE_AA)  # noqa: FBT003 - closed

    def arrow(self, start: Floats, end: Floats, colour: Colour, *, weight: int = 1) -> None:
        """An arrow between two points of x and y, with a thin dark rim."""
        places = _rounded(start).tolist(), _rounded(end).tolist()
        for shade, width in self._strokes(colour, weight):
            cv2.arrowedLine(self.pixels, *places, shade, width, cv2.LINE_AA, tipLength=0.2)

    def dots(self, points: Floats, radius: float, colour: Colour) -> None:
        """Small filled circles at n x 2 places, to fractions of a pixel."""
        unit = 1 << _SUBPIXEL
        reach = round(max(radius, SMALLEST_DOT) * unit)
        for place in _rounded(points * unit).tolist():
            cv2.circle(self.pixels, place, reach, colour, -1, cv2.LINE_AA, _SUBPIXEL)

    def say(self, words: str, colour: Colour) -> None:
        """Words below the image, beside a patch of the colour that they are about."""
        self._said.append((colour, words))

    def finished(self) -> Image.Image:
        height, width = self.pixels.shape[:2]
        line, whole = round(1.45 * self._size), max(width, LEAST_WIDTH)
        letters = int((whole - 2 * line) / (LETTER_WIDTH * self._size))
        said = [(colour, textwrap.wrap(words, letters)) for colour, words in self._said]
        below = line * sum(len(lines) for _, lines in said)
        sheet = Image.new("RGB", (whole, height + below), PAPER)
        sheet.paste(Image.fromarray(self.pixels))
        draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(self._size)
        top = height
        for colour, lines in said:
            draw.rectangle((0, top, line * 2 // 3, top + line * len(lines) - 1), colour)
            for words in lines:
                draw.text((line, top + line / 2), words, INK, font, anchor="lm")
                top += line
        return sheet

    def _strokes(self, colour: Colour, weight: int) -> tuple[tuple[Colour, int], ...]:
        return (INK, self.thick * weight + 2), (colour, self.thick * weight)


def _rounded(points: Floats) -> NDArray[np.int32]:
    return np.asarray(np.rint(points), np.int32)

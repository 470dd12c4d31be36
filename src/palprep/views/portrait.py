"""A checked portrait with what was seen of it drawn in: face, head, gaze, crop, findings.

What is drawn can be read on any background and at any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from palprep.media import Source, open_image
from palprep.rules import Report
from palprep.rules.plans import CROP_ANSWERS, LEVEL_ANSWERS, adjustments, not_passed
from palprep.values import Outcome, Rect
from palprep.views.outcomes import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    YELLOW,
    Colour,
)
from palprep.views.pictures import VIEW_SIDE
from palprep.vision import (
    Detections,
    Eyes,
    Floats,
    Landmarks,
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

_Place = tuple[float, float, float, float]
"""Left, top, right and bottom."""

INK, PAPER = (20, 20, 24), (255, 255, 255)
BRIGHT = 420
"""Sum of red, green and blue from which a label bears dark words."""

SMALLEST_VIEW = 480
"""Smaller images are enlarged by a whole factor, to about this longest side in pixels."""

LINES_PER_SIDE, SMALLEST_FONT = 44, 13
"""Lines of text that the longer side would hold, and the least height of one in pixels."""

SMALLEST_DOT = 0.8
"""Radius in pixels of what is drawn."""

MOST_LINES = 20
"""Lines above or below a box that a label may move to, away from other labels."""

_SUBPIXEL = 4
"""Binary digits of a pixel that OpenCV's drawing takes."""


def portrait_overlay(
    report: Report, models: Models, *, side: int = VIEW_SIDE
) -> Image.Image | None:
    """The image of a report with its face, points, head axes, gaze, planned crop and failures.

    At most ``side`` pixels long. None for what is no portrait. Raises MediaError when the file can
    no longer be read.
    """
    if report.facts is None or report.facts.image is None or report.facts.portrait is None:
        return None
    image, picture = open_image(Source.of(report.path), max_side=side)
    asking = not_passed(report) & (CROP_ANSWERS | LEVEL_ANSWERS)
    planned = adjustments(report.facts.portrait, asking)[1]
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
    counter-clockwise about the middle of the crop. Returns an image in the size of ``seen.rgb``,
    whose pixels are unchanged wherever nothing is drawn. Images too small to hold words are
    enlarged by a whole factor.
    """
    canvas = Canvas(seen.rgb)
    corners = None if crop is None else _corners(_reduced(crop, seen.scale), level_deg)
    if corners is not None:
        canvas.dim_outside(corners, OUTSIDE)
    _draw_subject(canvas, seen, models)
    if corners is not None:
        canvas.outline(corners, CROP, weight=2)
    for words, region in failed:
        place = Rect(x=0, y=0, width=0, height=0)
        if region is not None:
            place = _reduced(region, seen.scale)
            canvas.rectangle(place, FAILED, weight=2)
        canvas.label(place, words, FAILED)
    if crop is not None:
        size = f"crop {crop.width:.0f} x {crop.height:.0f} px"
        turn = f", turned {level_deg:+.0f}°" if level_deg else ""
        canvas.label(_reduced(crop, seen.scale), size + turn, CROP)
    return canvas.finished()


def _draw_subject(canvas: Canvas, seen: Detections, models: Models) -> None:
    """The largest certain face, as far as it can be made out."""
    index = seen.subject
    if index is None:
        return
    box, marks = seen.box(index), seen.marks(index)
    canvas.rectangle(box, FACE)
    if marks is None:
        return
    canvas.dots(marks.points[:, :2], POINT * box.height, POINTS)
    fit, pose, eyes = measure_head(marks, models.geometry)
    nose = marks.nose
    for axis, colour in enumerate(AXES):
        direction = fit.rotation[:2, axis] * np.array([1, -1]) * 0.4 * box.height
        canvas.arrow(nose, nose + direction, colour, weight=2)
    _draw_gaze(canvas, marks, eyes, box.height)
    canvas.label(
        box,
        f"yaw {pose.yaw_deg:+.0f}° pitch {pose.pitch_deg:+.0f}° roll {pose.roll_deg:+.0f}°"
        f", gaze {eyes.gaze_off_deg:.0f}° off",
        FACE,
        below=True,
    )


def _draw_gaze(canvas: Canvas, marks: Landmarks, eyes: Eyes, face_height: float) -> None:
    """An arrow from either iris; a mere dot for eyes that look into the lens."""
    angles = np.radians([eyes.gaze_yaw_deg, -eyes.gaze_pitch_deg])
    direction: Floats = np.sin(angles) * GAZE_LENGTH * face_height
    for start in marks.irises:
        canvas.arrow(start, start + direction, GAZE)


def _corners(crop: Rect, level_deg: float) -> Floats:
    """Where the crop's corners are before the image is turned."""
    turn = np.radians(level_deg)
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    middle = np.array([crop.x + crop.width / 2, crop.y + crop.height / 2])
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    return np.asarray((square * [crop.width, crop.height]) @ rotation + middle)


def _reduced(box: Rect, scale: float) -> Rect:
    return Rect(
        x=box.x / scale, y=box.y / scale, width=box.width / scale, height=box.height / scale
    )


class Canvas:
    """A copy of an image to draw on. Coordinates are pixels of the image that was given."""

    def __init__(self, rgb: Pixels) -> None:
        self.times = max(1, SMALLEST_VIEW // max(rgb.shape[:2]))
        large = (rgb.shape[1] * self.times, rgb.shape[0] * self.times)
        self.pixels = (
            rgb.copy()
            if self.times == 1
            else np.asarray(cv2.resize(rgb, large, interpolation=cv2.INTER_CUBIC), np.uint8)
        )
        longest = max(self.pixels.shape[:2])
        self.thick = max(1, round(longest / 500))
        size = max(SMALLEST_FONT, longest / LINES_PER_SIDE)
        self._font = ImageFont.load_default(size)
        self._line: float = 1.45 * size
        self._labels: list[tuple[Rect, str, Colour, bool]] = []

    def dim_outside(self, corners: Floats, brightness: float) -> None:
        """Darken everything but the convex shape with these n x 2 corners."""
        inside = np.zeros(self.pixels.shape[:2], np.uint8)
        cv2.fillConvexPoly(inside, self._rounded(corners), 1)
        dimmed = (self.pixels * brightness).astype(np.uint8)
        self.pixels = np.where(inside[..., None] > 0, self.pixels, dimmed)

    def outline(self, corners: Floats, colour: Colour, *, weight: int = 1) -> None:
        """A closed line through n x 2 corners, with a thin dark rim."""
        for shade, width in self._strokes(colour, weight):
            cv2.polylines(self.pixels, [self._rounded(corners)], True, shade, width, cv2.LINE_AA)  # noqa: FBT003 - closed

    def rectangle(self, box: Rect, colour: Colour, *, weight: int = 1) -> None:
        """The border of a box, with a thin dark rim."""
        self.outline(_corners(box, 0.0), colour, weight=weight)

    def arrow(self, start: Floats, end: Floats, colour: Colour, *, weight: int = 1) -> None:
        """An arrow between two points of x and y, with a thin dark rim."""
        places = self._whole(*start), self._whole(*end)
        for shade, width in self._strokes(colour, weight):
            cv2.arrowedLine(self.pixels, *places, shade, width, cv2.LINE_AA, tipLength=0.2)

    def dots(self, points: Floats, radius: float, colour: Colour) -> None:
        """Small filled circles at n x 2 places, to fractions of a pixel."""
        unit = (1 << _SUBPIXEL) * self.times
        reach = round(max(radius * unit, SMALLEST_DOT * (1 << _SUBPIXEL)))
        for x, y in points:
            place = round(float(x) * unit), round(float(y) * unit)
            cv2.circle(self.pixels, place, reach, colour, -1, cv2.LINE_AA, _SUBPIXEL)

    def label(self, box: Rect, words: str, colour: Colour, *, below: bool = False) -> None:
        """Words above a box, or below it; where there is no room, in the next free line."""
        self._labels.append((box, words, colour, below))

    def finished(self) -> Image.Image:
        """The image with all labels, which lie above every line and next to each other."""
        image = Image.fromarray(self.pixels)
        draw = ImageDraw.Draw(image)
        taken: list[_Place] = []
        for box, words, colour, below in self._labels:
            fitting = self._fitting(words, image.width)
            width = self._width(fitting)
            left = min(max(0.0, box.x * self.times), image.width - width)
            place = self._free(left, width, self._rows(box, below=below), taken)
            taken.append(place)
            draw.rectangle(place, colour)
            ink = INK if sum(colour) > BRIGHT else PAPER
            middle = left + 0.3 * self._line, (place[1] + place[3]) / 2
            draw.text(middle, fitting, ink, self._font, anchor="lm")
        return image

    def _rows(self, box: Rect, *, below: bool) -> Iterator[float]:
        """Where the upper edge of a label may be, best first."""
        above = [box.y * self.times - n * self._line for n in range(1, MOST_LINES)]
        under = [(box.y + box.height) * self.times + n * self._line for n in range(MOST_LINES)]
        yield from (*under, *above) if below else (*above, *under)
        yield from (n * self._line for n in range(MOST_LINES))

    def _free(
        self, left: float, width: float, rows: Iterable[float], taken: Sequence[_Place]
    ) -> _Place:
        """The first of the rows that lies in the image and that no other label has taken."""
        limit = self.pixels.shape[0] - self._line
        for top in rows:
            place = left, top, left + width, top + self._line
            if 0 <= top <= limit and not any(_meet(place, other) for other in taken):
                return place
        return left, max(0.0, limit), left + width, limit + self._line

    def _fitting(self, words: str, width: float) -> str:
        """The words, shortened until they are no wider than the image."""
        kept = words
        while len(kept) > 1 and self._width(kept) > width:
            kept = kept[:-2].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
        return kept

    def _width(self, words: str) -> float:
        return float(self._font.getlength(words)) + 0.6 * self._line

    def _strokes(self, colour: Colour, weight: int) -> tuple[tuple[Colour, int], ...]:
        return (INK, self.thick * weight + 2), (colour, self.thick * weight)

    def _rounded(self, corners: Floats) -> NDArray[np.int32]:
        return np.asarray(np.rint(corners * self.times), np.int32)

    def _whole(self, x: float, y: float) -> tuple[int, int]:
        return round(float(x) * self.times), round(float(y) * self.times)


def _meet(one: _Place, other: _Place) -> bool:
    """Whether two places overlap by half a pixel or more: neighbours in a stack do not."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return min(across, down) >= 0.5

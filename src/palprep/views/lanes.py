"""A time line as a picture: a strip of frames above lanes of what happens when."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PIL import Image, ImageDraw, ImageFont, ImageOps

from palprep.vision.arrays import Pixels

WIDTH = 1400
LABEL_WIDTH, SHARE_WIDTH = 150, 190
LANE_HEIGHT, GAP = 28, 12
STRIP_HEIGHT = 120
FONT_SIZE, SMALL_SIZE = 22, 20
ROUND = 5
SMOOTH = 2
"""Everything is drawn this much larger and reduced, since Pillow draws shapes with steps."""

Colour = tuple[int, int, int]
INK, SOFT, FAINT, PAPER = (32, 36, 44), (92, 96, 105), (233, 234, 238), (255, 255, 255)
MARK = (213, 94, 0)
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600)
_MOST_TICKS = 12
_LEAST_PART = 16
"""Narrower parts of a frame show nothing."""


@dataclass(frozen=True)
class Lane:
    """One row. ``spans`` are filled stretches, ``marks`` moments, ``levels`` (time, 0..1)
    points of a curve, ``unknown`` stretches that were not measured; all times in seconds.

    ``said`` stands at the right end: what the row amounts to.
    """

    label: str
    colour: Colour
    spans: Sequence[tuple[float, float]] = ()
    marks: Sequence[float] = ()
    levels: Sequence[tuple[float, float]] = ()
    unknown: Sequence[tuple[float, float]] = ()
    said: str = ""


def draw_lanes(
    frames: Sequence[tuple[float, Pixels]], lanes: Sequence[Lane], duration_s: float
) -> bytes:
    """PNG, :data:`WIDTH` pixels wide: a strip of frames, lanes below it, a scale.

    Every frame gets the part of the strip from its time to the next one's.
    """
    sheet = _Sheet(len(lanes), duration_s, strip=bool(frames))
    sheet.strip(frames)
    for index, lane in enumerate(lanes):
        sheet.lane(lane, index)
    sheet.scale()
    data = io.BytesIO()
    reduced = sheet.picture.resize((WIDTH, sheet.height), Image.Resampling.BOX)
    sheet.paste_strip(reduced)
    reduced.save(data, "PNG", optimize=True)
    return data.getvalue()


class _Sheet:
    """The picture while it is drawn; positions are in pixels of the result."""

    def __init__(self, lanes: int, duration_s: float, *, strip: bool) -> None:
        self.top = STRIP_HEIGHT + GAP if strip else 0
        self.bottom = self.top + lanes * (LANE_HEIGHT + GAP)
        self.height = self.bottom + LANE_HEIGHT
        self.picture = Image.new("RGB", (WIDTH * SMOOTH, self.height * SMOOTH), PAPER)
        self._draw = ImageDraw.Draw(self.picture)
        self._duration_s = max(duration_s, 1e-3)
        self._right = WIDTH - SHARE_WIDTH
        self._frames: list[tuple[int, Image.Image]] = []

    def at(self, moment_s: float) -> float:
        """Where a moment is, from left to right."""
        share = min(max(moment_s / self._duration_s, 0.0), 1.0)
        return LABEL_WIDTH + share * (self._right - LABEL_WIDTH)

    def strip(self, frames: Sequence[tuple[float, Pixels]]) -> None:
        """Cut every frame to its part of the strip, around its middle; none is enlarged to fill
        a wider part."""
        edges = [*(self.at(at_s) for at_s, _ in frames), float(self._right)]
        for (_, pixels), (left, right) in zip(frames, pairwise(edges), strict=True):
            frame = Image.fromarray(pixels)
            whole = round(STRIP_HEIGHT * frame.width / frame.height)
            width = min(round(right) - round(left) - 2, whole)
            if width >= _LEAST_PART:
                part = ImageOps.fit(frame, (width, STRIP_HEIGHT))
                self._frames.append((round(left), part))

    def paste_strip(self, picture: Image.Image) -> None:
        """Put the frames into the reduced picture, as sharp as they are."""
        for left, part in self._frames:
            picture.paste(part, (left, 0))

    def lane(self, lane: Lane, index: int) -> None:
        """Draw one row: label, ground, what happens, and what it amounts to."""
        top = self.top + index * (LANE_HEIGHT + GAP)
        bottom, middle = top + LANE_HEIGHT, top + LANE_HEIGHT / 2
        self._text((0, middle), lane.label, INK, "lm")
        self._text((self._right + 14, middle), lane.said, SOFT, "lm")
        self._box(LABEL_WIDTH, top, self._right, bottom, FAINT)
        for start, end in lane.unknown:
            self._box(self.at(start), top + 2, self.at(end), bottom - 2, PAPER)
        for start, end in lane.spans:
            left = self.at(start)
            self._box(left, top, max(self.at(end), left + 2), bottom, lane.colour)
        self._curve(lane, top, bottom)
        for moment in lane.marks:
            at = self.at(moment)
            self._box(at - 2, top - 4, at + 2, bottom + 4, MARK)

    def scale(self) -> None:
        """Draw the ticks below the lanes, and let them shine through."""
        duration = self._duration_s
        step = next((each for each in _STEPS_S if duration / each <= _MOST_TICKS), 1800)
        for second in range(0, int(duration) + 1, step):
            at = self.at(second)
            self._line([(at, self.bottom - GAP + 2), (at, self.bottom - GAP + 8)], SOFT, 1)
            words = f"{second // 60}:{second % 60:02d}"
            self._text((at, self.bottom + 2), words, SOFT, "la" if second == 0 else "ma")

    def _curve(self, lane: Lane, top: float, bottom: float) -> None:
        points = [(self.at(at), bottom - level * (bottom - top)) for at, level in lane.levels]
        if len(points) < 2:
            return
        pale = tuple(round(0.65 * 255 + 0.35 * part) for part in lane.colour)
        ground = [(points[-1][0], bottom), (points[0][0], bottom)]
        self._draw.polygon([(x * SMOOTH, y * SMOOTH) for x, y in (*points, *ground)], pale)
        self._line(points, lane.colour, 2)

    def _box(self, left: float, top: float, right: float, bottom: float, fill: Colour) -> None:
        sides = [round(side * SMOOTH) for side in (left, top, right, bottom)]
        radius = min(ROUND * SMOOTH, (sides[2] - sides[0]) // 2)
        self._draw.rounded_rectangle(sides, radius, fill)

    def _line(self, points: Sequence[tuple[float, float]], fill: Colour, width: int) -> None:
        larger = [(x * SMOOTH, y * SMOOTH) for x, y in points]
        self._draw.line(larger, fill, width * SMOOTH, joint="curve")

    def _text(self, at: tuple[float, float], words: str, fill: Colour, anchor: str) -> None:
        size = FONT_SIZE if fill is INK else SMALL_SIZE
        font = ImageFont.load_default(size * SMOOTH)
        larger = at[0] * SMOOTH, at[1] * SMOOTH
        self._draw.text(larger, words, fill, font, anchor=anchor)

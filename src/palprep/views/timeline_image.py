"""A checked video's timeline as an image: a strip of frames above rows of what happens when."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise

from PIL import Image, ImageDraw, ImageFont, ImageOps

from palprep.facts import Timeline
from palprep.media import Source, sample_frames
from palprep.rules import Report, facing_limits
from palprep.views.format import position
from palprep.views.outcomes import VERMILION, Colour
from palprep.views.timeline_rows import Row, rows, tick_every
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
SMOOTH = 2
"""Everything is drawn this much larger and reduced, since Pillow draws shapes with steps."""

INK, SOFT, FAINT, PAPER = (32, 36, 44), (92, 96, 105), (233, 234, 238), (255, 255, 255)
_MOST_TICKS = 12
_LEAST_PART = 16
"""Narrower parts of a frame show nothing."""


def timeline_image(report: Report) -> Image.Image | None:
    """The timeline of a report's video: frames, speech, mouth, gaze, light, cuts.

    None for what is no video. Raises MediaError when the file can no longer be read.
    """
    line = report.facts.timeline if report.facts else None
    if line is None:
        return None
    drawn = rows(line, facing_limits(report))
    return draw_rows(_frames(report.path, line), drawn, line.duration_s)


def draw_rows(
    frames: Sequence[tuple[float, Pixels]], drawn: Sequence[Row], duration_s: float
) -> Image.Image:
    """An image, :data:`WIDTH` pixels wide: a strip of frames, the rows below it, a scale.

    ``frames`` are pairs of a time in seconds and the pixels. Every frame gets the part of the
    strip from its time to the next one's.
    """
    sheet = _Sheet(len(drawn), duration_s, strip=bool(frames))
    for index, row in enumerate(drawn):
        sheet.row(row, index)
    sheet.scale()
    return sheet.finished(frames)


def _frames(path: str, line: Timeline) -> list[tuple[float, Pixels]]:
    rate = FRAMES / max(line.duration_s, 1.0)
    frames = sample_frames(
        Source.of(path),
        per_second=rate,
        max_side=FRAME_SIDE,
        key_frames_only=line.duration_s > SPARSE_S,
    )
    return [(frame.at_s - line.starts_s, frame.rgb) for frame in islice(frames, FRAMES)]


class _Sheet:
    def __init__(self, row_count: int, duration_s: float, *, strip: bool) -> None:
        self.top = STRIP_HEIGHT + GAP if strip else 0
        self.bottom = self.top + row_count * (ROW_HEIGHT + GAP)
        self._height = self.bottom + ROW_HEIGHT
        self._image = Image.new("RGB", (WIDTH * SMOOTH, self._height * SMOOTH), PAPER)
        self._draw = ImageDraw.Draw(self._image)
        self._duration_s = max(duration_s, 1e-3)
        self._right = WIDTH - SUMMARY_WIDTH

    def at(self, moment_s: float) -> float:
        share = min(max(moment_s / self._duration_s, 0.0), 1.0)
        return LABEL_WIDTH + share * (self._right - LABEL_WIDTH)

    def row(self, row: Row, index: int) -> None:
        """Draw one row: label, ground, what happens, and what it amounts to."""
        top = self.top + index * (ROW_HEIGHT + GAP)
        bottom, middle = top + ROW_HEIGHT, top + ROW_HEIGHT / 2
        self._text((0, middle), row.label, INK, "lm")
        self._text((self._right + 14, middle), row.summary, SOFT, "lm")
        self._box(LABEL_WIDTH, top, self._right, bottom, FAINT)
        for span in row.unknown:
            self._box(self.at(span.start_s), top + 2, self.at(span.end_s), bottom - 2, PAPER)
        for span in row.spans:
            left = self.at(span.start_s)
            self._box(left, top, max(self.at(span.end_s), left + 2), bottom, row.colour)
        self._curve(row, top, bottom)
        for moment in row.marks:
            at = self.at(moment)
            self._box(at - 2, top - 4, at + 2, bottom + 4, VERMILION)

    def scale(self) -> None:
        for second in range(
            0, int(self._duration_s) + 1, tick_every(self._duration_s / _MOST_TICKS)
        ):
            at = self.at(second)
            self._line([(at, self.bottom - GAP + 2), (at, self.bottom - GAP + 8)], SOFT, 1)
            anchor = "la" if second == 0 else "ma"
            self._text((at, self.bottom + 2), position(second, digits=0), SOFT, anchor)

    def finished(self, frames: Sequence[tuple[float, Pixels]]) -> Image.Image:
        """The image in its own size. Every frame is cut to its part of the strip, around its
        middle, and stays as sharp as it is; none is enlarged to fill a wider part."""
        image = self._image.resize((WIDTH, self._height), Image.Resampling.BOX)
        edges = [*(self.at(at_s) for at_s, _ in frames), float(self._right)]
        for (_, pixels), (left, right) in zip(frames, pairwise(edges), strict=True):
            frame = Image.fromarray(pixels)
            whole = round(STRIP_HEIGHT * frame.width / frame.height)
            width = min(round(right) - round(left) - 2, whole)
            if width >= _LEAST_PART:
                image.paste(ImageOps.fit(frame, (width, STRIP_HEIGHT)), (round(left), 0))
        return image

    def _curve(self, row: Row, top: float, bottom: float) -> None:
        points = [(self.at(at), bottom - level * (bottom - top)) for at, level in row.levels]
        if len(points) < 2:
            return
        pale = tuple(round(0.65 * 255 + 0.35 * part) for part in row.colour)
        ground = [(points[-1][0], bottom), (points[0][0], bottom)]
        self._draw.polygon([(x * SMOOTH, y * SMOOTH) for x, y in (*points, *ground)], pale)
        self._line(points, row.colour, 2)

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

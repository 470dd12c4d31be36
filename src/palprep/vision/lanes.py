"""A time line as a picture: a strip of frames above lanes of what happens when."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from palprep.vision.arrays import Pixels

WIDTH = 1200
LABEL_WIDTH = 110
LANE_HEIGHT = 26
GAP = 8
STRIP_HEIGHT = 84
FONT_SIZE = 14

INK, FAINT, PAPER = (32, 36, 44), (224, 227, 232), (255, 255, 255)
MARK = (200, 40, 40)


@dataclass(frozen=True)
class Lane:
    """One row. ``spans`` are filled stretches, ``marks`` moments, ``levels`` (time, 0..1)
    points of a curve; all times in seconds."""

    label: str
    colour: tuple[int, int, int]
    spans: Sequence[tuple[float, float]] = ()
    marks: Sequence[float] = ()
    levels: Sequence[tuple[float, float]] = ()


def draw_lanes(
    frames: Sequence[tuple[float, Pixels]], lanes: Sequence[Lane], duration_s: float
) -> bytes:
    """PNG, :data:`WIDTH` pixels wide: frames where their times are, lanes below, a scale."""
    top = STRIP_HEIGHT + GAP if frames else 0
    height = top + len(lanes) * (LANE_HEIGHT + GAP) + LANE_HEIGHT
    picture = Image.new("RGB", (WIDTH, height), PAPER)
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(FONT_SIZE)
    scale = (WIDTH - LABEL_WIDTH - GAP) / max(duration_s, 1e-3)
    for at_s, frame in frames:
        small = Image.fromarray(frame)
        small.thumbnail((WIDTH, STRIP_HEIGHT))
        picture.paste(small, (round(LABEL_WIDTH + at_s * scale), 0))
    for index, lane in enumerate(lanes):
        _lane(draw, font, lane, top + index * (LANE_HEIGHT + GAP), scale)
    _scale(draw, font, duration_s, height - LANE_HEIGHT, scale)
    data = io.BytesIO()
    picture.save(data, "PNG", optimize=True)
    return data.getvalue()


def _lane(
    draw: ImageDraw.ImageDraw,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    lane: Lane,
    top: int,
    scale: float,
) -> None:
    bottom = top + LANE_HEIGHT
    draw.text((GAP, top + LANE_HEIGHT / 2), lane.label, INK, font, anchor="lm")
    draw.rectangle((LABEL_WIDTH, top, WIDTH - GAP, bottom), FAINT)
    for start, end in lane.spans:
        left, right = LABEL_WIDTH + start * scale, LABEL_WIDTH + end * scale
        draw.rectangle((left, top, max(right, left + 1), bottom), lane.colour)
    if len(lane.levels) > 1:
        points = [
            (LABEL_WIDTH + at * scale, bottom - level * LANE_HEIGHT) for at, level in lane.levels
        ]
        draw.line(points, lane.colour, width=2)
    for moment in lane.marks:
        at = LABEL_WIDTH + moment * scale
        draw.line((at, top, at, bottom), MARK, width=2)


def _scale(
    draw: ImageDraw.ImageDraw,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
    duration_s: float,
    top: int,
    scale: float,
) -> None:
    step = next((n for n in (1, 2, 5, 10, 15, 30, 60, 120, 300) if duration_s / n <= 15), 600)
    for second in range(0, int(duration_s) + 1, step):
        at = LABEL_WIDTH + second * scale
        draw.line((at, top, at, top + 4), INK)
        anchor = "la" if second == 0 else "ma"
        draw.text((at, top + 6), f"{second // 60}:{second % 60:02d}", INK, font, anchor=anchor)

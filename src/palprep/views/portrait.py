"""A checked portrait with what was seen of it drawn in: face, head, gaze, crop, findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import cv2
import numpy as np

from palprep.media import Source, open_image
from palprep.rules import Report
from palprep.rules.plans import CROP_ANSWERS, LEVEL_ANSWERS, adjustments, not_passed
from palprep.values import Outcome, Rect
from palprep.views.canvas import Canvas
from palprep.views.outcomes import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from palprep.vision import (
    Detections,
    Eyes,
    Floats,
    Landmarks,
    Models,
    detect_subject,
    measure_head,
)

VIEW_SIDE = 900
"""Longest side of the drawing in pixels."""

FACE, POINTS, CROP, FAILED, GAZE = BLUE, SKY, GREEN, VERMILION, YELLOW
AXES = (ORANGE, PURPLE, BLUE)
"""To the subject's left, up, and towards where the face looks."""

Form = Literal["png", "jpeg"]

OUTSIDE = 0.45
"""Brightness of what a crop leaves out."""

POINT = 1 / 260
"""Radius of a point in face heights: the points of the eyes stay apart."""

GAZE_LENGTH = 1.0
"""Length of an arrow from the iris, in face heights, if the eyes looked straight to the side."""


class Finding(NamedTuple):
    """What failed, in a few words."""

    region: Rect | None
    """Where in the full image; None for nowhere in particular."""
    words: str


def portrait_overlay(
    report: Report, models: Models, *, side: int = VIEW_SIDE, form: Form = "png"
) -> bytes | None:
    """The image of a report with its face, points, head axes, gaze, planned crop and failures.

    At most ``side`` pixels long, as PNG or JPEG. None for what is no portrait. Raises MediaError
    when the file can no longer be read.
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
        failed=[Finding(check.region, check.sentence) for check in report.told(Outcome.FAIL)],
        form=form,
    )


def draw_portrait(
    seen: Detections,
    models: Models,
    *,
    crop: Rect | None = None,
    level_deg: float = 0.0,
    failed: Sequence[Finding] = (),
    form: Form = "png",
) -> bytes:
    """Box, points, head axes and gaze of the subject, the planned crop and what failed.

    ``crop`` and the regions of ``failed`` are in pixels of the full image. ``level_deg`` is how
    far it will be turned counter-clockwise about the middle of the crop. Returns a PNG in the
    size of ``seen.rgb``, whose pixels are unchanged wherever nothing is drawn; or a JPEG, which
    is smaller. Images too small to hold words are enlarged by a whole factor.
    """
    canvas = Canvas(seen.rgb)
    corners = None if crop is None else _corners(_reduced(crop, seen.scale), level_deg)
    if corners is not None:
        canvas.dim_outside(corners, OUTSIDE)
    _draw_subject(canvas, seen, models)
    if corners is not None:
        canvas.outline(corners, CROP, weight=2)
    for region, words in _by_region(failed, seen):
        if region is not None:
            canvas.rectangle(region, FAILED, weight=2)
        for line in words:
            canvas.label(region or Rect(x=0, y=0, width=0, height=0), line, FAILED)
    if crop is not None:
        size = f"crop {crop.width:.0f} x {crop.height:.0f} px"
        turn = f", turned {level_deg:+.0f}°" if level_deg else ""
        canvas.label(_reduced(crop, seen.scale), size + turn, CROP)
    encoded, data = cv2.imencode(f".{form}", cv2.cvtColor(canvas.finished(), cv2.COLOR_RGB2BGR))
    if not encoded:
        raise RuntimeError(f"OpenCV could not encode a {form} in memory")
    return bytes(data)


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


def _by_region(
    failed: Sequence[Finding], seen: Detections
) -> list[tuple[Rect | None, tuple[str, ...]]]:
    """Findings of one region together, in pixels of the reduced image."""
    found: dict[Rect | None, list[str]] = {}
    for region, words in failed:
        found.setdefault(region, []).append(words)
    return [
        (None if region is None else _reduced(region, seen.scale), tuple(words))
        for region, words in found.items()
    ]


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

"""A picture with what was seen of it drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import cv2
import numpy as np

from palprep.values import Rect
from palprep.views.canvas import Canvas
from palprep.vision.analysis import Detections
from palprep.vision.arrays import Floats
from palprep.vision.facts import Eyes
from palprep.vision.landmark_indices import LEFT_IRIS, NOSE_TIP, RIGHT_IRIS
from palprep.vision.landmarks import Landmarks
from palprep.vision.models import Models
from palprep.vision.pose import fit_head, head_pose, measure_eyes

# Colours are red, green, blue; distinguishable with red-green blindness (Okabe and Ito 2008).
FACE, POINTS, CROP, FAILED = (0, 114, 178), (86, 180, 233), (0, 158, 115), (213, 94, 0)
AXES = ((230, 159, 0), (204, 121, 167), (0, 114, 178))
"""To the subject's left, up, and towards where the face looks."""
GAZE = (240, 228, 66)

Form = Literal["png", "jpg"]

OUTSIDE = 0.45
"""Brightness of what a crop leaves out."""

POINT = 1 / 260
"""Radius of a point in face heights: the points of the eyes stay apart."""

GAZE_LENGTH = 1.0
"""Length of an arrow from the iris, in face heights, if the eyes looked straight aside."""


class Finding(NamedTuple):
    """What failed: where in the full picture, None for nowhere, and in a few words."""

    region: Rect | None
    words: str


def overlay(
    sight: Detections,
    models: Models,
    *,
    crop: Rect | None = None,
    level_deg: float = 0.0,
    failed: Sequence[Finding] = (),
    form: Form = "png",
) -> bytes:
    """Rect, points, head axes and gaze of the subject, the planned crop and what failed.

    ``crop`` and the regions of ``failed`` are in pixels of the full picture, which is to be
    turned counter-clockwise by ``level_deg`` about the crop's middle. Returns a PNG in
    the size of ``sight.rgb``, whose pixels are as they were wherever nothing is drawn; or a
    JPEG, smaller. Pictures too small to hold words are enlarged by a whole factor.
    """
    canvas = Canvas(sight.rgb)
    corners = None if crop is None else _corners(_reduced(crop, sight.scale), level_deg)
    if corners is not None:
        canvas.dim_outside(corners, OUTSIDE)
    _draw_subject(canvas, sight, models)
    if corners is not None:
        canvas.outline(corners, CROP, weight=2)
    for region, words in _by_region(failed, sight):
        if region is not None:
            canvas.rectangle(region, FAILED, weight=2)
        for line in words:
            canvas.label(region or Rect(x=0, y=0, width=0, height=0), line, FAILED)
    if crop is not None:
        size = f"crop {crop.width:.0f} x {crop.height:.0f} px"
        turn = f", turned {level_deg:+.0f}°" if level_deg else ""
        canvas.label(_reduced(crop, sight.scale), size + turn, CROP)
    encoded, data = cv2.imencode(f".{form}", cv2.cvtColor(canvas.finished(), cv2.COLOR_RGB2BGR))
    if not encoded:
        raise RuntimeError(f"OpenCV could not encode a {form} in memory")
    return bytes(data)


def _draw_subject(canvas: Canvas, sight: Detections, models: Models) -> None:
    """The largest certain face, as far as it can be made out."""
    index = sight.subject
    if index is None:
        return
    box, marks = sight.box(index), sight.marks(index)
    canvas.rectangle(box, FACE)
    if marks is None:
        return
    canvas.dots(marks.points[:, :2], POINT * box.height, POINTS)
    fit = fit_head(marks, models.geometry)
    pose = head_pose(fit)
    eyes = measure_eyes(marks, fit, pose)
    nose = marks.points[NOSE_TIP, :2]
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
    """An arrow from either iris: none, but a dot, for eyes that look into the lens."""
    angles = np.radians([eyes.gaze_yaw_deg, -eyes.gaze_pitch_deg])
    direction: Floats = np.sin(angles) * GAZE_LENGTH * face_height
    for iris in (RIGHT_IRIS, LEFT_IRIS):
        start = marks.points[iris, :2]
        canvas.arrow(start, start + direction, GAZE)


def _by_region(
    failed: Sequence[Finding], sight: Detections
) -> list[tuple[Rect | None, tuple[str, ...]]]:
    """Findings of one region together, in pixels of the reduced picture."""
    found: dict[Rect | None, list[str]] = {}
    for region, words in failed:
        found.setdefault(region, []).append(words)
    return [
        (None if region is None else _reduced(region, sight.scale), tuple(words))
        for region, words in found.items()
    ]


def _corners(crop: Rect, level_deg: float) -> Floats:
    """Where the crop's corners are before the picture is turned."""
    turn = np.radians(level_deg)
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    middle = np.array([crop.x + crop.width / 2, crop.y + crop.height / 2])
    square = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    return np.asarray((square * [crop.width, crop.height]) @ rotation + middle)


def _reduced(box: Rect, scale: float) -> Rect:
    return Rect(
        x=box.x / scale, y=box.y / scale, width=box.width / scale, height=box.height / scale
    )

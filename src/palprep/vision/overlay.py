"""A picture with what was seen of it drawn in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import cv2
import numpy as np

from palprep.vision.arrays import Pixels
from palprep.vision.facts import Box
from palprep.vision.look import Sight
from palprep.vision.mesh import NOSE_TIP
from palprep.vision.models import Models
from palprep.vision.pose import fit_head

# Colours are red, green, blue; distinguishable with red-green blindness (Okabe and Ito 2008).
FACE, POINTS, CROP, FAILED = (0, 114, 178), (86, 180, 233), (0, 158, 115), (213, 94, 0)
AXES = ((213, 94, 0), (0, 158, 115), (0, 114, 178))
"""To the subject's left, up, and towards where the face looks."""

Form = Literal["png", "jpg"]

OUTSIDE = 0.45
"""Brightness of what a crop leaves out."""


def overlay(
    sight: Sight,
    models: Models,
    *,
    crop: Box | None = None,
    failed: Sequence[Box] = (),
    form: Form = "png",
) -> bytes:
    """Box, points and head axes of the subject, the planned crop and the regions that failed.

    ``crop`` and ``failed`` are in pixels of the full picture. Returns a PNG in the size of
    ``sight.rgb``, whose pixels are as they were wherever nothing is drawn; or a JPEG, smaller.
    """
    canvas = sight.rgb.copy()
    if crop is not None:
        canvas = _dimmed(canvas, _cells(crop, sight.scale))
    thick = max(1, round(max(canvas.shape[:2]) / 500))
    index = sight.subject
    if index is not None:
        x, y, width, height = sight.detections[index].box
        _rectangle(canvas, Box(x=x, y=y, width=width, height=height), 1.0, FACE, thick)
        _draw_points(canvas, sight, index, models, thick)
    if crop is not None:
        _rectangle(canvas, crop, sight.scale, CROP, thick * 2)
    for region in failed:
        _rectangle(canvas, region, sight.scale, FAILED, thick * 2)
    encoded, data = cv2.imencode(f".{form}", cv2.cvtColor(canvas, cv2.COLOR_RGB2BGR))
    if not encoded:
        raise RuntimeError(f"OpenCV could not encode a {form} in memory")
    return bytes(data)


def _draw_points(canvas: Pixels, sight: Sight, index: int, models: Models, thick: int) -> None:
    marks = sight.marks(index)
    if marks is None:
        return
    for x, y in marks.points[:, :2]:
        cv2.circle(canvas, (round(float(x)), round(float(y))), thick, POINTS, -1, cv2.LINE_AA)
    fit = fit_head(marks, models.geometry)
    nose = marks.points[NOSE_TIP, :2]
    length = 0.5 * sight.box(index).height
    for axis, colour in enumerate(AXES):
        direction = fit.rotation[:2, axis] * np.array([1, -1]) * length
        tip = nose + direction
        start, end = _pixel(nose[0], nose[1]), _pixel(tip[0], tip[1])
        cv2.arrowedLine(canvas, start, end, colour, thick * 2, cv2.LINE_AA, tipLength=0.15)


def _dimmed(rgb: Pixels, inside: tuple[slice, slice]) -> Pixels:
    dimmed = (rgb * OUTSIDE).astype(np.uint8)
    dimmed[inside] = rgb[inside]
    return dimmed


def _cells(box: Box, scale: float) -> tuple[slice, slice]:
    left, top = max(0, round(box.x / scale)), max(0, round(box.y / scale))
    right, bottom = round((box.x + box.width) / scale), round((box.y + box.height) / scale)
    return slice(top, max(top, bottom)), slice(left, max(left, right))


def _rectangle(
    canvas: Pixels, box: Box, scale: float, colour: tuple[int, int, int], thick: int
) -> None:
    start = _pixel(box.x / scale, box.y / scale)
    end = _pixel((box.x + box.width) / scale, (box.y + box.height) / scale)
    cv2.rectangle(canvas, start, end, colour, thick, cv2.LINE_AA)


def _pixel(x: float, y: float) -> tuple[int, int]:
    return round(float(x)), round(float(y))

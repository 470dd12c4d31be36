from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from palprep.fixes.image import adjust
from palprep.preflight import check
from palprep.rules.plans import Crop, ImagePlan
from palprep.values import Rect
from palprep.views.portrait import (
    CROP,
    FAILED,
    GAZE,
    OUTSIDE,
    Canvas,
    draw_portrait,
    portrait_overlay,
)
from palprep.vision import Detections, Models, detect_subject


def test_crop_and_failed_region_are_drawn_where_they_are(sight: Detections, models: Models) -> None:
    crop = Rect(x=60, y=40, width=400, height=500)
    region = Rect(x=200, y=200, width=50, height=60)
    shown = np.asarray(draw_portrait(sight, models, crop=crop, failed=[("too dark", region)]))
    assert shown.shape == sight.rgb.shape
    assert tuple(shown[300, 60]) == CROP
    assert tuple(shown[230, 200]) == FAILED
    outside = sight.rgb[5, 5] * OUTSIDE
    np.testing.assert_allclose(shown[5, 5], outside, atol=1)


def test_without_findings_only_the_face_is_drawn(sight: Detections, models: Models) -> None:
    shown = np.asarray(draw_portrait(sight, models))
    changed = (shown != sight.rgb).any(axis=2)
    index = sight.subject
    assert index is not None
    box = sight.box(index)
    rows = np.flatnonzero(changed.any(axis=1))
    assert box.y - 0.3 * box.height < rows[0]
    assert rows[-1] < box.y + 1.3 * box.height


def test_words_stand_apart_and_inside_of_any_picture() -> None:
    """Three labels on one spot of a tiny picture: all readable, none over another."""
    canvas = Canvas(np.full((60, 40, 3), 128, np.uint8))
    box = Rect(x=30, y=0, width=8, height=8)
    colours = ((200, 0, 0), (0, 0, 200), (0, 120, 0))
    for colour in colours:
        canvas.label(box, "a label that is wider than the picture", colour)
    shown = np.asarray(canvas.finished())
    assert shown.shape == (480, 320, 3)
    rows = [np.flatnonzero((shown == colour).all(axis=2).any(axis=1)) for colour in colours]
    heights = [len(each) for each in rows]
    assert min(heights) >= 13
    assert sum(heights) == len(set(np.concatenate(rows).tolist()))


def test_what_fails_nowhere_is_said_in_the_corner(models: Models) -> None:
    sight = detect_subject(np.full((600, 800, 3), 90, np.uint8), models)
    shown = np.asarray(draw_portrait(sight, models, failed=[("no face was found", None)]))
    painted = (shown == FAILED).all(axis=2)
    rows, columns = painted.any(axis=1), painted.any(axis=0)
    assert painted.any()
    assert np.flatnonzero(rows).max() < 60
    assert columns[:10].any()


def test_eyes_to_the_side_get_arrows(sight: Detections, models: Models) -> None:
    def yellow(seen: Detections) -> int:
        return int((np.asarray(draw_portrait(seen, models)) == GAZE).all(axis=2).sum())

    marks = sight.landmarks[0]
    aside = {**marks.shapes, "eyeLookOutLeft": 1.0, "eyeLookInRight": 1.0}
    turned = replace(sight, landmarks=(replace(marks, shapes=aside), *sight.landmarks[1:]))
    assert yellow(turned) > 1.3 * yellow(sight)


def test_a_turned_crop_is_drawn_as_the_fix_cuts_it(sight: Detections, models: Models) -> None:
    """What the drawing leaves bright is what the turned crop shows."""
    height, width = sight.rgb.shape[:2]
    crop = Crop(left=width // 4, top=height // 4, width=width // 2, height=height // 3)
    box = Rect(x=crop.left, y=crop.top, width=crop.width, height=crop.height)
    flat = replace(sight, rgb=np.full_like(sight.rgb, 200), detections=(), landmarks=())
    shown = np.asarray(draw_portrait(flat, models, crop=box, level_deg=11))
    plan = ImagePlan(reasons=(), level_deg=11, crop=crop, max_base64_chars=1)
    cut = np.asarray(adjust(Image.fromarray(shown), plan)).astype(int)
    inner = cut[60:-60, 60:-60]
    np.testing.assert_allclose(inner, 200, atol=1)
    border = cut[crop.height // 2, :3]
    np.testing.assert_allclose(border, np.broadcast_to(CROP, border.shape), atol=60)


def test_findings_are_drawn_for_portraits_only(
    tmp_path: Path, sample_media: Path, models: Models
) -> None:
    nobody = tmp_path / "nobody.png"
    Image.new("RGB", (640, 480), "grey").save(nobody)
    drawn = portrait_overlay(check(nobody), models)
    assert drawn is not None
    sound = sample_media / "people" / "jane-carter" / "recording.m4a"
    assert portrait_overlay(check(sound, quick=True), models) is None

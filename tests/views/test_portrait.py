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
    height, width = sight.rgb.shape[:2]
    assert shown.shape[0] > height
    assert shown.shape[1] == width
    assert tuple(shown[300, 60]) == CROP
    assert tuple(shown[230, 200]) == FAILED
    outside = sight.rgb[5, 5] * OUTSIDE
    np.testing.assert_allclose(shown[5, 5], outside, atol=1)


def test_without_findings_only_the_face_is_drawn(sight: Detections, models: Models) -> None:
    shown = np.asarray(draw_portrait(sight, models))
    changed = (shown[: len(sight.rgb)] != sight.rgb).any(axis=2)
    index = sight.subject
    assert index is not None
    box = sight.box(index)
    rows = np.flatnonzero(changed.any(axis=1))
    assert box.y - 0.3 * box.height < rows[0]
    assert rows[-1] < box.y + 1.3 * box.height


def test_words_stand_below_any_picture_beside_their_colours() -> None:
    """Three sentences about a tiny picture, each longer than a line: all below it, and readable."""
    picture = np.full((60, 40, 3), 128, np.uint8)
    canvas = Canvas(picture)
    colours = ((200, 0, 0), (0, 0, 200), (0, 120, 0))
    for colour in colours:
        canvas.say("a sentence that is much longer than a line below so small a picture is", colour)
    shown = np.asarray(canvas.finished())
    assert (shown[:60, :40] == picture).all()
    rows = [np.flatnonzero((shown == colour).all(axis=2).any(axis=1)) for colour in colours]
    assert rows[0][0] == 60
    assert min(len(each) for each in rows) >= 2 * 13
    assert sum(map(len, rows)) == len(set(np.concatenate(rows).tolist())) == len(shown) - 60
    ink = (shown[60:, 20:] < 60).all(axis=2)
    assert ink.any()
    assert not ink[:, -2:].any()


def test_what_fails_nowhere_is_said_below(models: Models) -> None:
    sight = detect_subject(np.full((600, 800, 3), 90, np.uint8), models)
    shown = np.asarray(draw_portrait(sight, models, failed=[("no face was found", None)]))
    painted = (shown == FAILED).all(axis=2)
    assert not painted[:600].any()
    assert painted[600:, :10].any()


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
    cut = np.asarray(adjust(Image.fromarray(shown[:height]), plan)).astype(int)
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

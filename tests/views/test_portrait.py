from __future__ import annotations

import html
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from palprep.fixes.image import adjust
from palprep.preflight import check
from palprep.rules.plans import Crop, ImagePlan
from palprep.values import Rect
from palprep.views.drawings.portrait import (
    CROP,
    FACE,
    FAILED,
    GAZE,
    LEAST_WIDTH,
    POINTS,
    draw_portrait,
    portrait_overlay,
)
from palprep.vision import Detections, Models, detect_subject
from tests.support.drawn import boxes, elements, paths, pictures, points


def test_crop_and_failed_region_are_drawn_where_they_are(sight: Detections) -> None:
    crop = Rect(x=60, y=40, width=400, height=500)
    region = Rect(x=200, y=200, width=50, height=60)
    shown = draw_portrait(sight, crop=crop, failed=[("too dark", region)])
    height, width = sight.rgb.shape[:2]
    [(left, wide, pixels)] = pictures(shown)
    assert (left, wide) == (0, width)
    assert pixels.shape == sight.rgb.shape
    [outline], [failed] = paths(shown, CROP), paths(shown, FAILED)
    assert points(outline).tolist() == [[60, 40], [460, 40], [460, 540], [60, 540]]
    assert points(failed).tolist() == [[200, 200], [250, 200], [250, 260], [200, 260]]
    [outside] = elements(shown, "path", **{"fill-rule": "evenodd"})
    assert outside["d"] == f"M0 0H{width}V{height}H0Z{outline}"
    assert [each["text"] for each in elements(shown, "text")][1:] == [
        "crop 400 x 500 px",
        "too dark",
    ]


def test_without_findings_only_the_face_is_drawn(sight: Detections) -> None:
    shown = draw_portrait(sight)
    assert sight.subject is not None
    box = sight.box(sight.subject)
    [outline], [dots] = paths(shown, FACE)[:1], paths(shown, POINTS)
    assert points(outline)[0] == pytest.approx([box.x, box.y], abs=0.1)
    assert len(points(dots)) == 478
    assert points(dots)[:468].min(axis=0)[1] >= box.y - 0.1
    ways = [way["d"] for way in elements(shown, "path")]
    down = np.concatenate([points(way)[:, 1] for way in ways])
    assert box.y - 0.3 * box.height < down.min()
    assert down.max() < box.y + 1.3 * box.height


def test_words_stand_below_any_picture_beside_their_colours(models: Models) -> None:
    """Three sentences about a tiny picture, each longer than a line: all below it, and readable."""
    tiny = detect_subject(np.full((60, 40, 3), 128, np.uint8), models)
    said = "a sentence that is much longer than a line below so small a <picture> & is"
    shown = draw_portrait(tiny, failed=[(said, None)] * 3)
    patches = boxes(shown, FAILED)
    assert patches[0][1] == 60
    assert all(bottom - top >= 2 * 13 for _, top, _, bottom in patches)
    assert all(one[3] < other[1] for one, other in pairwise(patches))
    lines = elements(shown, "text")
    assert " ".join(each["text"] for each in lines) == " ".join([said] * 3)
    assert all(60 < float(each["y"]) < patches[-1][3] for each in lines)
    assert all(float(each["x"]) >= patches[0][2] for each in lines)
    # Wide letters are 0.58 of their size.
    assert all(
        float(each["x"]) + 0.58 * float(each["font-size"]) * len(each["text"]) < LEAST_WIDTH
        for each in lines
    )


def test_what_fails_nowhere_is_said_below(models: Models) -> None:
    sight = detect_subject(np.full((600, 800, 3), 90, np.uint8), models)
    shown = draw_portrait(sight, failed=[("no face\x1b was found", None)])
    assert not elements(shown, "path")
    [(left, top, _, _)] = boxes(shown, FAILED)
    assert (left, top) == (0, 600)
    [words] = elements(shown, "text")
    assert words["text"] == "no face\\x1b was found"


def test_eyes_to_the_side_get_arrows(sight: Detections) -> None:
    def reach(seen: Detections) -> float:
        shafts = [points(way)[:2] for way in paths(draw_portrait(seen), GAZE)]
        return min(float(np.hypot(*(end - start))) for start, end in shafts)

    marks = sight.landmarks[0]
    aside = {**marks.shapes, "eyeLookOutLeft": 1.0, "eyeLookInRight": 1.0}
    turned = replace(sight, landmarks=(replace(marks, shapes=aside), *sight.landmarks[1:]))
    assert reach(turned) > 1.3 * reach(sight)


def test_a_turned_crop_is_drawn_as_the_fix_cuts_it(sight: Detections) -> None:
    """What the drawing leaves bright is what the turned crop shows."""
    height, width = sight.rgb.shape[:2]
    crop = Crop(left=width // 4, top=height // 4, width=width // 2, height=height // 3)
    box = Rect(x=crop.left, y=crop.top, width=crop.width, height=crop.height)
    flat = replace(sight, detections=(), landmarks=())
    [outline] = paths(draw_portrait(flat, crop=box, level_deg=11), CROP)
    bright = Image.new("RGB", (width, height), "black")
    ImageDraw.Draw(bright).polygon([tuple(corner) for corner in points(outline)], "white")
    plan = ImagePlan(reasons=(), level_deg=11, crop=crop, max_base64_chars=1)
    assert (np.asarray(adjust(bright, plan))[3:-3, 3:-3] > 250).all()
    wider = plan.model_copy(
        update={
            "crop": Crop(
                left=crop.left - 8, top=crop.top - 8, width=crop.width + 16, height=crop.height + 16
            )
        }
    )
    rim = np.asarray(adjust(bright, wider))
    assert (rim[[2, -3]] < 5).all()
    assert (rim[:, [2, -3]] < 5).all()


def test_findings_are_drawn_for_portraits_only(tmp_path: Path, sample_media: Path) -> None:
    nobody = tmp_path / "nobody.png"
    Image.new("RGB", (640, 480), "grey").save(nobody)
    report = check(nobody)
    drawn = portrait_overlay(report, side=320)
    assert drawn is not None
    assert [wide for _, wide, _ in pictures(drawn)] == [320]
    sentences = html.unescape(" ".join(each["text"] for each in elements(drawn, "text")))
    assert all(check.sentence in sentences for check in report.told("fail"))
    sound = sample_media / "people" / "jane-carter" / "recording.m4a"
    assert portrait_overlay(check(sound, quick=True), side=320) is None

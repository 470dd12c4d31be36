from __future__ import annotations

import cv2
import numpy as np
import pytest

from palprep.values import Rect
from palprep.vision.analysis import Detections
from palprep.vision.arrays import Pixels
from palprep.vision.facts import PortraitFacts, Quality
from palprep.vision.quality import measure_quality
from palprep.vision.scores import STEPS, overall_score, quality_scores


def measured(sight: Detections, rgb: Pixels) -> Quality:
    index = sight.subject
    assert index is not None
    return measure_quality(np.asarray(rgb, np.uint8), sight.box(index), sight.marks(index), 1.0)


def test_blur_is_less_sharp_at_any_strength(sight: Detections) -> None:
    blurred = [cv2.GaussianBlur(sight.rgb, (0, 0), sigma) for sigma in (2, 4, 8)]
    found = [measured(sight, rgb).sharpness for rgb in (sight.rgb, *blurred)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < STEPS["sharpness"][1].half < found[0]


def test_light_and_colour_are_told_apart(sight: Detections) -> None:
    plain = measured(sight, sight.rgb)
    dark = measured(sight, (sight.rgb * 0.2).astype(np.uint8))
    gray = measured(sight, np.repeat(sight.rgb.mean(axis=2, keepdims=True), 3, axis=2))
    assert dark.brightness < 0.3 < plain.brightness
    assert gray.chroma < 1 < plain.chroma
    assert quality_scores(dark)["too dark"] < 50 < quality_scores(plain)["too dark"]
    assert quality_scores(gray)["no colour"] < 50 < quality_scores(plain)["no colour"]


def test_light_from_one_side_is_uneven(sight: Detections) -> None:
    index = sight.subject
    assert index is not None
    box = sight.box(index)
    lit = sight.rgb.copy()
    middle = int(box.x + box.width / 2)
    lit[:, middle:] = lit[:, middle:] // 4
    plain, uneven = measured(sight, sight.rgb).evenness, measured(sight, lit).evenness
    assert plain is not None
    assert uneven is not None
    assert uneven < 0.16 < plain


@pytest.mark.parametrize("sigma", [3.0, 8.0])
def test_noise_is_measured_in_levels(sigma: float) -> None:
    rng = np.random.default_rng(0)
    flat = np.clip(128 + rng.normal(0, sigma, (400, 400, 1)), 0, 255).repeat(3, axis=2)
    box = Rect(x=0, y=0, width=400, height=400)
    assert measure_quality(flat.astype(np.uint8), box, None, 1.0).noise == pytest.approx(
        sigma, rel=0.1
    )


def test_jpeg_blocks_show_only_where_the_grid_is_known(sight: Detections) -> None:
    _, data = cv2.imencode(".jpg", sight.rgb, [cv2.IMWRITE_JPEG_QUALITY, 8])
    blocky = np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
    plain, worse = measured(sight, sight.rgb).blocking, measured(sight, blocky).blocking
    assert plain is not None
    assert worse is not None
    assert worse > plain + 0.3


def test_every_score_is_fifty_at_its_limit(picture: PortraitFacts) -> None:
    for name, (measure, step) in STEPS.items():
        at_limit = picture.quality.model_copy(update={measure: step.half})
        assert quality_scores(at_limit)[name] == pytest.approx(50)


def test_scores_leave_out_what_was_not_measured(picture: PortraitFacts) -> None:
    without = picture.quality.model_copy(update={"blocking": None, "evenness": None})
    assert "JPEG blocks" not in quality_scores(without)
    extreme = picture.quality.model_copy(update={"face_px": 1e9, "noise": 1e9})
    assert all(0 <= score <= 100 for score in quality_scores(extreme).values())


def test_colours_pushed_by_a_filter_are_vivid(sight: Detections) -> None:
    hsv = cv2.cvtColor(sight.rgb, cv2.COLOR_RGB2HSV).astype(np.float32)
    hsv[..., 1] = np.clip(hsv[..., 1] * 4, 0, 255)
    pushed = measured(sight, cv2.cvtColor(hsv.astype(np.uint8), cv2.COLOR_HSV2RGB))
    plain = measured(sight, sight.rgb)
    assert plain.vivid_chroma is not None
    assert pushed.vivid_chroma is not None
    assert plain.skin_chroma is not None
    assert plain.skin_chroma < plain.vivid_chroma < 60
    assert pushed.vivid_chroma > STEPS["unnatural skin colour"][1].half


def test_the_overall_score_is_at_most_the_worst(picture: PortraitFacts) -> None:
    scores = quality_scores(picture.quality)
    assert 73 < overall_score(scores) <= min(scores.values())
    assert overall_score({"sharpness": 70, "contrast": 70}) == pytest.approx(49)

from __future__ import annotations

import itertools
from collections.abc import Callable

import cv2
import numpy as np
import pytest

from palprep.media.images import LINEAR, to_srgb
from palprep.values import Rect
from palprep.vision.analysis import Detections
from palprep.vision.arrays import Pixels, resized
from palprep.vision.facts import STEPS, PortraitFacts, Quality, overall_score
from palprep.vision.quality import measure_quality


def measured(sight: Detections, rgb: Pixels) -> Quality:
    index = sight.subject
    assert index is not None
    return measure_quality(np.asarray(rgb, np.uint8), sight.box(index), sight.marks(index), 1.0)


def blurred(rgb: Pixels, sigma: float) -> Pixels:
    return np.asarray(cv2.GaussianBlur(rgb, (0, 0), sigma), np.uint8)


def shaken(rgb: Pixels, length: float) -> Pixels:
    return np.asarray(cv2.blur(rgb, (int(length), 1)), np.uint8)


def noisy(rgb: Pixels, levels: float) -> Pixels:
    noise = np.random.default_rng(0).normal(0, levels, rgb.shape)
    return np.clip(rgb + noise, 0, 255).astype(np.uint8)


def compressed(rgb: Pixels, loss: float) -> Pixels:
    _, data = cv2.imencode(".jpg", rgb, [cv2.IMWRITE_JPEG_QUALITY, int(100 - loss)])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def enlarged(rgb: Pixels, times: float) -> Pixels:
    height, width = rgb.shape[:2]
    small = resized(rgb, round(width / times), round(height / times))
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def darkened(rgb: Pixels, stops: float) -> Pixels:
    return to_srgb(LINEAR[rgb] * np.float32(2.0**-stops))


def brightened(rgb: Pixels, stops: float) -> Pixels:
    return to_srgb(LINEAR[rgb] * np.float32(2.0**stops))


@pytest.mark.parametrize(
    ("worsened", "strengths"),
    [
        (blurred, (1, 2, 4, 8)),
        (shaken, (7, 15, 25, 41)),
        (noisy, (4, 8, 16, 32)),
        (compressed, (40, 75, 88, 94)),
        (enlarged, (2, 4, 6, 9)),
        (darkened, (1, 2, 3, 4)),
        (brightened, (0.7, 1.4, 2, 3)),
    ],
)
def test_the_score_falls_with_every_step_that_a_portrait_gets_worse(
    sight: Detections,
    worsened: Callable[[Pixels, float], Pixels],
    strengths: tuple[float, ...],
) -> None:
    pictures = [sight.rgb, *(worsened(sight.rgb, strength) for strength in strengths)]
    scores = [overall_score(measured(sight, rgb).scores) for rgb in pictures]
    assert scores[0] > 73
    assert scores[-1] < 50
    # Measures are counted in whole pixels and levels: half a point is no better.
    assert all(worse <= better + 0.5 for better, worse in itertools.pairwise(scores))


def test_black_and_white_is_no_defect(sight: Detections) -> None:
    gray = measured(sight, np.repeat(sight.rgb.mean(axis=2, keepdims=True), 3, axis=2))
    assert gray.vivid_chroma is not None
    assert gray.vivid_chroma < 1
    assert overall_score(gray.scores) > 73


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
    moved = np.roll(blocky, (-3, -5), axis=(0, 1))
    assert measured(sight, moved).blocking == pytest.approx(worse, rel=0.1)
    assert plain is not None
    assert worse is not None
    assert worse > plain + 0.3


def test_every_score_is_fifty_at_its_limit(picture: PortraitFacts) -> None:
    for name, (measure, half, _) in STEPS.items():
        at_limit = picture.quality.model_copy(update={measure: half})
        assert at_limit.scores[name] == pytest.approx(50)


def test_scores_leave_out_what_was_not_measured(picture: PortraitFacts) -> None:
    without = picture.quality.model_copy(update={"blocking": None, "vivid_chroma": None})
    assert "JPEG blocks" not in without.scores
    extreme = picture.quality.model_copy(update={"face_px": 1e9, "noise": 1e9})
    assert all(0 <= score <= 100 for score in extreme.scores.values())


def test_colours_pushed_by_a_filter_are_vivid(sight: Detections) -> None:
    hsv = cv2.cvtColor(sight.rgb, cv2.COLOR_RGB2HSV).astype(np.float32)
    hsv[..., 1] = np.clip(hsv[..., 1] * 4, 0, 255)
    pushed = measured(sight, cv2.cvtColor(hsv.astype(np.uint8), cv2.COLOR_HSV2RGB))
    plain = measured(sight, sight.rgb)
    assert plain.vivid_chroma is not None
    assert pushed.vivid_chroma is not None
    assert plain.skin_chroma is not None
    assert plain.skin_chroma < plain.vivid_chroma < 60
    assert pushed.vivid_chroma > STEPS["unnatural skin colour"][1]


def test_the_overall_score_is_at_most_the_worst(picture: PortraitFacts) -> None:
    scores = picture.quality.scores
    assert 73 < overall_score(scores) <= min(scores.values())
    assert overall_score({"sharpness": 70, "contrast": 70}) == pytest.approx(49)

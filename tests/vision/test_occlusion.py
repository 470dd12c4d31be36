"""Whether something covers the face."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from palprep.vision.analysis import Detections, analyse_portrait
from palprep.vision.arrays import Floats, Pixels
from palprep.vision.facts import PortraitFacts, Visibility
from palprep.vision.landmarks import FACE_OVAL
from palprep.vision.models import Models
from palprep.vision.scene import measure_visibility

LOWER_FACE = (234, 93, 132, 58, 172, 136, 150, 149, 176, 148, 152, 377, 400, 378, 379)
LOWER_FACE = (*LOWER_FACE, 365, 397, 288, 361, 323, 454, 346, 197, 117)
GLASSES = ((70, 105, 107, 193, 47, 101, 111), (300, 334, 336, 417, 277, 330, 340))


def with_filled(sight: Detections, outlines: list[Floats], colour: tuple[int, int, int]) -> Pixels:
    rgb = sight.rgb.copy()
    for outline in outlines:
        cv2.fillPoly(rgb, [outline.astype(np.int32)], colour, cv2.LINE_AA)
    return rgb


def outline(sight: Detections, indices: tuple[int, ...]) -> Floats:
    assert sight.subject is not None
    marks = sight.marks(sight.subject)
    assert marks is not None
    return marks.at(*indices)


def visibility(rgb: Pixels, models: Models) -> Visibility:
    subject = analyse_portrait(rgb, models).subject
    assert subject is not None
    return subject.visibility


def test_a_bare_face_is_bare(picture: PortraitFacts) -> None:
    assert picture.subject is not None
    assert picture.subject.visibility.whole > 0.85


def test_a_mask_covers_nose_and_mouth(sight: Detections, models: Models) -> None:
    masked = with_filled(sight, [outline(sight, LOWER_FACE)], (170, 205, 225))
    seen = visibility(masked, models)
    assert seen.whole < 0.5
    assert seen.mouth < 0.5 < seen.eyes


def test_dark_glasses_cover_the_eyes(sight: Detections, models: Models) -> None:
    lenses = [outline(sight, lens) for lens in GLASSES]
    seen = visibility(with_filled(sight, lenses, (20, 20, 24)), models)
    assert seen.eyes < 0.5 < seen.mouth


def test_grey_pictures_and_dark_ones_are_bare_as_well(sight: Detections, models: Models) -> None:
    gray = np.repeat(sight.rgb.mean(2, keepdims=True), 3, axis=2).astype(np.uint8)
    dark = (sight.rgb * 0.4).astype(np.uint8)
    assert visibility(gray, models).whole > 0.6
    assert visibility(dark, models).whole > 0.6


def test_a_hard_shadow_over_half_of_the_face_covers_nothing(
    sight: Detections, models: Models
) -> None:
    oval = outline(sight, FACE_OVAL)
    shaded = sight.rgb.copy()
    shaded[:, int(oval[:, 0].mean()) :] = shaded[:, int(oval[:, 0].mean()) :] // 3
    assert visibility(shaded, models).whole > 0.6


@pytest.mark.parametrize("part", ["eyes", "nose", "mouth"])
def test_the_most_covered_part_is_named(part: str) -> None:
    bare = Visibility(whole=0.9, eyes=0.9, nose=0.8, mouth=0.9)
    seen = bare.model_copy(update={part: 0.2, "whole": 0.1})
    assert bare.most_covered == "whole"
    assert seen.most_covered == part


def test_there_is_a_model_for_the_face_and_each_of_its_parts(models: Models) -> None:
    assert [*models.covering] == [*Visibility.model_fields]
    seen = measure_visibility(np.zeros((192, 7, 7), np.float32), models.covering)
    assert all(0 <= value <= 1 for value in seen.model_dump().values())

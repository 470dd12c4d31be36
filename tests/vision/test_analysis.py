from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from palprep.vision import analysis
from palprep.vision.analysis import Detections, analyse_image, analyse_portrait
from palprep.vision.arrays import Pixels, shrunk
from palprep.vision.facts import PortraitFacts
from palprep.vision.models import Models


def test_the_portrait_is_what_it_is(picture: PortraitFacts) -> None:
    assert picture.people == 1
    subject, framing = picture.subject, picture.framing
    assert subject is not None
    assert framing is not None
    assert abs(subject.pose.yaw_deg) < 15
    assert subject.eyes.gaze_off_deg < 8
    assert subject.eyes.openness > 0.6
    assert subject.visibility.whole > 0.65
    assert subject.human > 0.65
    assert subject.adult > 0.9
    assert framing.margin > 0


def test_facts_are_small_plain_and_come_back(picture: PortraitFacts) -> None:
    text = picture.model_dump_json()
    assert len(text) < 6000
    assert PortraitFacts.model_validate(json.loads(text)) == picture


def test_a_mirror_turns_yaw_and_place_around(
    portrait: Pixels, picture: PortraitFacts, models: Models
) -> None:
    mirrored = analyse_portrait(np.ascontiguousarray(portrait[:, ::-1]), models)
    assert mirrored.subject is not None
    assert mirrored.framing is not None
    assert picture.subject is not None
    assert picture.framing is not None
    assert mirrored.subject.pose.yaw_deg == pytest.approx(-picture.subject.pose.yaw_deg, abs=3)
    assert mirrored.subject.pose.roll_deg == pytest.approx(-picture.subject.pose.roll_deg, abs=2)
    assert mirrored.framing.centre_x == pytest.approx(1 - picture.framing.centre_x, abs=0.02)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_an_image_that_is_not_upright_is_measured_as_it_is_turned(
    portrait: Pixels, models: Models, quarters: int
) -> None:
    wide = portrait[: portrait.shape[0] * 3 // 4]
    upright = analyse_image(wide, models)
    assert upright.subject is not None
    assert upright.subject.turned_deg == 0
    lying = np.ascontiguousarray(np.rot90(wide, quarters))
    found = analyse_image(lying, models)
    assert found.subject == upright.subject.model_copy(update={"turned_deg": 90 * quarters})
    assert (found.framing, found.quality) == (upright.framing, upright.quality)
    assert (found.width, found.height) == (upright.width, upright.height)


def test_what_shows_no_face_is_not_turned(models: Models) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (300, 400, 3), np.uint8)
    assert analyse_image(noise, models) == analyse_portrait(noise, models)


def test_a_larger_false_alarm_does_not_lend_the_subject_its_looks(
    portrait: Pixels,
    sight: Detections,
    picture: PortraitFacts,
    models: Models,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    face, marks = sight.detections[0], sight.landmarks[0]
    alarm = replace(face, box=(0.0, 0.0, 900.0, 900.0), points=face.points / 4, score=0.7)
    points = {id(alarm): replace(marks, presence=0.01), id(face): marks}
    monkeypatch.setattr(analysis, "find_faces", lambda *_: (alarm, face))
    monkeypatch.setattr(analysis, "find_landmarks", lambda _, each, __: points[id(each)])
    found = analyse_portrait(portrait, models)
    assert found.subject is not None
    assert picture.subject is not None
    assert found.subject.human == picture.subject.human
    assert found.subject.adult == picture.subject.adult


def test_full_size_counts_not_the_decoded_one(
    portrait: Pixels, picture: PortraitFacts, models: Models
) -> None:
    half = shrunk(portrait, 0.5)
    found = analyse_portrait(half, models, size=(picture.width, picture.height))
    assert found.framing is not None
    assert picture.framing is not None
    assert found.width == picture.width
    assert found.framing.face.height == pytest.approx(picture.framing.face.height, rel=0.05)
    assert found.quality.blocking is None


def test_two_of_them_are_two_people(portrait: Pixels, models: Models) -> None:
    both = np.concatenate([portrait, portrait[:, ::-1]], axis=1)
    found = analyse_portrait(both, models)
    assert found.people == 2
    subject = found.subject
    assert subject is not None
    likely = [face.adult for face in found.faces if face.adult is not None]
    assert likely == [pytest.approx(subject.adult, abs=0.1)]


def test_passers_by_are_not_asked_their_age(portrait: Pixels, models: Models) -> None:
    small = shrunk(portrait, 0.2)
    with_one = portrait.copy()
    with_one[: small.shape[0], : small.shape[1]] = small
    found = analyse_portrait(with_one, models)
    assert len(found.faces) == 2
    assert all(face.adult is None for face in found.faces)


def test_a_mask_is_seen(portrait: Pixels, picture: PortraitFacts, models: Models) -> None:
    assert picture.framing is not None
    face = picture.framing.face
    covered = portrait.copy()
    top, bottom = int(face.y + 0.5 * face.height), int(face.y + 1.05 * face.height)
    covered[top:bottom, int(face.x) : int(face.x + face.width)] = (70, 130, 200)
    found = analyse_portrait(covered, models)
    assert found.framing is not None
    assert found.subject is None or found.subject.visibility.whole < 0.5


def test_a_cut_head_is_cut(portrait: Pixels, picture: PortraitFacts, models: Models) -> None:
    assert picture.framing is not None
    top = int(picture.framing.face.y + 0.1 * picture.framing.face.height)
    found = analyse_portrait(np.ascontiguousarray(portrait[top:]), models)
    assert found.framing is not None
    assert found.framing.margin_top < 0


@pytest.mark.parametrize("shape", [(1, 1), (3, 400), (700, 2), (64, 64)])
def test_any_size_of_nothing_is_looked_at(shape: tuple[int, int], models: Models) -> None:
    found = analyse_portrait(np.full((*shape, 3), 128, np.uint8), models)
    assert found.people == 0
    assert found.subject is None
    assert found.framing is None


def test_noise_is_nobody(models: Models) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (480, 640, 3)).astype(np.uint8)
    found = analyse_portrait(noise, models)
    assert found.subject is None
    assert found.quality.noise > 20

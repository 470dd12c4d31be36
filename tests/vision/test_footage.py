"""A portrait moved by the test stands in for a video: its motion is known exactly."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from portraits import FLAWLESS

from palprep.media.images import SampledFrame, open_image
from palprep.media.sources import Source
from palprep.vision import footage
from palprep.vision.analysis import analyse_portrait
from palprep.vision.arrays import turned
from palprep.vision.facts import FootageFacts, FrameSample, PortraitFacts
from palprep.vision.footage import CLOSE_LOOKS, analyse_footage
from palprep.vision.models import Models

PORTRAIT = Path(__file__).parents[2] / "sample_media/people/jane-carter/portrait.heic"


@pytest.fixture(scope="module")
def models():
    return Models()


@pytest.fixture(scope="module")
def portrait():
    return np.asarray(open_image(Source.of(PORTRAIT))[1])


def similarities(facts):
    """To the face most like all others, where they were compared."""
    return [each.similarity for each in facts.samples if each.similarity is not None]


def test_the_eyes_of_a_photograph_before_a_moving_camera_stay_open(models, portrait):
    height, width = portrait.shape[:2]
    frames = []
    for index in range(12):
        lean = np.sin(index / 2)
        plane = np.array(
            [[1 + 0.02 * lean, 0.03 * lean, -5], [0, 1, 8 * lean], [0.1 * lean / width, 0, 1]]
        )
        seen = cv2.warpPerspective(portrait, plane, (width, height))
        frames.append(SampledFrame(0.08 * index, np.asarray(seen)))
    track = footage.follow_face(frames, models)
    assert track.shape.shape == (12, footage.SHAPE)
    assert np.ptp(track.eyes) < 0.04
    assert track.eyes.mean() == pytest.approx(0.33, abs=0.08)


def test_a_face_is_followed_and_stays_the_same_person(models, portrait):
    frames = [SampledFrame(1.5 * index, np.roll(portrait, 4 * index, axis=1)) for index in range(6)]
    facts = analyse_footage(frames, models, every_s=1.5, count=6)
    assert [sample.at_s for sample in facts.samples] == [0.0, 1.5, 3.0, 4.5, 6.0, 7.5]
    assert all(sample.people == 1 for sample in facts.samples)
    steps = np.diff([sample.centre_x for sample in facts.samples])
    assert steps == pytest.approx(4 / portrait.shape[1], abs=0.003)
    assert min(similarities(facts)) > 0.9
    assert max(motion for _, motion in facts.mouth_motion()) < 0.05
    assert len(facts.looks) == CLOSE_LOOKS
    assert facts.typical().people == 1


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_video_that_is_not_upright_is_measured_as_it_is_turned(models, portrait, degrees):
    frames = [SampledFrame(1.0 * index, np.roll(portrait, 4 * index, axis=1)) for index in range(4)]
    upright = analyse_footage(frames, models, every_s=1.0, count=4, close_looks=1)
    lying = [each._replace(rgb=turned(each.rgb, -degrees)) for each in frames]
    facts = analyse_footage(lying, models, every_s=1.0, count=4, close_looks=1)
    assert facts == upright.model_copy(update={"turned_deg": degrees})
    assert facts.typical().subject.turned_deg == degrees


def test_one_face_that_is_not_upright_turns_no_video(models, portrait):
    empty = np.full_like(portrait, 90)
    frames = [SampledFrame(0.0, turned(portrait, 180)), *(SampledFrame(x, empty) for x in (1, 2))]
    assert analyse_footage(frames, models, every_s=1.0, count=3).turned_deg == 0


def test_what_one_frame_errs_in_does_not_decide():
    def look(turn: float, **errs) -> PortraitFacts:
        subject = FLAWLESS.subject
        roll, whole, human = errs.get("roll", 1), errs.get("whole", 0.97), errs.get("human", 0.93)
        changed = {
            "pose": subject.pose.model_copy(update={"yaw_deg": turn, "roll_deg": roll}),
            "adult": errs.get("adult", 0.97),
            "visibility": subject.visibility.model_copy(update={"whole": whole}),
            "human": human,
        }
        changed = {"subject": subject.model_copy(update=changed), "nudity": errs.get("nudity", 0.0)}
        light = {"brightness": errs.get("light", 0.6), "peak": errs.get("light", 0.8)}
        changed["quality"] = FLAWLESS.quality.model_copy(update=light)
        return FLAWLESS.model_copy(update=changed)

    wrong = look(0.0, roll=30, whole=0.1, human=0.1, adult=0.1, nudity=0.99, light=0.1)
    once = FootageFacts(every_s=1, samples=(), looks=(*map(look, (5, 6, 7, 8)), wrong))
    shown = once.typical()
    assert shown.subject.pose.yaw_deg == 0
    assert (shown.subject.pose.roll_deg, shown.subject.adult) == (1, 0.97)
    assert (shown.subject.visibility.whole, shown.subject.human) == (0.97, 0.93)
    assert (shown.quality.brightness, shown.quality.peak) == (0.6, 0.8)
    assert once.nudity == 0
    often = once.model_copy(update={"looks": (*once.looks[:3], wrong, wrong)})
    assert (often.typical().subject.visibility.whole, often.nudity) == (0.1, 0.99)


def test_frames_without_a_face_are_samples_without_measures(models, portrait):
    empty = np.full_like(portrait, 90)
    facts = analyse_footage(
        [SampledFrame(0.0, empty), SampledFrame(1.0, portrait), SampledFrame(2.0, empty)],
        models,
        every_s=1.0,
        count=3,
    )
    assert [sample.people for sample in facts.samples] == [0, 1, 0]
    assert len(facts.seen) == 1
    assert similarities(facts) == []


def test_close_looks_wait_until_all_frames_have_passed(models, portrait, monkeypatch):
    """A decoder's frames and the networks of a look are too much at once for 4K."""
    passed, looked = [], []

    def frames():
        for index in range(3):
            yield SampledFrame(float(index), portrait)
            passed.append(index)

    def look_later(rgb, models):
        looked.append(tuple(passed))
        return analyse_portrait(rgb, models)

    monkeypatch.setattr(footage, "analyse_portrait", look_later)
    facts = analyse_footage(frames(), models, every_s=1.0, count=3, close_looks=2)
    assert looked == [(0, 1, 2)] * len(facts.looks) == [(0, 1, 2)] * 2


def test_two_people_side_by_side_are_counted(models, portrait):
    both = np.concatenate([portrait, portrait[:, ::-1]], axis=1)
    facts = analyse_footage([SampledFrame(0.0, both)], models, every_s=1.0, count=1)
    assert facts.samples[0].people == 2


def test_a_second_person_who_joins_is_counted_though_much_smaller(models, portrait):
    joined = portrait.copy()
    third = portrait[::3, ::3]
    joined[-third.shape[0] :, -third.shape[1] :] = third
    frames = [SampledFrame(float(index), each) for index, each in enumerate([portrait, joined])]
    facts = analyse_footage(frames, models, every_s=1.0, count=2)
    assert [sample.people for sample in facts.samples] == [1, 2]


def test_a_face_elsewhere_is_compared_at_once(models, portrait):
    """A cut to another seat may be a cut to another person, however shortly after."""
    moved = np.roll(portrait, portrait.shape[1] // 4, axis=1)
    frames = [SampledFrame(float(index), each) for index, each in enumerate([portrait] * 2)]
    frames += [SampledFrame(2.0, moved), SampledFrame(3.0, moved)]
    facts = analyse_footage(frames, models, every_s=1.0, count=240)
    compared = [sample.similarity is not None for sample in facts.samples]
    assert compared == [False, False, True, False]
    assert min(similarities(facts)) > 0.9


def test_another_face_in_the_same_seat_is_told_however_short_the_video(models, portrait):
    """Somebody else can say the second half of a statement, which lasts a few seconds. The network
    takes the negative of a face for another one."""
    shown = [portrait] * 4 + [255 - portrait] * 3
    frames = [SampledFrame(float(at), each) for at, each in enumerate(shown)]
    facts = analyse_footage(frames, models, every_s=1.0, count=len(frames), close_looks=1)
    assert [each > 0.9 for each in similarities(facts)] == [True] * 3 + [False] * 3
    assert max(similarities(facts)[3:]) < 0.3


def test_another_face_that_says_the_statement_is_told_however_long_the_video(models, portrait):
    """Of 24 faces in five minutes one would be of those seconds, and one may be odd."""
    shown = [255 - portrait] * 5 + [portrait] * 4
    frames = [SampledFrame(2.5 * at, each) for at, each in enumerate(shown)]
    facts = analyse_footage(frames, models, every_s=2.5, count=120, close_looks=1)
    assert sorted(similarities(facts))[1] < 0.3


def test_one_odd_face_at_the_start_does_not_count_against_all_others(models, portrait):
    shown = [255 - portrait, *[portrait] * 4]
    frames = [SampledFrame(float(at), each) for at, each in enumerate(shown)]
    facts = analyse_footage(frames, models, every_s=1.0, count=len(frames), close_looks=1)
    assert sorted(each > 0.9 for each in similarities(facts)) == [False, True, True, True]


def test_mouth_motion_is_the_range_within_a_second_to_both_sides():
    opened = (0.0, 0.2, 0.1, 0.1, 0.1, 0.1)
    samples = tuple(
        FrameSample(at_s=float(index), people=1, face_height_share=0.3, mouth_open=value)
        for index, value in enumerate(opened)
    )
    motion = FootageFacts(every_s=1.0, samples=samples, looks=()).mouth_motion()
    assert motion == ((0.0, 0.2), (1.0, 0.2), (2.0, 0.1), (3.0, 0.0), (4.0, 0.0), (5.0, 0.0))

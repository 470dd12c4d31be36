"""Rules of a person over time, by angles that are kept most of the time."""

from __future__ import annotations

import pytest

from palprep.rules.catalogue import RULES, judge
from palprep.rules.profile import load_profile
from palprep.rules.rule import Measured
from palprep.rules.texts.words import Unmeasured
from palprep.values import Outcome, Rect, Role
from palprep.vision import FootageFacts, FrameSample, OverlayFacts


def sample(at, *, yaw=0.0, pitch=0.0, gaze=0.0):
    return FrameSample(
        at_s=at, people=1, face_height_share=0.3, yaw_deg=yaw, pitch_deg=pitch,
        gaze_off_deg=gaze, mouth_open=0.1,
    )  # fmt: skip


@pytest.fixture
def outcomes(video_facts):
    """Check id to outcome of footage with these samples."""

    def of(*samples):
        footage = FootageFacts(every_s=0.5, samples=samples, looks=())
        facts = video_facts().model_copy(update={"footage": footage})
        checks = judge(facts, Role.TRAINING_VIDEO, load_profile())
        return {check.id: check.outcome for check in checks}

    return of


@pytest.mark.parametrize(
    ("rule", "aside"),
    [
        ("head_towards_lens", {"yaw": -35.0}),
        ("head_towards_lens", {"pitch": 25.0}),
        ("gaze_at_lens", {"gaze": 14.0}),
    ],
)
def test_a_fifth_of_the_time_may_be_spent_looking_aside(outcomes, rule, aside):
    ahead = [sample(at) for at in range(8)]
    away = [sample(at, **aside) for at in range(8, 11)]
    assert outcomes(*ahead, *away[:2])[rule] is Outcome.PASS
    assert outcomes(*ahead, *away)[rule] is Outcome.WARN


def test_a_steady_turn_is_measured_in_degrees(video_facts):
    footage = FootageFacts(
        every_s=1.0, samples=tuple(sample(at, yaw=-12.34, gaze=3.0) for at in range(5)), looks=()
    )
    facts = video_facts().model_copy(update={"footage": footage})
    assert RULES["head_towards_lens"].measure.get(facts) == Measured(
        value=12.3, shown="12 degrees or less 80% of the time", words={"degrees": "12 degrees"}
    )
    assert RULES["gaze_at_lens"].measure.get(facts).value == 3.0


def test_nobody_faces_nothing(video_facts):
    empty = FootageFacts(every_s=1.0, samples=(FrameSample(at_s=0.0, people=0),), looks=())
    facts = video_facts().model_copy(update={"footage": empty})
    for rule in ("head_towards_lens", "gaze_at_lens"):
        assert isinstance(RULES[rule].measure.get(facts), Unmeasured)


def test_text_over_the_picture_warns_and_says_where(video_facts):
    def found(overlay):
        footage = FootageFacts(every_s=1.0, samples=(), looks=(), overlay=overlay)
        facts = video_facts().model_copy(update={"footage": footage})
        checks = judge(facts, Role.TRAINING_VIDEO, load_profile())
        return next(check for check in checks if check.id == "no_burned_in_text")

    low = Rect(x=0.2, y=0.86, width=0.6, height=0.08)
    warned = found(OverlayFacts(frames=5, with_text=3, region=low))
    assert (warned.outcome, warned.measured) == (Outcome.WARN, "in 3 of 5 frames, at the bottom")
    assert warned.sentence == (
        "Text is drawn over the picture in 3 of 5 frames that were looked at, at the bottom."
    )
    none = found(OverlayFacts(frames=5, with_text=0, region=None))
    assert (none.outcome, none.measured) == (Outcome.PASS, "in 0 of 5 frames")
    assert found(None).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    ("width", "height", "turned", "share", "found"),
    [
        (1920, 1080, 0, 0.3, 0.3),
        (1080, 1920, 0, 0.15, 0.267),
        (1080, 1080, 0, 0.3, 0.3),
        (1920, 1080, 90, 0.15, 0.267),
        (1920, 1080, 180, 0.3, 0.3),
    ],
)
def test_a_face_is_held_against_the_shorter_side(video_facts, width, height, turned, share, found):
    """So that a phone may be held upright: a quarter of its height would be half of the width."""
    near = sample(0.0).model_copy(update={"face_height_share": share})
    footage = FootageFacts(every_s=1.0, samples=(near,) * 3, looks=(), turned_deg=turned)
    facts = video_facts(width=width, height=height).model_copy(update={"footage": footage})
    assert RULES["face_size"].measure.get(facts).value == found

import pickle

import pytest
from voices import voice_of

from palprep.consent import ConsentFacts
from palprep.facts.facts import FacingLimits, share_held
from palprep.media import SignalFacts, TimingFacts
from palprep.rules.video_person import video_speaking_share, video_still_share
from palprep.values import Span
from palprep.vision import FootageFacts, FrameSample

SPEAKS_UNTIL = 5.0


def sample(at_s, mouth_open, yaw_deg=0.0):
    return FrameSample(
        at_s=at_s, people=1, face_height_share=0.3, yaw_deg=yaw_deg, pitch_deg=0.0,
        gaze_off_deg=2.0, mouth_open=mouth_open,
    )  # fmt: skip


@pytest.fixture
def ten_seconds(video_facts):
    """Speaks for five seconds, looks aside in the third, then listens, mouth at rest."""
    samples = [
        sample(
            index / 4,
            0.2 if index % 2 and index / 4 < SPEAKS_UNTIL else 0.0,
            yaw_deg=40.0 if int(index / 4) == 2 else 0.0,
        )
        for index in range(40)
    ]
    signal = SignalFacts(
        frames=300, seconds=(), black=(), cuts=(7.5,), exposure_steps=(),
        freezes=(Span(start_s=8.0, end_s=9.5),),
    )  # fmt: skip
    facts = video_facts(duration_s=10.0, signal=signal)
    return facts.model_copy(
        update={
            "footage": FootageFacts(every_s=0.25, samples=tuple(samples), looks=()),
            "voice": voice_of((0.2, SPEAKS_UNTIL), duration_s=10.0),
            "consent": ConsentFacts(
                outcome="pass", transcript="", starts_at=0.4, ends_at=3.9, words=(), reasons=(),
                statement="", full_name="Ada", language="en",
            ),
        }
    )  # fmt: skip


def test_every_second_says_who_speaks_and_who_is_still(ten_seconds):
    line = ten_seconds.timeline
    assert [second.speaking for second in line.seconds] == [True] * 5 + [False] * 5
    # A mouth counts as moving for a second after it last did.
    assert [second.still for second in line.seconds] == [False] * 6 + [True] * 4
    limits = FacingLimits(20.0, 10.0)
    assert [second.facing(limits) for second in line.seconds] == [
        True,
        True,
        False,
    ] + [True] * 7
    assert share_held(second.speaking for second in line.seconds) == 0.5
    assert share_held(second.still for second in line.seconds) == 0.4
    assert (line.consent.start_s, line.consent.end_s) == (0.4, 3.9)
    assert line.cuts == (7.5,)
    assert line.freezes[0].end_s == 9.5


def test_the_structure_is_judged_by_its_shares(ten_seconds):
    assert video_speaking_share.measure.get(ten_seconds).value == 0.5
    assert video_still_share.measure.get(ten_seconds).value == 0.4


def test_what_was_not_measured_is_not_guessed(video_facts, image_facts):
    bare = video_facts(duration_s=3.2).timeline
    assert len(bare.seconds) == 4
    assert share_held(second.speaking for second in bare.seconds) is None
    assert share_held(second.still for second in bare.seconds) is None
    assert "without --quick" in video_speaking_share.measure.get(video_facts()).advice
    assert image_facts().timeline is None


@pytest.mark.parametrize(
    ("late_s", "starts_s", "speech_at", "cut_at"),
    [(0.5, 1.4, 0.7, 6.1), (-0.5, 0.9, 0.2, 6.6), (0.0, 1.4, 0.2, 6.1)],
)
def test_times_count_from_where_a_player_starts(ten_seconds, late_s, starts_s, speech_at, cut_at):
    """The picture starts at 1.4 s, and the sound before it or after it."""
    timing = TimingFacts(dropped_frames=0, audio_offset_s=late_s)
    video = ten_seconds.video.model_copy(update={"start_s": 1.4, "timing": timing})
    line = ten_seconds.model_copy(update={"video": video}).timeline
    assert line.starts_s == pytest.approx(starts_s)
    assert line.speech[0].start_s == pytest.approx(speech_at)
    assert line.cuts == (pytest.approx(cut_at),)
    assert line.duration_s == pytest.approx(11.4 - starts_s)


@pytest.mark.parametrize(
    ("limits", "third_second"),
    [
        (FacingLimits(20.0, 10.0), False),
        (FacingLimits(45.0, 10.0), True),
        (FacingLimits(45.0, 1.0), False),
        (FacingLimits(gaze_deg=10.0), True),
        (FacingLimits(), None),
    ],
)
def test_how_far_a_head_may_turn_is_for_the_limits(ten_seconds, limits, third_second):
    assert ten_seconds.timeline.seconds[2].facing(limits) is third_second


def test_the_timeline_is_derived_once_and_anew_where_the_facts_changed(ten_seconds):
    before = ten_seconds.timeline
    assert ten_seconds.timeline is before
    shorter = ten_seconds.video.model_copy(update={"duration_s": 4.0})
    changed = ten_seconds.model_copy(update={"video": shorter})
    assert len(changed.timeline.seconds) == 4
    assert len(ten_seconds.timeline.seconds) == 10
    assert ten_seconds.model_copy(update={"video": None}).timeline is None


def test_the_timeline_is_no_part_of_the_record(ten_seconds):
    fresh = ten_seconds.model_copy()
    assert ten_seconds.timeline is not None
    assert ten_seconds == fresh
    assert hash(ten_seconds.video) == hash(fresh.video)
    assert "timeline" not in ten_seconds.to_json()
    assert type(ten_seconds).model_validate(ten_seconds.to_json()) == fresh
    assert pickle.loads(pickle.dumps(ten_seconds)).timeline == ten_seconds.timeline  # noqa: S301


def test_a_video_that_claims_years_gets_the_timeline_of_a_day(video_facts):
    line = video_facts(duration_s=1e12).timeline
    assert line.duration_s == len(line.seconds) == 86_400

"""Which part of a video is kept."""

import datetime as dt

import pytest
from portraits import FLAWLESS
from voices import voice_of

from palprep.consent import ConsentFacts
from palprep.consent.wording import CodeReading
from palprep.media import SignalFacts, TimingFacts
from palprep.rules.catalogue import judge
from palprep.rules.plans.planner import plan
from palprep.rules.plans.video import plan_consent_clip
from palprep.rules.profile import load_profile
from palprep.rules.report import Report
from palprep.values import Role, Span
from palprep.vision import FootageFacts

PROFILE = load_profile()


def planned(facts, role=Role.TRAINING_VIDEO):
    checks = judge(facts, role, PROFILE)
    report = Report(path="x", role=role, profile=PROFILE.name, checks=checks, facts=facts)
    return plan(report, PROFILE)


def reason(repair, fix):
    return next((each for each in repair.reasons if each.fix == fix), None)


def stated(facts, **changed):
    fields = {
        "outcome": "pass", "transcript": "", "starts_at": 0.5, "ends_at": 12.0, "words": (),
        "reasons": (), "statement": "", "full_name": "Ada", "language": "en", "said_before": "",
    }  # fmt: skip
    return facts.model_copy(update={"consent": ConsentFacts(**{**fields, **changed})})


def heard(facts, *speech):
    length = facts.video.duration_s
    return facts.model_copy(update={"voice": voice_of(*speech, duration_s=length)})


def test_what_was_said_before_the_statement_is_cut_off(video_facts):
    facts = heard(video_facts(), (1.0, 6.0), (8.0, 50.0))
    repair = planned(stated(facts, starts_at=8.0, ends_at=20.0, said_before="hello there"))
    assert (repair.trim.start_s, repair.trim.end_s) == (7.7, 100.0)
    assert reason(repair, "trim").why.startswith("opens with the statement of consent, 92.3 s")
    assert (repair.copy_video, repair.copy_audio) == (False, False)


def test_a_video_that_is_not_upright_is_turned_in_the_whole_and_in_the_clip(video_facts):
    facts = stated(heard(video_facts(), (0.5, 50.0)))
    footage = FootageFacts(every_s=1.0, samples=(), looks=(FLAWLESS,), turned_deg=270)
    facts = facts.model_copy(update={"footage": footage, "portrait": footage.typical()})
    repair = planned(facts)
    assert (repair.turned_deg, repair.copy_video, repair.copy_audio) == (270, False, True)
    assert reason(repair, "turn").answers == ("head_level",)
    checks = judge(facts, Role.CONSENT_VIDEO, PROFILE)
    report = Report(path="x", role=Role.CONSENT_VIDEO, profile="x", checks=checks, facts=facts)
    clip = plan_consent_clip(report, facts, PROFILE)
    assert (clip.turned_deg, clip.copy_video) == (270, False)


def test_channels_that_do_not_belong_together_are_mixed_in_the_whole_and_in_the_clip(video_facts):
    facts = stated(heard(video_facts(), (0.5, 50.0)))
    voice = facts.voice.model_copy(update={"channels": 2, "correlation": -0.99})
    facts = facts.model_copy(update={"voice": voice})
    repair = planned(facts)
    assert (repair.mix, repair.copy_video, repair.copy_audio) == ("difference", True, False)
    checks = judge(facts, Role.CONSENT_VIDEO, PROFILE)
    report = Report(path="x", role=Role.CONSENT_VIDEO, profile="x", checks=checks, facts=facts)
    assert plan_consent_clip(report, facts, PROFILE).mix == "difference"


@pytest.mark.parametrize(("more", "end_s"), [((), 12.5), (((60.0, 63.0),), None)])
def test_what_is_said_long_after_the_statement_is_not_cut_off(video_facts, more, end_s):
    """It was perhaps not listened to."""
    facts = heard(video_facts(duration_s=70.0), (0.5, 12.0), *more)
    repair = planned(stated(facts), Role.CONSENT_VIDEO)
    assert (repair and repair.trim and repair.trim.end_s) == end_s


def test_the_statement_is_found_without_speech_activity_too(video_facts):
    facts = stated(video_facts(), starts_at=8.0, ends_at=20.0, said_before="hello there")
    assert planned(facts).trim.start_s == pytest.approx(7.7)


def test_a_long_video_keeps_its_first_words_while_nobody_listened_for_the_statement(video_facts):
    facts = heard(video_facts(duration_s=200.0), (0.5, 118.0), (119.0, 150.0))
    repair = planned(facts)
    assert (repair.trim.start_s, repair.trim.end_s) == (0.0, 118.5)
    assert repair.copy_video
    assert reason(repair, "trim").answers == ("video_duration",)


def test_without_a_statement_the_best_structure_is_kept(video_facts):
    facts = heard(video_facts(duration_s=200.0), (0.5, 118.0), (119.0, 150.0))
    repair = planned(stated(facts, outcome="fail", starts_at=None, ends_at=None))
    assert (repair.trim.start_s, repair.trim.end_s) == (118.7, 200.0)


def test_a_statement_that_opens_the_video_stays(video_facts):
    facts = heard(video_facts(duration_s=200.0), (0.5, 70.0), (71.0, 150.0))
    repair = planned(stated(facts))
    assert repair.trim.start_s == 0.0
    assert repair.trim.end_s <= 120.0


def test_a_consent_clip_that_is_fine_stays_as_it_is(video_facts):
    facts = heard(video_facts(duration_s=20.0), (0.5, 12.0))
    assert planned(stated(facts), Role.CONSENT_VIDEO) is None


def test_a_jump_cut_within_the_statement_does_not_end_the_take(video_facts):
    signal = SignalFacts(
        frames=3000, seconds=(), black=(), cuts=(75.0,), freezes=(), exposure_steps=()
    )
    facts = heard(
        video_facts(duration_s=200.0, signal=signal), (0.5, 74.0), (76.0, 100.0), (101.0, 190.0)
    )
    assert planned(stated(facts, ends_at=100.0)).trim.end_s >= 100.0


def test_a_jump_cut_near_the_start_is_cut_away(video_facts):
    signal = SignalFacts(
        frames=3000, seconds=(), black=(), cuts=(4.0,), freezes=(), exposure_steps=()
    )
    facts = heard(video_facts(signal=signal), (6.0, 50.0))
    repair = planned(facts)
    assert repair.trim.start_s == pytest.approx(5.7)
    assert reason(repair, "trim").answers == ("video_cuts",)
    assert "in one piece" in reason(repair, "trim").why


def test_a_video_with_cuts_everywhere_is_not_made_shorter_than_it_may_be(video_facts):
    signal = SignalFacts(
        frames=3000, seconds=(), black=(), cuts=tuple(range(5, 100, 5)), freezes=(),
        exposure_steps=(),
    )  # fmt: skip
    repair = planned(heard(video_facts(signal=signal), (1.0, 50.0)))
    assert repair is None or repair.trim.duration_s >= 60


def test_a_long_consent_clip_is_cut_after_the_statement_only_when_it_was_heard(video_facts):
    facts = video_facts(duration_s=50.0)
    assert planned(facts, Role.CONSENT_VIDEO) is None
    assert planned(stated(facts, ends_at=14.0), Role.CONSENT_VIDEO).trim.end_s == 14.5
    assert planned(stated(facts, outcome="fail"), Role.CONSENT_VIDEO) is None


def test_a_consent_clip_that_starts_with_a_long_silence_opens_with_the_statement(video_facts):
    facts = stated(video_facts(duration_s=25.0), starts_at=9.0, ends_at=21.0)
    repair = planned(facts, Role.CONSENT_VIDEO)
    assert (repair.trim.start_s, repair.trim.end_s) == (8.7, 25.0)
    assert reason(repair, "trim").answers == ("consent_start",)


def test_the_code_after_the_statement_is_not_for_the_service(video_facts):
    noon = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
    spoken = Span(start_s=15.0, end_s=17.0)
    code = CodeReading(words=("tiger",), given_at=noon, ends_at=noon, judged_at=noon, spoken=spoken)
    facts = stated(video_facts(duration_s=18.0), ends_at=14.0, code=code)
    repair = planned(facts, Role.CONSENT_VIDEO)
    assert (repair.trim.start_s, repair.trim.end_s) == (0.0, 15.0)
    assert "not the code" in reason(repair, "trim").why
    repair = planned(facts, Role.TRAINING_VIDEO)
    assert repair is None or repair.trim.end_s > 17


def test_what_is_said_after_the_last_picture_of_a_consent_video_is_not_hidden(video_facts):
    timing = TimingFacts(dropped_frames=0, audio_offset_s=0.0)
    video = video_facts(timing=timing)
    shorter = video.video.model_copy(update={"duration_s": 20.0})
    facts = video.model_copy(update={"video": shorter})
    for speech, cut in (((0.5, 12.0), True), ((0.5, 25.0), False)):
        spoken = facts.model_copy(update={"voice": voice_of(speech, duration_s=100.0)})
        repair = planned(spoken, Role.CONSENT_VIDEO)
        assert (repair is not None and repair.trim is not None) is cut
    assert planned(spoken).trim.end_s == 20.0


@pytest.mark.parametrize(("starts_at", "ends_at"), [(23.0, 34.0), (12.0, 24.0)])
def test_a_statement_that_ends_after_the_last_picture_is_not_cut_out(
    video_facts, starts_at, ends_at
):
    """A window that ended before it began was given to ffmpeg, and the fix failed."""
    timing = TimingFacts(dropped_frames=0, audio_offset_s=11.0)
    facts = heard(video_facts(duration_s=20.0, timing=timing), (0.5, 23.0))
    facts = stated(facts, starts_at=starts_at, ends_at=ends_at)
    assert facts.timeline.speech == (Span(start_s=11.5, end_s=20.0),)
    repair = planned(facts, Role.CONSENT_VIDEO)
    assert repair is not None
    assert repair.trim is None
    report = Report(path="x", role=Role.CONSENT_VIDEO, profile="core-4", facts=facts)
    assert plan_consent_clip(report, facts, PROFILE) is None

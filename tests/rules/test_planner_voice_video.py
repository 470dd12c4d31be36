"""Plans of sound and video beyond their containers."""

import pytest
from voices import voice_of

from palprep.media.signal_facts import TimingFacts
from palprep.rules.judge import judge
from palprep.rules.plan import SoundPlan, VoicePlan
from palprep.rules.planner import plan
from palprep.rules.profile import load_profile
from palprep.rules.report import Report
from palprep.rules.roles import Role
from palprep.speech.facts import ConsentFacts

PROFILE = load_profile()
TIMING = TimingFacts(
    interval_s=1 / 30, longest_interval_s=1 / 30, jitter_s=0.0, dropped_frames=0, key_frames=10,
    longest_key_interval_s=8.0,
)  # fmt: skip


def planned(facts, role):
    checks = judge(facts, role, PROFILE)
    report = Report(path="x", role=role, profile=PROFILE.name, checks=checks, facts=facts)
    return plan(report, PROFILE)


def heard(facts, *speech, **changed):
    voice = voice_of(*(speech or ((1.0, 45.0), (46.0, 90.0))), **changed)
    return facts.model_copy(update={"voice": voice})


def fixes(repair):
    return {reason.fix for reason in repair.reasons}


def consent(starts_at=0.5, ends_at=12.0, said_before="", outcome="pass"):
    return ConsentFacts(
        outcome=outcome, transcript="", starts_at=starts_at, ends_at=ends_at, words=(),
        reasons=(), statement="", full_name="Ada", language="en", said_before=said_before,
    )  # fmt: skip


def test_good_speech_is_left_alone(sound_facts):
    assert planned(heard(sound_facts()), Role.VOICE_AUDIO) is None


def test_soft_speech_is_raised_to_its_target_but_its_noise_only_to_the_limit(sound_facts):
    facts = heard(
        sound_facts(), speech_rms_dbfs=-40.0, integrated_lufs=-38.5, noise_floor_dbfs=-75.0
    )
    repair = planned(facts, Role.VOICE_AUDIO)
    assert isinstance(repair, VoicePlan)
    assert fixes(repair) == {"level"}
    assert repair.loudness_lufs == pytest.approx(-38.5 + 20.0)
    assert repair.noise.floor_dbfs == -75.0
    assert repair.noise.max_gain_db == 25.0
    assert repair.spans == ()


@pytest.mark.parametrize(
    ("changed", "mix"),
    [
        ({"channels": 2, "silent_channel": 0}, "second"),
        ({"channels": 2, "silent_channel": 1}, "first"),
        ({"channels": 2, "correlation": -0.95}, "difference"),
    ],
)
def test_a_stereo_defect_decides_the_mixdown(sound_facts, changed, mix):
    repair = planned(heard(sound_facts(), **changed), Role.VOICE_AUDIO)
    assert "mix" in fixes(repair)
    assert repair.mix == mix


def test_hum_is_high_passed_and_a_level_that_is_right_is_kept(sound_facts):
    repair = planned(heard(sound_facts(), hum_hz=50.0, hum_dbfs=-40.0), Role.VOICE_AUDIO)
    assert fixes(repair) == {"high_pass"}
    assert repair.high_pass_hz == 75.0
    assert repair.loudness_lufs is None


def test_the_best_of_too_much_speech_is_selected(sound_facts):
    stretches = [(start + 1.0, start + 55.0) for start in range(0, 360, 60)]
    facts = heard(sound_facts(duration_s=360.0), *stretches, duration_s=360.0)
    repair = planned(facts, Role.VOICE_AUDIO)
    assert "select" in fixes(repair)
    assert 90 <= sum(span.length_s for span in repair.spans) <= 180


def test_the_track_of_a_video_is_still_copied_when_nothing_else_is_wrong(video_facts):
    repair = planned(heard(video_facts()), Role.VOICE_AUDIO)
    assert isinstance(repair, SoundPlan)
    assert repair.copy_codec


def test_a_video_is_cut_so_that_it_opens_with_the_statement(video_facts):
    facts = video_facts().model_copy(
        update={"consent": consent(starts_at=8.0, ends_at=20.0, said_before="hello there")}
    )
    repair = planned(facts, Role.TRAINING_VIDEO)
    assert "trim" in fixes(repair)
    assert repair.trim.start_s == pytest.approx(7.7)
    assert (repair.copy_video, repair.copy_audio) == (False, False)


def test_a_long_training_video_ends_in_a_pause_and_is_not_encoded(video_facts):
    facts = heard(video_facts(duration_s=200.0), (0.5, 118.0), (119.0, 150.0), duration_s=200.0)
    repair = planned(facts, Role.TRAINING_VIDEO)
    assert (repair.trim.start_s, repair.trim.end_s) == (0.0, 119.0)
    assert repair.copy_video


def test_a_long_consent_clip_is_cut_after_the_statement_only_when_it_was_heard(video_facts):
    facts = video_facts(duration_s=50.0)
    assert planned(facts, Role.CONSENT_VIDEO) is None
    spoken = facts.model_copy(update={"consent": consent(ends_at=14.0)})
    assert planned(spoken, Role.CONSENT_VIDEO).trim.end_s == 14.5
    refused = facts.model_copy(update={"consent": consent(outcome="fail")})
    assert planned(refused, Role.CONSENT_VIDEO) is None


def test_late_sound_is_brought_forward_without_touching_the_picture(video_facts):
    timing = TIMING.model_copy(update={"sound_offset_s": 0.25})
    repair = planned(video_facts(timing=timing), Role.TRAINING_VIDEO)
    assert fixes(repair) == {"resync"}
    assert repair.audio_delay_s == -0.25
    assert (repair.copy_video, repair.copy_audio) == (True, False)


def test_a_file_that_is_too_large_is_fitted_under_the_limit(video_facts):
    repair = planned(video_facts(size_bytes=900_000_000), Role.TRAINING_VIDEO)
    assert repair.max_size_bytes == 750_000_000
    assert not repair.copy_video

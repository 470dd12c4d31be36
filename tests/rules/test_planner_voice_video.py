"""Plans of sound and video beyond their containers."""

import pytest
from voices import voice_of

from palprep.media import TimingFacts
from palprep.rules.catalogue import judge
from palprep.rules.plans.planner import plan
from palprep.rules.plans.values import VoicePlan
from palprep.rules.plans.voice import levelled_anew
from palprep.rules.profile import load_profile
from palprep.rules.report import Report
from palprep.values import Role

PROFILE = load_profile()
TIMING = TimingFacts(dropped_frames=0)


def judged(facts, role, profile=PROFILE):
    checks = judge(facts, role, profile)
    return Report(path="x", role=role, profile=profile.name, checks=checks, facts=facts)


def planned(facts, role, profile=PROFILE):
    return plan(judged(facts, role, profile), profile)


def heard(facts, *speech, **changed):
    voice = voice_of(*(speech or ((1.0, 45.0), (46.0, 90.0))), **changed)
    return facts.model_copy(update={"voice": voice})


def fixes(repair):
    return {reason.fix for reason in repair.reasons}


def test_good_speech_is_left_alone(audio_facts):
    assert planned(heard(audio_facts()), Role.VOICE_AUDIO) is None


def test_soft_speech_is_raised_to_its_target_but_its_noise_only_to_the_limit(audio_facts):
    facts = heard(
        audio_facts(), speech_rms_dbfs=-40.0, integrated_lufs=-38.5, noise_floor_dbfs=-75.0
    )
    repair = planned(facts, Role.VOICE_AUDIO)
    assert isinstance(repair, VoicePlan)
    assert fixes(repair) == {"level"}
    assert repair.loudness_lufs == pytest.approx(-38.5 + 20.0)
    assert repair.noise_dbfs == (-75.0, -50.0)
    assert repair.spans == ()


@pytest.mark.parametrize(
    ("level", "peak", "speech", "highest"),
    [
        ({"min": -18, "max": -14}, -6, -17.0, -6.5),
        ({"min": -30, "max": -26}, -30, -27.0, -20.0),
        ({"min": -24}, -1, -20.0, -3.5),
    ],
)
def test_level_and_peaks_keep_to_the_limits_of_the_profile(
    audio_facts, tmp_path, level, peak, speech, highest
):
    own = tmp_path / "own.toml"
    end = 'level = "warn"\nsource = "us"\ndate = 2026-11-01\n'
    bounds = "".join(f"{bound} = {value}\n" for bound, value in level.items())
    table = "[[limits.voice-audio."
    own.write_text(
        f'extends = "core-4"\n{table}voice_level]]\n{bounds}{end}'
        f"{table}voice_true_peak]]\nmax = {peak}\n{end}"
    )
    facts = heard(audio_facts(), speech_rms_dbfs=-40.0, integrated_lufs=-40.0)
    repair = planned(facts, Role.VOICE_AUDIO, load_profile(own))
    assert (repair.loudness_lufs, repair.true_peak_dbtp) == (speech, highest)


@pytest.mark.parametrize(
    ("changed", "mix"),
    [
        ({"channels": 2, "silent_channel": 0}, "second"),
        ({"channels": 2, "silent_channel": 1}, "first"),
        ({"channels": 2, "correlation": -0.95}, "difference"),
    ],
)
def test_a_stereo_defect_decides_the_mixdown(audio_facts, changed, mix):
    repair = planned(heard(audio_facts(), **changed), Role.VOICE_AUDIO)
    assert "mix" in fixes(repair)
    assert repair.mix == mix


@pytest.mark.parametrize("level", [-24.0, -19.5])
def test_a_channel_that_speaks_alone_comes_out_at_the_level(audio_facts, level):
    facts = heard(
        audio_facts(),
        channels=2,
        silent_channel=1,
        speech_rms_dbfs=level,
        integrated_lufs=level + 3.0,
    )
    repair = planned(facts, Role.VOICE_AUDIO)
    assert repair.mix == "first"
    assert repair.loudness_lufs == pytest.approx(-20.0, abs=0.1)


def test_hum_is_high_passed_and_a_level_that_is_right_is_kept(audio_facts):
    repair = planned(heard(audio_facts(), hum_hz=50.0, hum_dbfs=-40.0), Role.VOICE_AUDIO)
    assert fixes(repair) == {"high_pass"}
    assert (repair.high_pass_hz, repair.hum_hz) == (75.0, 50.0)
    assert repair.loudness_lufs is None
    rumble = planned(heard(audio_facts(), hum_hz=50.0, dc_offset=0.03), Role.VOICE_AUDIO)
    assert (rumble.high_pass_hz, rumble.hum_hz) == (75.0, None)


def test_what_is_too_soft_once_its_hum_is_gone_is_levelled(audio_facts):
    """The hum counted as level: fix left it in, since the file had passed for loud enough."""
    hum = {"hum_hz": 50.0, "hum_dbfs": -35.0}
    repair = planned(heard(audio_facts(), **hum), Role.VOICE_AUDIO)
    clean = {"speech_rms_dbfs": -24.0, "integrated_lufs": -24.5, "noise_floor_dbfs": -53.0}
    made = judged(heard(audio_facts(), **clean), Role.VOICE_AUDIO)
    again = levelled_anew(repair, made, PROFILE)
    assert fixes(again) == {"high_pass", "level"}
    assert again.loudness_lufs == pytest.approx(-21.5)  # The noise may stand at -50 dBFS.
    assert again.hum_hz == 50.0
    right = judged(heard(audio_facts()), Role.VOICE_AUDIO)
    assert levelled_anew(repair, right, PROFILE) is None


def test_the_pauses_of_a_recorder_that_was_left_running_are_cut(audio_facts):
    stretches = [(start + 1.0, start + 16.0) for start in range(0, 360, 60)]
    facts = heard(audio_facts(duration_s=360.0), *stretches, duration_s=360.0)
    repair = planned(facts, Role.VOICE_AUDIO)
    chosen = next(each for each in repair.reasons if each.fix == "select")
    assert chosen.answers == ("audio_duration",)
    assert len(repair.spans) == 6
    assert 90 <= sum(span.duration_s for span in repair.spans) < 95


def test_the_best_of_too_much_speech_is_selected(audio_facts):
    stretches = [(start + 1.0, start + 55.0) for start in range(0, 360, 60)]
    facts = heard(audio_facts(duration_s=360.0), *stretches, duration_s=360.0)
    repair = planned(facts, Role.VOICE_AUDIO)
    assert "select" in fixes(repair)
    assert 90 <= sum(span.duration_s for span in repair.spans) <= 180


def test_the_track_of_a_video_is_still_copied_when_nothing_else_is_wrong(video_facts):
    repair = planned(heard(video_facts()), Role.VOICE_AUDIO)
    assert repair.copies


def test_late_sound_begins_with_silence_and_the_picture_is_not_touched(video_facts):
    timing = TIMING.model_copy(update={"audio_offset_s": 0.25})
    repair = planned(video_facts(timing=timing), Role.TRAINING_VIDEO)
    assert fixes(repair) == {"resync"}
    assert repair.trim is None
    assert (repair.copy_video, repair.copy_audio) == (True, False)


def test_sound_before_the_first_picture_is_cut_off(video_facts):
    timing = TIMING.model_copy(update={"audio_offset_s": -0.25})
    repair = planned(video_facts(timing=timing), Role.TRAINING_VIDEO)
    assert fixes(repair) == {"resync"}
    assert (repair.trim.start_s, repair.trim.end_s) == (0.25, 100.25)
    assert (repair.copy_video, repair.copy_audio) == (False, False)


@pytest.mark.parametrize("codec", ["vp8", "theora", "mpeg2video", "mjpeg", "prores"])
def test_what_no_mp4_holds_is_encoded_even_where_a_profile_takes_it(video_facts, codec):
    facts = video_facts(codec=codec, moov_position="end")
    limits = {
        role: {rule: limit for rule, limit in rules.items() if rule != "video_codec"}
        for role, rules in PROFILE.limits.items()
    }
    lenient = PROFILE.model_copy(update={"limits": limits})
    checks = judge(facts, Role.TRAINING_VIDEO, lenient)
    report = Report(
        path="x", role=Role.TRAINING_VIDEO, profile="lenient", checks=checks, facts=facts
    )
    assert fixes(plan(report, lenient)) == {"remux"}
    assert not plan(report, lenient).copy_video


def test_a_file_that_is_too_large_is_fitted_under_the_limit(video_facts):
    repair = planned(video_facts(size_bytes=900_000_000), Role.TRAINING_VIDEO)
    assert repair.max_size_bytes == 750_000_000
    assert not repair.copy_video

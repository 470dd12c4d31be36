"""Footage that freezes or comes again fails, sound that is shifted is a doubt: real files."""

from __future__ import annotations

import pytest
from still_video import animated_photograph, forged_video

from palprep import preflight
from palprep.facts import Speaker, video_probing
from palprep.facts.facts import STILL
from palprep.rules.consent.checks import consent_doubts
from palprep.speech import SpeakerFacts, measure_voice
from palprep.values import Outcome, Role

JANE = Speaker(full_name="Jane Carter")
LOOP = "select='lt(n,{frames})',loop=-1:{frames}:0,setpts=N/25/TB,trim=end={seconds}"


DEEPER = (
    "aresample=24000,asplit[one][two];[one]atrim=end=8[one];[two]atrim=start=8,asetpts=PTS-STARTPTS,"
    "asetrate=0.71*24000,aresample=24000,atempo=1/0.71[two];[one][two]concat=v=0:a=1"
)
"""From the eighth second on the pitch is lower, at the same pace."""


def check(path, role=Role.CONSENT_VIDEO):
    return preflight.check(path, role=role, speaker=JANE)


def test_the_sample_passes(spoken_consent):
    report = check(spoken_consent)
    assert report.facts.lips.stated
    for check_id in (
        "mouth_moves",
        "lips_keep_moving",
        "lips_not_repeated",
        "eyes_blink",
        "head_moves",
        "face_has_depth",
        "lip_sync",
    ):
        assert report.check(check_id).outcome is Outcome.PASS
    assert report.facts.timeline.mouth.variation > 0.12 > STILL
    assert abs(report.facts.lips.synchrony.lag_s) <= 0.2


@pytest.mark.parametrize("frames", [45, 100])
def test_a_loop_under_the_statement_fails(spoken_consent, tmp_path, frames):
    picture = LOOP.format(frames=frames, seconds=13)
    report = check(forged_video(spoken_consent, tmp_path / "loop.mp4", picture))
    assert report.check("consent_spoken").outcome is Outcome.PASS
    repeated = report.check("lips_not_repeated")
    assert repeated.outcome is Outcome.FAIL
    assert "repeat an earlier movement" in repeated.sentence
    assert report.verdict is Outcome.FAIL


def test_a_picture_that_freezes_halfway_fails(spoken_consent, tmp_path):
    """Though it moves enough, over all of the statement, for a mouth that speaks."""
    frozen = "trim=end=7,tpad=stop_mode=clone:stop_duration=6"
    report = check(forged_video(spoken_consent, tmp_path / "frozen.mp4", frozen))
    assert report.check("mouth_moves").outcome is not Outcome.FAIL
    rests = report.check("lips_keep_moving")
    assert rests.outcome is Outcome.FAIL
    assert report.facts.lips.rests_at_s > 6.0


def test_a_photograph_whose_mouth_was_animated_leaves_the_consent_in_doubt(
    spoken_consent, tmp_path
):
    """The mouth goes with the sound, and all around it is one frame all the while."""
    photograph = "[0]trim=end_frame=1,loop=-1:1,setpts=N/25/TB[photograph]"
    mouth = "[1]crop=iw:ih/2:0:ih/2[mouth];[photograph][mouth]overlay=0:H/2:shortest=1"
    picture = f"split[0][1];{photograph};{mouth}"
    report = check(forged_video(spoken_consent, tmp_path / "puppet.mp4", picture))
    assert report.check("lip_sync").outcome is Outcome.PASS
    assert report.check("lips_keep_moving").outcome is Outcome.PASS
    doubts = consent_doubts(report.checks, report.consent)
    assert {each.check for each in doubts} == {"eyes_blink", "head_moves"}
    assert all("may be a photograph" in doubt.sentence for doubt in doubts)


def test_a_photograph_whose_eyes_blink_as_well_leaves_the_consent_in_doubt(
    spoken_consent, sample_media, tmp_path
):
    """Its lips go with the sound, too. Only the head stays where it is in the picture."""
    report = check(animated_photograph(sample_media, spoken_consent, tmp_path / "puppet.mp4"))
    for check_id in ("mouth_moves", "lips_keep_moving", "eyes_blink", "lip_sync"):
        assert report.check(check_id).outcome is Outcome.PASS
    doubts = consent_doubts(report.checks, report.consent)
    assert {each.check for each in doubts} == {"head_moves", "face_has_depth"}


def test_a_flat_head_that_is_drawn_over_the_wall_leaves_the_consent_in_doubt(
    spoken_consent, sample_media, tmp_path
):
    swaying = tmp_path / "swaying.mp4"
    report = check(animated_photograph(sample_media, spoken_consent, swaying, sways=True))
    for check_id in ("mouth_moves", "eyes_blink", "head_moves", "lip_sync"):
        assert report.check(check_id).outcome is Outcome.PASS
    (doubt,) = consent_doubts(report.checks, report.consent)
    assert doubt.check == "face_has_depth"
    assert "as on a flat picture" in doubt.sentence


@pytest.mark.parametrize(
    ("end", "check_id"),
    [("tpad=stop_mode=clone:stop_duration=12", "lips_keep_moving"), ("", "lip_sync")],
)
def test_a_slow_statement_is_looked_at_to_its_end(spoken_consent, tmp_path, end, check_id):
    """Somebody else may say what comes after the first twelve seconds."""
    other = "split[one][two];[one]trim=end=12.8[one];[two]trim=1.6:12.8,setpts=PTS-STARTPTS,reverse"
    picture = f"trim=end=12.8,{end}" if end else f"{other}[two];[one][two]concat"
    slow = f"setpts=1.9*PTS,fps=25,{picture}"
    report = check(forged_video(spoken_consent, tmp_path / "slow.mp4", slow, "atempo=1/1.9"))
    assert report.check("consent_spoken").outcome is Outcome.PASS
    assert report.check(check_id).outcome not in {Outcome.PASS, Outcome.UNKNOWN}


def test_sound_that_is_shifted_leaves_the_consent_in_doubt(spoken_consent, tmp_path):
    late = forged_video(spoken_consent, tmp_path / "late.mp4", sound="adelay=600:all=1")
    report = check(late)
    assert report.check("consent_spoken").outcome is Outcome.PASS
    found = report.check("lip_sync")
    assert found.outcome is Outcome.WARN
    assert report.facts.lips.synchrony.lag_s == pytest.approx(0.6, abs=0.17)
    (doubt,) = consent_doubts(report.checks, report.consent)
    assert doubt.check == "lip_sync"
    assert "with the sound shifted by" in doubt.sentence
    assert "Watch the prepared file from" in doubt.words


def test_another_voice_for_a_part_of_the_statement_leaves_the_consent_in_doubt(
    spoken_consent, tmp_path
):
    report = check(forged_video(spoken_consent, tmp_path / "two.mp4", sound=DEEPER))
    assert report.check("consent_spoken").outcome.passed
    assert report.check("voice_one_speaker").outcome is Outcome.WARN
    doubts = consent_doubts(report.checks, report.consent)
    assert "voice_one_speaker" in {each.check for each in doubts}


@pytest.mark.parametrize("sound", [DEEPER, "anull"])
def test_the_statement_of_a_training_video_is_judged_alone_as_well(
    spoken_consent, tmp_path, monkeypatch, sound
):
    def one_voice(*given, **options):
        audio, voice = measure_voice(*given, **options)
        one = SpeakerFacts(several=False, confidence=0.9)
        return audio, voice.model_copy(update={"speakers": one})

    # As in minutes of the other voice.
    monkeypatch.setattr(video_probing, "measure_voice", one_voice)
    report = check(
        forged_video(spoken_consent, tmp_path / "t.mp4", sound=sound), Role.TRAINING_VIDEO
    )
    told = report.check("voice_one_speaker").outcome
    assert told is (Outcome.WARN if sound == DEEPER else Outcome.PASS)

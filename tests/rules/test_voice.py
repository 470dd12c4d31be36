"""Rules of what is heard, and of the consent statement."""

from __future__ import annotations

import pytest
from voices import voice_of

from palprep.consent import ConsentFacts
from palprep.facts import Facts
from palprep.media import AudioFacts, AudioStreamFacts, FileFacts
from palprep.media.facts import AudioLevels, MediaType
from palprep.rules.catalogue import RULES, judge
from palprep.rules.profile import load_profile
from palprep.speech import VoiceFacts
from palprep.speech.facts import SpeakerFacts
from palprep.values import Kind, Outcome, Role, Span

WAV = MediaType(
    kind=Kind.AUDIO,
    format="wav",
    description="WAV sound",
    mime="audio/wav",
    extensions=(".wav",),
    accepted=True,
)
STREAM = AudioStreamFacts(
    index=0,
    codec="pcm_s16le",
    sample_rate_hz=48_000,
    channels=1,
    layout="mono",
    bit_rate=None,
    duration_s=100.0,
)
SOUND = AudioFacts(duration_s=100.0, streams=(STREAM,), chosen=0, levels=None)
FILE = FileFacts(path="a.wav", name="a.wav", size_bytes=1, type=WAV)
TWO = SpeakerFacts(several=True, confidence=0.9)
UNSURE = SpeakerFacts(several=None, confidence=0.0)
GOOD = voice_of((1, 60), (62, 95), noise_after_gain_dbfs=-65.0)


def outcomes(role: Role, **parts) -> dict[str, Outcome]:
    facts = Facts(file=FILE, recording=SOUND, **parts)
    checks = judge(facts, role, load_profile())
    return {
        check.id: check.outcome for check in checks if check.id.startswith(("voice", "consent"))
    }


def consent(outcome: str = "pass", **other) -> ConsentFacts:
    fields = {
        "outcome": outcome,
        "transcript": "I agree.",
        "starts_at": 0.4,
        "ends_at": 12.0,
        "words": (),
        "reasons": ("Word 3 was not heard.",) if outcome != "pass" else (),
        "statement": "I agree.",
        "full_name": "Ada",
        "language": "en",
    }
    return ConsentFacts(**{**fields, **other})


def test_a_good_voice_passes_every_rule():
    found = outcomes(Role.VOICE_AUDIO, voice=GOOD)
    assert set(found) == {rule_id for rule_id in RULES if rule_id.startswith("voice_")}
    assert set(found.values()) == {Outcome.PASS}


def test_a_voice_that_nobody_listened_to_is_unknown():
    assert set(outcomes(Role.VOICE_AUDIO).values()) == {Outcome.UNKNOWN}


def with_(**change) -> VoiceFacts:
    return GOOD.model_copy(update=change)


@pytest.mark.parametrize(
    ("voice", "rule", "expected"),
    [
        (with_(content="music"), "voice_content", "fail"),
        (with_(speech_s=8.0), "voice_speech_length", "fail"),
        (with_(speech_s=30.0), "voice_speech_length", "warn"),
        (with_(speech_rms_dbfs=-30.0), "voice_level", "warn"),
        (with_(speech_rms_dbfs=None), "voice_level", "unknown"),
        (with_(true_peak_dbtp=-1.0), "voice_true_peak", "warn"),
        (with_(clipped_runs=1), "voice_clipping", "warn"),
        (with_(clipped_runs=500), "voice_clipping", "fail"),
        (with_(snr_db=15.0), "voice_snr", "fail"),
        (with_(snr_db=30.0), "voice_snr", "warn"),
        (with_(snr_db=None), "voice_snr", "unknown"),
        (with_(reverberation_s=0.5), "voice_reverberation", "warn"),
        (with_(reverberation_s=None), "voice_reverberation", "unknown"),
        (with_(noise_after_gain_dbfs=-40.0), "voice_noise_floor", "warn"),
        (with_(bandwidth_hz=3_700.0), "voice_bandwidth", "fail"),
        (with_(bandwidth_hz=7_900.0), "voice_bandwidth", "warn"),
        (with_(hum_hz=50.0, hum_dbfs=-45.0), "voice_hum", "warn"),
        (with_(dc_offset=0.03), "voice_dc_offset", "warn"),
        (with_(dropouts=(Span(start_s=1.0, end_s=1.1),)), "voice_dropouts", "warn"),
        (with_(correlation=-0.95), "voice_stereo", "warn"),
        (with_(silent_channel=1), "voice_stereo", "warn"),
        (with_(speakers=SpeakerFacts(several=True, confidence=0.9)), "voice_one_speaker", "warn"),
        (
            with_(speakers=SpeakerFacts(several=None, confidence=0.0)),
            "voice_one_speaker",
            "unknown",
        ),
    ],
)
def test_each_defect_is_found_by_its_rule_alone(voice, rule, expected):
    found = outcomes(Role.VOICE_AUDIO, voice=voice)
    others = set(found) - {rule, "voice_noise_floor" if rule == "voice_level" else rule}
    assert found[rule] == expected
    assert {found[other] for other in others} == {Outcome.PASS}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (consent("pass"), "pass"),
        (consent("warn"), "warn"),
        (consent("fail"), "fail"),
        (consent("unknown"), "unknown"),
        (None, "unknown"),
    ],
)
def test_the_statement_is_judged_by_its_outcome(facts, expected):
    assert outcomes(Role.CONSENT_VIDEO, consent=facts)["consent_spoken"] == expected


@pytest.mark.parametrize(
    ("facts", "start", "first"),
    [
        (consent(), "pass", "pass"),
        (consent(starts_at=9.0, said_before="Hello."), "warn", "pass"),
        (consent(said_before="Ask me.", before=Outcome.WARN), "pass", "warn"),
        (consent("fail", starts_at=40.0), "fail", "pass"),
        (consent("fail", starts_at=None), "unknown", "unknown"),
    ],
)
def test_the_statement_opens_the_video(facts, start, first):
    found = outcomes(Role.CONSENT_VIDEO, consent=facts)
    assert (found["consent_start"], found["consent_first"]) == (start, first)


def test_one_cause_of_a_recording_is_told_once():
    loud = GOOD.model_copy(
        update={"speech_rms_dbfs": -9.0, "true_peak_dbtp": 0.4, "clipped_runs": 900}
    )
    levels = AudioLevels(peak_dbfs=0.0, rms_dbfs=-10.0)
    facts = Facts(file=FILE, recording=SOUND.model_copy(update={"levels": levels}), voice=loud)
    told = {check.id: check.follows for check in judge(facts, Role.VOICE_AUDIO, load_profile())}
    assert told["voice_clipping"] is None
    for also in ("voice_level", "voice_true_peak", "audio_sample_peak"):
        assert told[also] == "voice_clipping"
    soft = facts.model_copy(update={"voice": loud.model_copy(update={"speech_rms_dbfs": -30.0})})
    told = {check.id: check.follows for check in judge(soft, Role.VOICE_AUDIO, load_profile())}
    assert told["voice_level"] is None
    assert told["voice_true_peak"] == "voice_clipping"


def followed(voice, **recording) -> dict[str, str]:
    """What follows from what."""
    recording["levels"] = AudioLevels(peak_dbfs=-6.0, rms_dbfs=-20.0)
    facts = Facts(file=FILE, recording=SOUND.model_copy(update=recording), voice=voice)
    checks = judge(facts, Role.VOICE_AUDIO, load_profile())
    return {check.id: check.follows for check in checks if check.follows}


def test_a_short_recording_is_told_once_and_its_long_pauses_are_not_its_length():
    short = with_(duration_s=30.0, speech_s=25.0)
    assert followed(short, duration_s=30.0) == {"voice_speech_length": "audio_duration"}
    assert followed(with_(duration_s=300.0, speech_s=25.0), duration_s=300.0) == {}


def test_a_low_sample_rate_is_told_once_and_dull_audio_is_not_its_rate():
    low = {"streams": (STREAM.model_copy(update={"sample_rate_hz": 16_000}),)}
    assert followed(with_(bandwidth_hz=8_000.0), **low) == {"voice_bandwidth": "audio_sample_rate"}
    assert followed(with_(bandwidth_hz=5_500.0), **low) == {}


def test_noise_is_called_what_it_is():
    said = {}
    for background in ("noise", "music", "hum"):
        voice = with_(background=background, snr_db=15.0, hum_hz=50.0, hum_dbfs=-40.0)
        facts = Facts(file=FILE, recording=SOUND, voice=voice)
        checks = {each.id: each for each in judge(facts, Role.VOICE_AUDIO, load_profile())}
        said[background] = checks["voice_snr"].sentence, checks["voice_hum"].follows
    assert said["noise"] == (
        "Noise or the echo of the room is too loud: the speech is only 15.0 dB louder.", None
    )  # fmt: skip
    assert said["music"] == ("Music is too loud: the speech is only 15.0 dB louder.", None)
    assert said["hum"] == ("Mains hum is too loud: the speech is only 15.0 dB louder.", "voice_snr")

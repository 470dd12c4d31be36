"""What fixes a recording that a voice is to be made of."""

from __future__ import annotations

from palprep.facts import Facts
from palprep.rules.plans.asked import not_passed, reasons_for
from palprep.rules.plans.spans import choose_spans
from palprep.rules.plans.values import AudioPlan, NoiseBound, Plan, Reason, VoicePlan
from palprep.rules.profile import Profile
from palprep.rules.report import Report
from palprep.speech import VoiceFacts
from palprep.values import Role, Span

_CONTAINER_FIXES = {"extract": ("audio_only",), "convert": ("audio_format",)}
_AUDIO_FIXES = {
    "mix": ("voice_stereo", "audio_channels"),
    "high_pass": ("voice_hum", "voice_dc_offset"),
    "level": ("voice_level", "voice_true_peak", "audio_sample_peak"),
}
_COPY_CONTAINERS = {
    "aac": "m4a",
    "mp3": "mp3",
    "flac": "flac",
    "opus": "ogg",
    "vorbis": "ogg",
    "pcm_s16le": "wav",
    "pcm_s24le": "wav",
}
"""Container for a stream copy of each codec that the service's file types can hold."""

HIGH_PASS_HZ = 75.0
"""Below the lowest voices (about 80 Hz), above the mains' 50 and 60 Hz."""

TRUE_PEAK_DBTP = -3.5
"""Half a decibel below the limit, which lossy coding may use up."""

MARGIN_S = 1.0
"""A selection ends this much short of the longest length, for what joins and coding add."""

LOUDNESS_RANGE_LUFS = (-40.0, -10.0)
"""What a loudness can be set to, whatever the recording's own crest."""


def plan_voice(report: Report, facts: Facts, profile: Profile) -> Plan | None:
    """The audio track alone where that is all; else one pass that cuts, cleans and levels."""
    audio = facts.audio
    if audio is None:
        return None
    asked = reasons_for(report, _CONTAINER_FIXES)
    cleaning = reasons_for(report, _AUDIO_FIXES)
    voice = facts.voice
    if voice is not None:
        spans = _selected(voice, profile)
        if spans:
            cleaning = (_selection(report), *cleaning)
        if cleaning:
            return _cleaned(voice, audio.stream.index, (*asked, *cleaning), spans, profile)
    if not asked and not cleaning:
        return None
    container = _COPY_CONTAINERS.get(audio.stream.codec)
    copied = container is not None and {reason.fix for reason in asked} == {"extract"}
    return AudioPlan.model_validate(
        {
            "reasons": (*asked, *cleaning),
            "stream": audio.stream.index,
            "copy_codec": copied,
            "container": container if copied else "wav",
        }
    )


def _cleaned(
    voice: VoiceFacts,
    stream: int,
    reasons: tuple[Reason, ...],
    spans: tuple[Span, ...],
    profile: Profile,
) -> VoicePlan:
    fixes = {reason.fix for reason in reasons}
    return VoicePlan(
        reasons=reasons,
        stream=stream,
        spans=spans,
        mix=_mix(voice) if "mix" in fixes else "keep" if voice.channels <= 2 else "average",
        high_pass_hz=HIGH_PASS_HZ if "high_pass" in fixes else None,
        loudness_lufs=_loudness(voice) if "level" in fixes else None,
        true_peak_dbtp=TRUE_PEAK_DBTP,
        noise=_noise_bound(voice, profile),
        container="wav",
    )


def _loudness(voice: VoiceFacts) -> float | None:
    """The integrated loudness at which the speech stands at its target level.

    Levels of speech are advised in RMS and set in LUFS; the recording's own difference
    between the two is kept.
    """
    if voice.integrated_lufs is None or voice.speech_rms_dbfs is None:
        return None
    wanted = voice.integrated_lufs + voice.target_rms_dbfs - voice.speech_rms_dbfs
    low, high = LOUDNESS_RANGE_LUFS
    return round(min(high, max(low, wanted)), 1)


def _noise_bound(voice: VoiceFacts, profile: Profile) -> NoiseBound | None:
    limit = profile.tightest_maximum(Role.VOICE_AUDIO, "voice_noise_floor")
    if limit is None or voice.noise_floor_dbfs is None:
        return None
    return NoiseBound(floor_dbfs=voice.noise_floor_dbfs, limit_dbfs=limit)


def _mix(voice: VoiceFacts) -> str:
    if voice.silent_channel is not None:
        return "second" if voice.silent_channel == 0 else "first"
    return "difference" if voice.inverted else "average"


def _selected(voice: VoiceFacts, profile: Profile) -> tuple[Span, ...]:
    """The best speech of a recording that holds more than is wanted, else nothing."""
    longest = profile.tightest_maximum(Role.VOICE_AUDIO, "voice_speech_length")
    if longest is None or voice.speech_s <= longest:
        return ()
    return choose_spans(voice, min_s=longest / 2, max_s=longest - MARGIN_S)


def _selection(report: Report) -> Reason:
    lengths = ("voice_speech_length", "audio_duration")
    open_checks = not_passed(report)
    return Reason(fix="select", answers=tuple(each for each in lengths if each in open_checks))

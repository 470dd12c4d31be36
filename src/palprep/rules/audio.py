"""Rules of a recording: format, length and plain levels, and what is heard in it."""

from __future__ import annotations

import math

from palprep.facts import Facts
from palprep.media import AudioFacts, FileFacts
from palprep.rules.needs import AUDIO, FACTS, FILE, LEVELS, VOICE
from palprep.rules.rule import Measured, plain, rule
from palprep.rules.texts.words import REASONS, Unmeasured, counted
from palprep.speech import VoiceFacts

NO_SPEECH = {
    "speech": REASONS["too_little_speech"],
    "music": REASONS["only_music"],
    "noise": REASONS["only_noise"],
    "silence": REASONS["silence"],
}
"""Why speech cannot be measured, by what there is to hear."""


@rule(FILE)
def audio_format(file: FileFacts) -> Measured:
    return Measured(value=file.type.format, words={"type": file.type.description})


@rule(FACTS)
def audio_present(facts: Facts) -> Measured:
    audio = facts.audio
    shown = "no audio stream" if audio is None else f"{audio.stream.codec} audio"
    return Measured(value=audio is not None, shown=shown)


audio_only = plain(
    "audio_only", FACTS, lambda facts: facts.video is None, ("audio only", "video with audio")
)


def _other_streams(facts: Facts) -> int | None:
    if facts.video is not None:
        return facts.video.other_streams
    return None if facts.audio is None else len(facts.audio.streams) - 1


single_streams = plain("single_streams", FACTS, _other_streams, "{} beside what is played")
audio_audible = plain("audio_audible", LEVELS, lambda levels: levels.rms_dbfs, "{:.1f} dBFS RMS")


audio_complete = plain(
    "audio_complete", AUDIO, lambda audio: not audio.truncated, ("complete", "cut off")
)


@rule(AUDIO)
def audio_duration(audio: AudioFacts) -> Measured:
    cause = REASONS["cut_off"] if audio.truncated else None
    length_s = round(audio.duration_s, 1)
    return Measured(value=length_s, shown=f"{length_s:.1f} s", cause=cause)


audio_sample_rate = plain(
    "audio_sample_rate", AUDIO, lambda audio: audio.stream.sample_rate_hz, "{:,} Hz"
)
audio_sample_peak = plain(
    "audio_sample_peak", LEVELS, lambda levels: levels.peak_dbfs, "{:.1f} dBFS"
)
voice_true_peak = plain("voice_true_peak", VOICE, lambda voice: voice.true_peak_dbtp, "{:.1f} dBTP")
voice_dc_offset = plain("voice_dc_offset", VOICE, lambda voice: voice.dc_offset, "{:.2%}")


@rule(AUDIO)
def audio_channels(audio: AudioFacts) -> Measured:
    stream = audio.stream
    channels = counted(stream.channels, "channel", "channels")
    return Measured(value=stream.channels, shown=stream.layout, words={"channels": channels})


@rule(VOICE)
def voice_content(voice: VoiceFacts) -> Measured:
    speaks = voice.content == "speech"
    return Measured(value=voice.content, cause=None if speaks else NO_SPEECH[voice.content])


@rule(VOICE)
def voice_speech_length(voice: VoiceFacts) -> Measured:
    cause = None if voice.speech else NO_SPEECH[voice.content]
    speech_s = round(voice.speech_s, 1)
    return Measured(value=speech_s, shown=f"{speech_s:.1f} s", cause=cause)


def _known(value: float | None, voice: VoiceFacts) -> float | Unmeasured:
    """The value, or why neither speech nor what is between the words could be measured."""
    if value is not None:
        return value
    return NO_SPEECH[voice.content] if voice.speech_rms_dbfs is None else REASONS["no_pause"]


voice_level = plain(
    "voice_level", VOICE, lambda voice: _known(voice.speech_rms_dbfs, voice), "{:.1f} dBFS"
)


@rule(VOICE)
def voice_clipping(voice: VoiceFacts) -> Measured:
    rate = voice.clipped_runs / voice.duration_s * 60 if voice.duration_s else 0.0
    peaks = counted(math.ceil(rate), "clipped peak a minute", "clipped peaks a minute")
    return Measured(value=rate, shown=peaks if rate else "no clipped peaks")


@rule(VOICE)
def voice_snr(voice: VoiceFacts) -> Measured | Unmeasured:
    known = _known(voice.snr_db, voice)
    if isinstance(known, Unmeasured):
        return known
    # Where steps are the noise, a quieter room does not help.
    advice = REASONS["eight_bits"].advice if voice.dropouts is None else None
    way = None if voice.background == "noise" else voice.background
    return Measured(value=round(known, 1), shown=f"{known:.1f} dB", way=way, advice=advice)


@rule(VOICE)
def voice_reverberation(voice: VoiceFacts) -> Measured | Unmeasured:
    if voice.reverberation_s is None:
        return REASONS["echo_hidden"] if voice.speech else NO_SPEECH[voice.content]
    return Measured(value=round(voice.reverberation_s, 2), shown=f"{voice.reverberation_s:.2f} s")


voice_noise_floor = plain(
    "voice_noise_floor",
    VOICE,
    lambda voice: _known(voice.noise_after_gain_dbfs, voice),
    "{:.1f} dBFS",
)


@rule(VOICE)
def voice_bandwidth(voice: VoiceFacts) -> Measured | Unmeasured:
    if voice.bandwidth_hz is None:
        return NO_SPEECH[voice.content]
    hints = f" ({'; '.join(voice.codec_hints)})" if voice.codec_hints else ""
    highest_hz = round(voice.bandwidth_hz, -2)
    frequency = f"{highest_hz:,.0f} Hz"
    return Measured(value=highest_hz, shown=f"{frequency}{hints}", words={"frequency": frequency})


@rule(VOICE)
def voice_hum(voice: VoiceFacts) -> Measured:
    if voice.hum_hz is None or voice.hum_dbfs is None:
        return Measured(value=-120.0, shown="none")
    level = round(voice.hum_dbfs, 1)
    return Measured(value=level, shown=f"{voice.hum_hz:.0f} Hz at {level:.1f} dBFS")


@rule(VOICE)
def voice_dropouts(voice: VoiceFacts) -> Measured | Unmeasured:
    if voice.dropouts is None:
        return REASONS["eight_bits"]
    count = len(voice.dropouts)
    first = f"{voice.dropouts[0].start_s:.1f} s" if voice.dropouts else ""
    return Measured(
        value=count,
        shown=f"{count}, the first at {first}" if first else f"{count}",
        words={"holes": counted(count, "hole", "holes"), "first": first},
    )


@rule(VOICE)
def voice_stereo(voice: VoiceFacts) -> Measured:
    number = 0 if voice.silent_channel is None else voice.silent_channel + 1
    way, shown = ("silent", f"channel {number} is silent") if number else (None, None)
    if voice.inverted:
        way, shown = "inverted", f"one channel is inverted (correlation {voice.correlation:.2f})"
    return Measured(value=way is None, shown=shown, way=way, words={"number": str(number)})


@rule(VOICE)
def voice_one_speaker(voice: VoiceFacts) -> Measured | Unmeasured:
    speakers = voice.speakers
    if speakers.several is None:
        return REASONS["one_or_several"]
    told = "several voices" if speakers.several else "no second voice stands out"
    return Measured(
        value=not speakers.several,
        shown=f"{told} ({speakers.confidence:.0%} sure)",
        words={"confidence": f"{speakers.confidence:.0%}"},
    )

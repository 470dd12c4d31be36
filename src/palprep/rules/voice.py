"""Rules of what is heard in a recording that a voice is to be cloned from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from palprep.rules.measures import counted
from palprep.rules.needs import VOICE
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.rules.sentences import ByLevel, Sentences
from palprep.speech import VoiceFacts

_RECORD_SPEECH = "Record one person speaking, with no music."

NO_SPEECH: Final[Mapping[str, Unmeasured]] = {
    "speech": Unmeasured(reason="There is too little speech to measure.", advice=_RECORD_SPEECH),
    "music": Unmeasured(reason="There is music, and no speech.", advice=_RECORD_SPEECH),
    "noise": Unmeasured(reason="There is noise, and no speech.", advice=_RECORD_SPEECH),
    "silence": Unmeasured(reason="There is nothing to hear.", advice=_RECORD_SPEECH),
}
"""Why speech cannot be measured, by what there is to hear."""

NO_PAUSE = Unmeasured(
    reason="There is no pause in which the noise could be measured.",
    advice="Leave a second of silence at the start.",
)
ONE_OR_SEVERAL = Unmeasured(reason="It cannot be told whether one voice speaks, or several.")


class VoiceContent(Rule[VoiceFacts]):
    """Somebody speaks: no voice is made from music or noise."""

    needs = VOICE
    id = "voice_content"
    label = "Holds speech"
    sentences = Sentences("Speech is heard.")
    advice = _RECORD_SPEECH

    def measure(self, voice: VoiceFacts) -> Measured:
        speaks = voice.content == "speech"
        return Measured(value=voice.content, cause=None if speaks else NO_SPEECH[voice.content])


class VoiceSpeechLength(Rule[VoiceFacts]):
    """What counts is the time that is spoken, not the length of the file."""

    needs = VOICE
    id = "voice_speech_length"
    label = "Speech"
    unit = "s"
    sentences = Sentences(
        "{seconds} of speech are heard.",
        below=ByLevel(
            fail="There is too little speech: {seconds}.",
            warn="There is less speech than is best: {seconds}.",
        ),
        above=ByLevel(
            fail="There is too much speech: {seconds}.",
            warn="There is more speech than is of use: {seconds}.",
        ),
    )
    advice = (
        "Record one to three minutes of natural speech. Of a longer recording palprep fix keeps "
        "the best part."
    )

    def measure(self, voice: VoiceFacts) -> Measured:
        return Measured(
            value=voice.speech_s,
            shown=f"{voice.speech_s:.1f} s in {len(voice.speech)} stretches "
            f"({voice.speech_ratio:.0%} of the recording)",
            words={"seconds": f"{voice.speech_s:.1f} s"},
            cause=None if voice.speech else NO_SPEECH[voice.content],
        )


class VoiceLevel(Rule[VoiceFacts]):
    """Soft speech must be raised, and its noise with it; loud speech leaves its peaks no room."""

    needs = VOICE
    id = "voice_level"
    label = "Level of speech"
    unit = "dBFS"
    sentences = Sentences(
        "The speech has a level of {level}.",
        below="The speech is too soft: its level is {level}.",
        above="The speech is too loud: its level is {level}.",
    )
    advice = "palprep fix sets the level. When recording, aim for peaks at -6 dB on the meter."

    def measure(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.speech_rms_dbfs is None:
            return NO_SPEECH[voice.content]
        loudness = f", {voice.integrated_lufs:.1f} LUFS" if voice.integrated_lufs else ""
        return Measured(
            value=voice.speech_rms_dbfs,
            shown=f"{voice.speech_rms_dbfs:.1f} dBFS RMS{loudness}",
            words={"level": f"{voice.speech_rms_dbfs:.1f} dBFS"},
        )


class VoiceTruePeak(Rule[VoiceFacts]):
    """Peaks between the samples leave headroom too: converters and encoders would clip them."""

    needs = VOICE
    id = "voice_true_peak"
    label = "True peak"
    unit = "dBTP"
    sentences = Sentences(
        "The highest peak is at {measured}.",
        below="The audio is too soft: its highest peak is at {measured}.",
        above="The peaks are too high: the highest is at {measured}.",
    )
    advice = "palprep fix lowers it. When recording, leave more headroom."

    def measure(self, voice: VoiceFacts) -> Measured:
        return Measured(value=voice.true_peak_dbtp, shown=f"{voice.true_peak_dbtp:.1f} dBTP")


class VoiceClipping(Rule[VoiceFacts]):
    """No wave is cut off at full scale. What is cut off is lost; a lower volume only hides it."""

    needs = VOICE
    id = "voice_clipping"
    label = "Clipping"
    unit = "clipped peaks a minute"
    sentences = Sentences(
        "The audio has {peaks}.",
        above=ByLevel(
            fail="The audio is clipped throughout: it has {peaks}.",
            warn="The audio is clipped in places: it has {peaks}.",
        ),
    )
    advice = "Record it again with the gain lower, or further from the microphone."

    def measure(self, voice: VoiceFacts) -> Measured:
        rate = voice.clipped_runs / voice.duration_s * 60 if voice.duration_s else 0.0
        shown = f"{voice.clipped_runs} clipped peaks, {voice.clipped_s * 1000:.1f} ms in all"
        return Measured(
            value=rate,
            shown=shown if voice.clipped_runs else "none",
            words={"peaks": counted(voice.clipped_runs, "clipped peak", "clipped peaks")},
        )


class VoiceNoise(Rule[VoiceFacts]):
    """Speech stands out from the noise behind it: a clone copies the hiss and hum of its sample."""

    needs = VOICE
    id = "voice_snr"
    label = "Speech above noise"
    unit = "dB"
    sentences = Sentences(
        "The speech is {ratio} louder than the noise.",
        below=ByLevel(
            fail="The noise is too loud: the speech is only {ratio} louder.",
            warn="Some noise is heard: the speech is {ratio} louder.",
        ),
    )
    advice = "Record in a quiet room with soft furniture, a hand's width from the microphone."

    def measure(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.snr_db is None:
            return _no_noise_measured(voice)
        floor = voice.noise_floor_dbfs
        return Measured(
            value=voice.snr_db,
            shown=f"{voice.snr_db:.1f} dB over {floor:.1f} dBFS",
            words={"ratio": f"{voice.snr_db:.1f} dB"},
        )


class VoiceNoiseFloor(Rule[VoiceFacts]):
    """The noise stays low once the speech is brought to its level."""

    needs = VOICE
    id = "voice_noise_floor"
    label = "Noise at speaking level"
    unit = "dBFS"
    sentences = Sentences(
        "At speaking level the noise is at {level}.",
        above="Once the speech has its level, the noise is too loud: {level}.",
    )
    advice = "Record closer to the microphone, or in a quieter room. Gain raises the noise as well."

    def measure(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.noise_after_gain_dbfs is None:
            return _no_noise_measured(voice)
        return Measured(
            value=voice.noise_after_gain_dbfs,
            words={"level": f"{voice.noise_after_gain_dbfs:.1f} dBFS"},
            shown=f"{voice.noise_after_gain_dbfs:.1f} dBFS with speech at "
            f"{voice.target_rms_dbfs:.0f} dBFS",
        )


class VoiceBandwidth(Rule[VoiceFacts]):
    """The audio holds high frequencies. That of a telephone stays dull at any sample rate."""

    needs = VOICE
    id = "voice_bandwidth"
    label = "Bandwidth"
    unit = "Hz"
    sentences = Sentences(
        "The audio holds frequencies up to {frequency}.",
        below=ByLevel(
            fail="The audio is dull, like that of a telephone: it ends at {frequency}.",
            warn="High frequencies are missing: the audio ends at {frequency}.",
        ),
    )
    advice = (
        "Use the original recording, not a forwarded message. Record at 48 kHz, without Bluetooth."
    )

    def measure(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.bandwidth_hz is None:
            return NO_SPEECH[voice.content]
        hints = f" ({'; '.join(voice.codec_hints)})" if voice.codec_hints else ""
        frequency = f"{voice.bandwidth_hz / 1000:.1f} kHz"
        return Measured(
            value=voice.bandwidth_hz, shown=f"{frequency}{hints}", words={"frequency": frequency}
        )


class VoiceHum(Rule[VoiceFacts]):
    """No mains hum is heard. It comes through bad cables and power supplies, below the voice."""

    needs = VOICE
    id = "voice_hum"
    label = "Mains hum"
    unit = "dBFS"
    sentences = Sentences(
        "No hum of the mains stands out.", above="The mains hum, with {measured}."
    )
    advice = "Unplug the charger, or use another cable. palprep fix removes what lies below speech."

    def measure(self, voice: VoiceFacts) -> Measured:
        if voice.hum_hz is None or voice.hum_dbfs is None:
            return Measured(value=-120.0, shown="none")
        return Measured(
            value=voice.hum_dbfs, shown=f"{voice.hum_hz:.0f} Hz at {voice.hum_dbfs:.1f} dBFS"
        )


class VoiceOffset(Rule[VoiceFacts]):
    """The wave is centred on zero. An offset takes headroom and clicks at every cut."""

    needs = VOICE
    id = "voice_dc_offset"
    label = "DC offset"
    unit = "of full scale"
    sentences = Sentences(
        "The wave is off its centre by {measured}.",
        above="The wave is too far off its centre: {measured} of full scale.",
    )
    advice = "palprep fix removes it. A healthy microphone has none."

    def measure(self, voice: VoiceFacts) -> Measured:
        return Measured(value=voice.dc_offset, shown=f"{voice.dc_offset:.2%}")


class VoiceDropouts(Rule[VoiceFacts]):
    """The audio has no holes, as lost packets and overloaded recorders leave them."""

    needs = VOICE
    id = "voice_dropouts"
    label = "Dropouts"
    unit = "holes"
    sentences = Sentences(
        "The audio has {holes}.", above="The audio has {holes}, the first at {first}."
    )
    advice = "Record it again on the device itself, not over a call or wireless."

    def measure(self, voice: VoiceFacts) -> Measured:
        count = len(voice.dropouts)
        first = f"{voice.dropouts[0].start_s:.1f} s" if voice.dropouts else ""
        return Measured(
            value=count,
            shown=f"{count}, the first at {first}" if first else f"{count}",
            words={"holes": counted(count, "hole", "holes"), "first": first},
        )


class VoiceStereo(Rule[VoiceFacts]):
    """Both channels hold the voice. A silent one halves the level of a mixdown, an inverted one
    cancels the voice."""

    needs = VOICE
    id = "voice_stereo"
    label = "Channels belong together"
    sentences = Sentences(
        "The channels belong together.",
        inverted="One channel is inverted, so that the two cancel each other.",
        silent="Channel {number} is silent.",
    )
    advice = "palprep fix keeps the good channel, or inverts the inverted one again."

    def measure(self, voice: VoiceFacts) -> Measured:
        number = 0 if voice.silent_channel is None else voice.silent_channel + 1
        way, shown = None, None
        if voice.inverted:
            way, shown = (
                "inverted",
                f"one channel is inverted (correlation {voice.correlation:.2f})",
            )
        elif number:
            way, shown = "silent", f"channel {number} is silent"
        return Measured(value=way is None, shown=shown, way=way, words={"number": str(number)})


class VoiceSpeakers(Rule[VoiceFacts]):
    """One person speaks. A second voice, even in the background, mixes into the clone."""

    needs = VOICE
    id = "voice_one_speaker"
    label = "One speaker"
    sentences = Sentences(
        "No second voice stands out.",
        otherwise="A second voice seems to speak. That is {confidence} sure.",
    )
    advice = "Cut the other person out, or record without them."

    def measure(self, voice: VoiceFacts) -> Measured | Unmeasured:
        speakers = voice.speakers
        if speakers.several is None:
            return ONE_OR_SEVERAL
        told = "several voices" if speakers.several else "no second voice stands out"
        return Measured(
            value=not speakers.several,
            shown=f"{told} ({speakers.confidence:.0%} sure)",
            words={"confidence": f"{speakers.confidence:.0%}"},
        )


def _no_noise_measured(voice: VoiceFacts) -> Unmeasured:
    return NO_SPEECH[voice.content] if voice.speech_rms_dbfs is None else NO_PAUSE

"""Rules of what is heard in a recording that a voice is to be cloned from."""

from __future__ import annotations

from palprep.facts.facts import Facts
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.speech.facts import VoiceFacts

_NOT_HEARD = "The sound was not listened to; run the check without --quick."
_NO_SPEECH = "There is no speech to measure."
_NO_PAUSE = "There is no pause to measure the noise in; leave a second of silence at the start."


class VoiceRule(Rule):
    """A rule of the sound that was listened to; silent where there is no sound at all."""

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        if facts.voice is None:
            return None if facts.audio is None else Unmeasured(reason=_NOT_HEARD)
        return self.measure_voice(facts.voice)

    def measure_voice(self, voice: VoiceFacts) -> Measured | Unmeasured:
        """The measure of what was heard; every subclass gives one."""
        raise NotImplementedError


class VoiceContent(VoiceRule):
    """Somebody must speak: music and noise make no voice."""

    id = "voice_content"
    label = "Holds speech"
    advice = "Record one person speaking, with no music."

    def measure_voice(self, voice: VoiceFacts) -> Measured:
        return Measured(value=voice.content)


class VoiceSpeechLength(VoiceRule):
    """What counts is the time that is spoken, not the length of the file."""

    id = "voice_speech_length"
    label = "Speech"
    unit = "s"
    advice = "Record one to three minutes of natural speech; palprep fix keeps the best of more."

    def measure_voice(self, voice: VoiceFacts) -> Measured:
        return Measured(
            value=voice.speech_s,
            shown=f"{voice.speech_s:.1f} s in {len(voice.speech)} stretches "
            f"({voice.speech_ratio:.0%} of the recording)",
        )


class VoiceLevel(VoiceRule):
    """Speech neither so soft that its noise must be raised, nor so loud that it is squeezed."""

    id = "voice_level"
    label = "Level of speech"
    unit = "dBFS"
    advice = "palprep fix sets the level; when recording, aim for peaks at -6 dB on the meter."

    def measure_voice(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.speech_rms_dbfs is None:
            return Unmeasured(reason=_NO_SPEECH)
        loudness = f", {voice.integrated_lufs:.1f} LUFS" if voice.integrated_lufs else ""
        return Measured(
            value=voice.speech_rms_dbfs,
            shown=f"{voice.speech_rms_dbfs:.1f} dBFS RMS{loudness}",
        )


class VoiceTruePeak(VoiceRule):
    """Peaks between the samples overshoot in every converter and encoder that follows."""

    id = "voice_true_peak"
    label = "True peak"
    unit = "dBTP"
    advice = "palprep fix lowers it; when recording, leave more head-room."

    def measure_voice(self, voice: VoiceFacts) -> Measured:
        return Measured(value=voice.true_peak_dbtp, shown=f"{voice.true_peak_dbtp:.1f} dBTP")


class VoiceClipping(VoiceRule):
    """A wave cut off at full scale is lost; turning it down only hides it."""

    id = "voice_clipping"
    label = "Clipping"
    unit = "clipped peaks a minute"
    advice = "Record again with the gain lower, or farther from the microphone."

    def measure_voice(self, voice: VoiceFacts) -> Measured:
        rate = voice.clipped_runs / voice.duration_s * 60 if voice.duration_s else 0.0
        shown = f"{voice.clipped_runs} clipped peaks, {voice.clipped_s * 1000:.1f} ms in all"
        return Measured(value=rate, shown=shown if voice.clipped_runs else "none")


class VoiceNoise(VoiceRule):
    """A clone speaks with the room of its sample: hiss and hum behind the words stay."""

    id = "voice_snr"
    label = "Speech above noise"
    unit = "dB"
    advice = "Record in a quiet room with soft furniture, a hand's width from the microphone."

    def measure_voice(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.snr_db is None:
            return Unmeasured(reason=_NO_SPEECH if voice.speech_rms_dbfs is None else _NO_PAUSE)
        floor = voice.noise_floor_dbfs
        return Measured(value=voice.snr_db, shown=f"{voice.snr_db:.1f} dB over {floor:.1f} dBFS")


class VoiceNoiseAfterGain(VoiceRule):
    """Where the noise ends up once speech is brought to its level."""

    id = "voice_noise_after_gain"
    label = "Noise at speaking level"
    unit = "dBFS"
    advice = "Record closer to the microphone or in a quieter room; gain raises noise as well."

    def measure_voice(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.noise_after_gain_dbfs is None:
            return Unmeasured(reason=_NO_SPEECH if voice.speech_rms_dbfs is None else _NO_PAUSE)
        return Measured(
            value=voice.noise_after_gain_dbfs,
            shown=f"{voice.noise_after_gain_dbfs:.1f} dBFS with speech at "
            f"{voice.target_rms_dbfs:.0f} dBFS",
        )


class VoiceBandwidth(VoiceRule):
    """A telephone's or an old file's sound stays dull at any sample rate it is stored at."""

    id = "voice_bandwidth"
    label = "Bandwidth"
    unit = "Hz"
    advice = "Send the original recording, not a forwarded message; record at 48 kHz, no Bluetooth."

    def measure_voice(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.bandwidth_hz is None:
            return Unmeasured(reason=_NO_SPEECH)
        hints = f" ({'; '.join(voice.codec_hints)})" if voice.codec_hints else ""
        return Measured(
            value=voice.bandwidth_hz, shown=f"{voice.bandwidth_hz / 1000:.1f} kHz{hints}"
        )


class VoiceHum(VoiceRule):
    """The mains hums through bad cables and power supplies, steadily and below the voice."""

    id = "voice_hum"
    label = "Mains hum"
    unit = "dBFS"
    advice = "Unplug the charger, use another cable; palprep fix takes off what lies below speech."

    def measure_voice(self, voice: VoiceFacts) -> Measured:
        if voice.hum_hz is None or voice.hum_dbfs is None:
            return Measured(value=-120.0, shown="none")
        return Measured(
            value=voice.hum_dbfs, shown=f"{voice.hum_hz:.0f} Hz at {voice.hum_dbfs:.1f} dBFS"
        )


class VoiceOffset(VoiceRule):
    """Direct current eats head-room and clicks at every cut."""

    id = "voice_dc_offset"
    label = "DC offset"
    unit = "of full scale"
    advice = "palprep fix removes it; a healthy microphone has none."

    def measure_voice(self, voice: VoiceFacts) -> Measured:
        return Measured(value=voice.dc_offset, shown=f"{voice.dc_offset:.2%}")


class VoiceDropouts(VoiceRule):
    """Holes in the sound come from lost packets and overloaded recorders."""

    id = "voice_dropouts"
    label = "Dropouts"
    unit = "holes"
    advice = "Record again on the device itself, not over a call or wireless."

    def measure_voice(self, voice: VoiceFacts) -> Measured:
        first = f", the first at {voice.dropouts[0].start_s:.1f} s" if voice.dropouts else ""
        return Measured(value=len(voice.dropouts), shown=f"{len(voice.dropouts)}{first}")


class VoiceStereo(VoiceRule):
    """A silent channel halves the level of a mixdown, an inverted one cancels the voice."""

    id = "voice_stereo"
    label = "Channels belong together"
    advice = "palprep fix keeps the good channel or turns the inverted one round."

    def measure_voice(self, voice: VoiceFacts) -> Measured:
        if voice.inverted:
            shown = f"one channel is inverted (correlation {voice.correlation:.2f})"
            return Measured(value=False, shown=shown)
        if voice.silent_channel is not None:
            return Measured(value=False, shown=f"channel {voice.silent_channel + 1} is silent")
        return Measured(value=True)


class VoiceSpeakers(VoiceRule):
    """One voice is cloned; a second one, even in the background, mixes into it."""

    id = "voice_one_speaker"
    label = "One speaker"
    advice = "Cut out or record without the other person."

    def measure_voice(self, voice: VoiceFacts) -> Measured | Unmeasured:
        speakers = voice.speakers
        if speakers.several is None:
            return Unmeasured(reason="One voice or several cannot be told from this much speech.")
        told = "several voices" if speakers.several else "no second voice stands out"
        return Measured(
            value=not speakers.several, shown=f"{told} ({speakers.confidence:.0%} sure)"
        )


VOICE_RULES: tuple[type[Rule], ...] = (
    VoiceContent,
    VoiceSpeechLength,
    VoiceLevel,
    VoiceTruePeak,
    VoiceClipping,
    VoiceNoise,
    VoiceNoiseAfterGain,
    VoiceBandwidth,
    VoiceHum,
    VoiceOffset,
    VoiceDropouts,
    VoiceStereo,
    VoiceSpeakers,
)

"""Rules of what is heard in a recording that a voice is to be cloned from."""

from __future__ import annotations

from palprep.rules.needs import VOICE
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.speech.facts import VoiceFacts

_NO_SPEECH = Unmeasured(reason="There is no speech to measure.")
_NO_PAUSE = Unmeasured(
    reason="There is no pause to measure the noise in; leave a second of silence at the start."
)


class VoiceContent(Rule[VoiceFacts]):
    """Somebody speaks: no voice is made from music or noise."""

    needs = VOICE
    id = "voice_content"
    label = "Holds speech"
    advice = "Record one person speaking, with no music."

    def measure(self, voice: VoiceFacts) -> Measured:
        return Measured(value=voice.content)


class VoiceSpeechLength(Rule[VoiceFacts]):
    """What counts is the time that is spoken, not the length of the file."""

    needs = VOICE
    id = "voice_speech_length"
    label = "Speech"
    unit = "s"
    advice = "Record one to three minutes of natural speech; palprep fix keeps the best of more."

    def measure(self, voice: VoiceFacts) -> Measured:
        return Measured(
            value=voice.speech_s,
            shown=f"{voice.speech_s:.1f} s in {len(voice.speech)} stretches "
            f"({voice.speech_ratio:.0%} of the recording)",
        )


class VoiceLevel(Rule[VoiceFacts]):
    """Soft speech must be raised, and its noise with it; loud speech leaves its peaks no room."""

    needs = VOICE
    id = "voice_level"
    label = "Level of speech"
    unit = "dBFS"
    advice = "palprep fix sets the level; when recording, aim for peaks at -6 dB on the meter."

    def measure(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.speech_rms_dbfs is None:
            return _NO_SPEECH
        loudness = f", {voice.integrated_lufs:.1f} LUFS" if voice.integrated_lufs else ""
        return Measured(
            value=voice.speech_rms_dbfs,
            shown=f"{voice.speech_rms_dbfs:.1f} dBFS RMS{loudness}",
        )


class VoiceTruePeak(Rule[VoiceFacts]):
    """Peaks between the samples leave headroom too: converters and encoders would clip them."""

    needs = VOICE
    id = "voice_true_peak"
    label = "True peak"
    unit = "dBTP"
    advice = "palprep fix lowers it; when recording, leave more headroom."

    def measure(self, voice: VoiceFacts) -> Measured:
        return Measured(value=voice.true_peak_dbtp, shown=f"{voice.true_peak_dbtp:.1f} dBTP")


class VoiceClipping(Rule[VoiceFacts]):
    """No wave is cut off at full scale. What is cut off is lost; a lower volume only hides it."""

    needs = VOICE
    id = "voice_clipping"
    label = "Clipping"
    unit = "clipped peaks a minute"
    advice = "Record again with the gain lower, or farther from the microphone."

    def measure(self, voice: VoiceFacts) -> Measured:
        rate = voice.clipped_runs / voice.duration_s * 60 if voice.duration_s else 0.0
        shown = f"{voice.clipped_runs} clipped peaks, {voice.clipped_s * 1000:.1f} ms in all"
        return Measured(value=rate, shown=shown if voice.clipped_runs else "none")


class VoiceNoise(Rule[VoiceFacts]):
    """Speech stands out from the noise behind it: a clone copies the hiss and hum of its sample."""

    needs = VOICE
    id = "voice_snr"
    label = "Speech above noise"
    unit = "dB"
    advice = "Record in a quiet room with soft furniture, a hand's width from the microphone."

    def measure(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.snr_db is None:
            return _NO_SPEECH if voice.speech_rms_dbfs is None else _NO_PAUSE
        floor = voice.noise_floor_dbfs
        return Measured(value=voice.snr_db, shown=f"{voice.snr_db:.1f} dB over {floor:.1f} dBFS")


class VoiceNoiseFloor(Rule[VoiceFacts]):
    """The noise stays low once the speech is brought to its level."""

    needs = VOICE
    id = "voice_noise_floor"
    label = "Noise at speaking level"
    unit = "dBFS"
    advice = "Record closer to the microphone or in a quieter room; gain raises noise as well."

    def measure(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.noise_after_gain_dbfs is None:
            return _NO_SPEECH if voice.speech_rms_dbfs is None else _NO_PAUSE
        return Measured(
            value=voice.noise_after_gain_dbfs,
            shown=f"{voice.noise_after_gain_dbfs:.1f} dBFS with speech at "
            f"{voice.target_rms_dbfs:.0f} dBFS",
        )


class VoiceBandwidth(Rule[VoiceFacts]):
    """The audio holds high frequencies. That of a telephone stays dull at any sample rate."""

    needs = VOICE
    id = "voice_bandwidth"
    label = "Bandwidth"
    unit = "Hz"
    advice = "Send the original recording, not a forwarded message; record at 48 kHz, no Bluetooth."

    def measure(self, voice: VoiceFacts) -> Measured | Unmeasured:
        if voice.bandwidth_hz is None:
            return _NO_SPEECH
        hints = f" ({'; '.join(voice.codec_hints)})" if voice.codec_hints else ""
        return Measured(
            value=voice.bandwidth_hz, shown=f"{voice.bandwidth_hz / 1000:.1f} kHz{hints}"
        )


class VoiceHum(Rule[VoiceFacts]):
    """No mains hum is heard. It comes through bad cables and power supplies, below the voice."""

    needs = VOICE
    id = "voice_hum"
    label = "Mains hum"
    unit = "dBFS"
    advice = "Unplug the charger or use another cable; palprep fix removes what lies below speech."

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
    advice = "palprep fix removes it; a healthy microphone has none."

    def measure(self, voice: VoiceFacts) -> Measured:
        return Measured(value=voice.dc_offset, shown=f"{voice.dc_offset:.2%}")


class VoiceDropouts(Rule[VoiceFacts]):
    """The audio has no holes, as lost packets and overloaded recorders leave them."""

    needs = VOICE
    id = "voice_dropouts"
    label = "Dropouts"
    unit = "holes"
    advice = "Record again on the device itself, not over a call or wireless."

    def measure(self, voice: VoiceFacts) -> Measured:
        first = f", the first at {voice.dropouts[0].start_s:.1f} s" if voice.dropouts else ""
        return Measured(value=len(voice.dropouts), shown=f"{len(voice.dropouts)}{first}")


class VoiceStereo(Rule[VoiceFacts]):
    """Both channels hold the voice. A silent one halves the level of a mixdown, an inverted one
    cancels the voice."""

    needs = VOICE
    id = "voice_stereo"
    label = "Channels belong together"
    advice = "palprep fix keeps the good channel, or inverts the inverted one again."

    def measure(self, voice: VoiceFacts) -> Measured:
        if voice.inverted:
            shown = f"one channel is inverted (correlation {voice.correlation:.2f})"
            return Measured(value=False, shown=shown)
        if voice.silent_channel is not None:
            return Measured(value=False, shown=f"channel {voice.silent_channel + 1} is silent")
        return Measured(value=True)


class VoiceSpeakers(Rule[VoiceFacts]):
    """One person speaks. A second voice, even in the background, mixes into the clone."""

    needs = VOICE
    id = "voice_one_speaker"
    label = "One speaker"
    advice = "Cut out or record without the other person."

    def measure(self, voice: VoiceFacts) -> Measured | Unmeasured:
        speakers = voice.speakers
        if speakers.several is None:
            return Unmeasured(reason="One voice or several cannot be told from this much speech.")
        told = "several voices" if speakers.several else "no second voice stands out"
        return Measured(
            value=not speakers.several, shown=f"{told} ({speakers.confidence:.0%} sure)"
        )

"""Rules of a sound's file: format, length, rate and plain levels.

What is heard in it is judged in :mod:`palprep.rules.voice`.
"""

from __future__ import annotations

from palprep.facts.facts import Facts
from palprep.media.facts import AudioFacts
from palprep.rules.rule import Measured, Rule, Unmeasured


class AudioRule(Rule):
    """A rule of the sound of a recording or of a video; silent where there is no sound at all."""

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        return None if facts.audio is None else self.measure_audio(facts.audio)

    def measure_audio(self, sound: AudioFacts) -> Measured | Unmeasured:
        """The measure of a sound; every subclass gives one."""
        raise NotImplementedError


class AudioFormat(Rule):
    """A voice is made from .mp3, .wav, .m4a, .flac, .ogg, .oga, .webm, .mp4 or .mov."""

    id = "audio_format"
    label = "File type"
    predicts = "accepted file types of training_audio_url"
    advice = "Convert it to WAV or M4A: palprep fix does."

    def measure(self, facts: Facts) -> Measured:
        return Measured(value=facts.file.type.format)


class AudioOnly(Rule):
    """For a video only the audio track is used; a sound file is smaller and shows nobody's face."""

    id = "audio_only"
    label = "Sound without picture"
    advice = "Extract the audio track: palprep fix does, without re-encoding where it can."

    def measure(self, facts: Facts) -> Measured:
        bare = facts.video is None
        return Measured(value=bare, shown="sound only" if bare else "video with sound")


class AudioPresent(Rule):
    """There must be an audio stream: voice and consent are taken from it."""

    id = "audio_present"
    label = "Has an audio stream"
    predicts = "consent"
    advice = "Record it again with the microphone on."

    def measure(self, facts: Facts) -> Measured:
        sound = facts.audio
        shown = "no audio stream" if sound is None else f"{sound.stream.codec} sound"
        return Measured(value=sound is not None, shown=shown)


class AudioAudible(AudioRule):
    """A track that holds nothing but silence is as good as none."""

    id = "audio_audible"
    label = "Not silent"
    unit = "dBFS"
    predicts = "consent"
    advice = "Record it again with the right microphone chosen; check the meter while speaking."

    def measure_audio(self, sound: AudioFacts) -> Measured | Unmeasured:
        if sound.levels is None:
            return Unmeasured(reason="Levels were not measured; run the check without --quick.")
        rms = sound.levels.rms_dbfs
        return Measured(value=rms, shown=f"{rms:.1f} dBFS RMS")


class AudioDuration(AudioRule):
    """Too little speech gives a poor clone; more than the best length adds nothing."""

    id = "audio_duration"
    label = "Length"
    unit = "s"
    advice = "Record one to three minutes of natural speech."

    def measure_audio(self, sound: AudioFacts) -> Measured:
        return Measured(value=sound.duration_s, shown=f"{sound.duration_s:.1f} s")


class AudioSampleRate(AudioRule):
    """The sample rate bounds the highest frequency that can be cloned: half of it."""

    id = "audio_sample_rate"
    label = "Sample rate"
    unit = "Hz"
    advice = "Record at 48 kHz; raising the rate afterwards adds nothing."

    def measure_audio(self, sound: AudioFacts) -> Measured:
        rate = sound.stream.sample_rate_hz
        return Measured(value=rate, shown=f"{rate:,} Hz")


class AudioChannels(AudioRule):
    """Mono or stereo: surround tracks are mixed down in ways nobody listened to."""

    id = "audio_channels"
    label = "Channels"
    unit = "channels"
    advice = "Mix it down to mono or stereo: palprep fix does."

    def measure_audio(self, sound: AudioFacts) -> Measured:
        return Measured(value=sound.stream.channels, shown=sound.stream.layout)


class AudioPeak(AudioRule):
    """Head-room below full scale: peaks at the top are clipped, or will be after coding."""

    id = "audio_peak"
    label = "Sample peak"
    unit = "dBFS"
    advice = "Lower the recording level; a clipped peak cannot be mended by turning it down."

    def measure_audio(self, sound: AudioFacts) -> Measured | Unmeasured:
        if sound.levels is None:
            return Unmeasured(reason="Levels were not measured; run the check without --quick.")
        peak = sound.levels.peak_dbfs
        return Measured(value=peak, shown=f"{peak:.1f} dBFS")


AUDIO_RULES: tuple[type[Rule], ...] = (
    AudioFormat,
    AudioOnly,
    AudioPresent,
    AudioAudible,
    AudioDuration,
    AudioSampleRate,
    AudioChannels,
    AudioPeak,
)

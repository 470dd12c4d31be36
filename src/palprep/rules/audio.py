"""Rules of the audio in a file: format, length, rate and plain levels.

What is heard in it is judged in :mod:`palprep.rules.voice`.
"""

from __future__ import annotations

from palprep.facts import Facts
from palprep.media import AudioFacts, AudioLevels, FileFacts
from palprep.rules.measures import counted
from palprep.rules.needs import AUDIO, FACTS, FILE, LEVELS
from palprep.rules.rule import Measured, Rule
from palprep.rules.sentences import ByLevel, Sentences


class AudioFormat(Rule[FileFacts]):
    """A voice is made from .mp3, .wav, .m4a, .flac, .ogg, .oga, .webm, .mp4 or .mov."""

    needs = FILE
    id = "audio_format"
    label = "File type"
    predicts = "accepted file types of training_audio_url"
    sentences = Sentences(
        "The file is {type}.",
        otherwise="The file is {type}, which is not accepted for a voice.",
    )
    advice = "Convert it to WAV or M4A. palprep fix does so."

    def measure(self, file: FileFacts) -> Measured:
        return Measured(value=file.type.format, words={"type": file.type.description})


class AudioOnly(Rule[Facts]):
    """Of a video only the audio track is used. An audio file is smaller, and shows no face."""

    needs = FACTS
    id = "audio_only"
    label = "Audio without video"
    sentences = Sentences(
        "The file holds audio alone.",
        otherwise="The file is a video, of which only the audio is used.",
    )
    advice = "Extract the audio. palprep fix does so, without re-encoding where it can."

    def measure(self, facts: Facts) -> Measured:
        bare = facts.video is None
        return Measured(value=bare, shown="audio only" if bare else "video with audio")


class AudioPresent(Rule[Facts]):
    """There must be an audio stream: the voice and the consent come from it."""

    needs = FACTS
    id = "audio_present"
    label = "Has an audio stream"
    predicts = "consent"
    sentences = Sentences("The file has audio.", otherwise="The file has no audio.")
    advice = "Record it again with the microphone on."

    def measure(self, facts: Facts) -> Measured:
        audio = facts.audio
        shown = "no audio stream" if audio is None else f"{audio.stream.codec} audio"
        return Measured(value=audio is not None, shown=shown)


class AudioAudible(Rule[AudioLevels]):
    """The audio is not silent."""

    needs = LEVELS
    id = "audio_audible"
    label = "Not silent"
    unit = "dBFS"
    predicts = "consent"
    sentences = Sentences(
        "The level of the audio is {measured}.",
        below="The audio is silent, or nearly so: its level is {measured}.",
        above="The audio is too loud: its level is {measured}.",
    )
    advice = "Record it again with the right microphone chosen. Watch the meter while speaking."

    def measure(self, levels: AudioLevels) -> Measured:
        return Measured(value=levels.rms_dbfs, shown=f"{levels.rms_dbfs:.1f} dBFS RMS")


class AudioDuration(Rule[AudioFacts]):
    """Too little speech gives a poor clone; more than the best length adds nothing."""

    needs = AUDIO
    id = "audio_duration"
    label = "Length"
    unit = "s"
    sentences = Sentences(
        "The recording lasts {measured}.",
        below=ByLevel(
            fail="The recording is too short: it lasts {measured}.",
            warn="The recording is shorter than is best: it lasts {measured}.",
        ),
        above=ByLevel(
            fail="The recording is too long: it lasts {measured}.",
            warn="The recording is longer than is of use: it lasts {measured}.",
        ),
    )
    advice = "Record one to three minutes of natural speech."

    def measure(self, audio: AudioFacts) -> Measured:
        return Measured(value=audio.duration_s, shown=f"{audio.duration_s:.1f} s")


class AudioSampleRate(Rule[AudioFacts]):
    """Half of the sample rate is the highest frequency that a clone can have."""

    needs = AUDIO
    id = "audio_sample_rate"
    label = "Sample rate"
    unit = "Hz"
    sentences = Sentences(
        "The sample rate is {measured}.",
        below="The sample rate is too low: it is {measured}.",
        above="The sample rate is too high: it is {measured}.",
    )
    advice = "Record at 48 kHz. Raising the rate afterwards adds nothing."

    def measure(self, audio: AudioFacts) -> Measured:
        rate = audio.stream.sample_rate_hz
        return Measured(value=rate, shown=f"{rate:,} Hz")


class AudioChannels(Rule[AudioFacts]):
    """Mono or stereo: surround audio is mixed down in ways that no one has listened to."""

    needs = AUDIO
    id = "audio_channels"
    label = "Channels"
    unit = "channels"
    sentences = Sentences(
        "The audio has {channels}.",
        below="The audio has too few channels: it has {channels}.",
        above="The audio has too many channels: it has {channels}.",
    )
    advice = "Mix it down to mono or stereo. palprep fix does so."

    def measure(self, audio: AudioFacts) -> Measured:
        stream = audio.stream
        channels = counted(stream.channels, "channel", "channels")
        return Measured(value=stream.channels, shown=stream.layout, words={"channels": channels})


class AudioSamplePeak(Rule[AudioLevels]):
    """The highest sample leaves headroom below full scale: encoding raises peaks and clips them."""

    needs = LEVELS
    id = "audio_sample_peak"
    label = "Sample peak"
    unit = "dBFS"
    sentences = Sentences(
        "The highest sample is at {measured}.",
        below="The audio is too soft: its highest sample is at {measured}.",
        above="The audio is too loud: its highest sample is at {measured}.",
    )
    advice = "Record at a lower level. Turning the volume down afterwards does not undo clipping."

    def measure(self, levels: AudioLevels) -> Measured:
        return Measured(value=levels.peak_dbfs, shown=f"{levels.peak_dbfs:.1f} dBFS")

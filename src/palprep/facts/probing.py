"""From a file to its facts: which measures are taken of what, each in as few passes as can be.

An image is decoded once. A recording is decoded once, for its levels and for the voice in it.
A video is opened three times. The first time one frame is decoded, by a decoder that gives its
memory back. The second time its packets are walked, which tells its timing, and its sound is
decoded once: for its levels, for the voice, and for the opening in which consent is looked for.
The third time its frames are decoded, sparsely, while the sound is being listened to. Where words
are spoken it is opened a fourth time: for the lips some seconds are decoded once more, and by then
it is known which.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.consent import (
    FRAMES_PER_S,
    LipsFacts,
    Listeners,
    Opening,
    StatementReading,
    measure_lips,
    model_for,
    read_samples,
    stretch_of,
)
from palprep.errors import ToolMissing, UnsupportedMedia
from palprep.facts.facts import Facts, Speaker
from palprep.facts.timeline import player_times
from palprep.media import (
    AudioStreamFacts,
    SignalFacts,
    SignalMeter,
    Sink,
    Source,
    VideoFacts,
    VideoScan,
    prefetch,
    probe_audio,
    probe_image,
    probe_video,
    sample_frames,
    scan_video,
)
from palprep.speech import RATE_HZ, Silero, VoiceFacts, VoiceMeter, Voiceprint, measure_voice
from palprep.values import Kind, Role
from palprep.vision import (
    CLOSE_LOOKS,
    MAX_SIDE,
    FootageFacts,
    Models,
    analyse_footage,
    analyse_portrait,
    follow_mouth,
)

FRAME_SIDE = 960
"""Longer side, in pixels, of the frames of a video that are looked at."""

MOST_SAMPLES = 120
"""Frames of a video that are looked at, whatever its length."""

QUICK_SAMPLES, QUICK_LOOKS = 8, 2
"""Key frames that are looked at, and those of them that get every measure of an image."""

SHORTEST_STEP_S = 0.25
"""Frames closer together than this add nothing, even in a short clip: lips move slower."""


class ProbeLimits(NamedTuple):
    """How far a file is read. None reads to the end, whatever it takes."""

    image_memory_mb: float | None
    """Images whose decoding takes more are not looked at."""
    duration_s: float | None
    """What lies beyond it is neither listened to nor looked at."""


class Toolkit:
    """What measuring needs, loaded when first used and kept. Safe to share by threads."""

    def __init__(self, models: Models | None = None) -> None:
        self.models = models or Models()
        self._listeners: dict[Path | None, Listeners] = {}
        self._loading = Lock()

    @cached_property
    def voice_activity(self) -> Silero:
        """The network that tells speech from everything else."""
        return Silero.load()

    @cached_property
    def voiceprint(self) -> Voiceprint:
        """The network that tells whose voice it is."""
        return Voiceprint.load()

    def listeners(self, folder: Path | None = None) -> Listeners | None:
        """The models that verify words; None where no folder is named, and palprep's own model, or
        what runs it, is not installed.

        Raises ToolMissing for a folder without a model, ToolFailed for a damaged one.
        """
        with self._loading:
            if folder not in self._listeners:
                try:
                    self._listeners[folder] = Listeners.load(folder)
                except ToolMissing:
                    if folder is not None:
                        raise
                    return None
            return self._listeners[folder]


def probe(
    source: Source,
    role: Role,
    toolkit: Toolkit,
    *,
    limits: ProbeLimits,
    speaker: Speaker | None = None,
    quick: bool = False,
) -> Facts:
    """Everything that can be measured of a file in that role, as far as ``limits`` allow.

    ``quick`` looks at headers, packets and a few key frames, and listens to nothing.
    Raises MediaError for a file that cannot be read.
    """
    match source.type.kind:
        case Kind.IMAGE:
            image, picture = probe_image(
                source, max_side=MAX_SIDE, max_memory_mb=limits.image_memory_mb
            )
            portrait = None
            if picture is not None:
                size = (image.width, image.height)
                portrait = analyse_portrait(np.asarray(picture), toolkit.models, size=size)
            return Facts(file=source.facts, image=image, portrait=portrait)
        case Kind.AUDIO if quick:
            return Facts(file=source.facts, recording=probe_audio(source, levels=False))
        case Kind.AUDIO:
            recording, voice = measure_voice(
                source, network=toolkit.voice_activity, most_s=limits.duration_s
            )
            return Facts(file=source.facts, recording=recording, voice=voice)
        case Kind.VIDEO if quick:
            video = probe_video(source, levels=False)
            signal, footage = _look_at(source, video, toolkit, limits, quick=True)
            video = video.model_copy(update={"signal": signal})
            return Facts(
                file=source.facts, video=video, portrait=footage.typical(), footage=footage
            )
        case Kind.VIDEO:
            return _probe_video(source, role, toolkit, speaker, limits)
        case Kind.OTHER:
            raise UnsupportedMedia(f"{source.name} is {source.type.description}")


def _probe_video(
    source: Source, role: Role, toolkit: Toolkit, speaker: Speaker | None, limits: ProbeLimits
) -> Facts:
    audio = _AudioMeters(toolkit, speaker if role is not Role.VOICE_AUDIO else None)
    with scan_video(source, sinks=audio.sinks, most_s=limits.duration_s) as scan:
        if role is Role.VOICE_AUDIO:
            video, voice = audio.listen(scan)
            return Facts(file=source.facts, video=video, voice=voice)
        with ThreadPoolExecutor(max_workers=1) as thread:
            # Decoders and networks release Python's lock: frames and audio are measured at once.
            listening = thread.submit(audio.listen, scan)
            signal, footage = _look_at(source, scan.facts, toolkit, limits, quick=False)
            video, voice = listening.result()
    facts = Facts(
        file=source.facts,
        video=video.model_copy(update={"signal": signal}),
        portrait=footage.typical(),
        footage=footage,
        voice=voice,
        statement=audio.statement(),
    )
    lips = _lips(source, facts, audio.samples(), toolkit.models)
    return facts.model_copy(update={"lips": lips})


class _AudioMeters:
    """Everything that takes the audio of a video while it is decoded once."""

    def __init__(self, toolkit: Toolkit, speaker: Speaker | None) -> None:
        self._toolkit = toolkit
        self._speaker = speaker
        self._required = speaker.required if speaker else None
        self._meter: VoiceMeter | None = None
        self._opening: Opening | None = None

    def sinks(self, stream: AudioStreamFacts) -> Iterator[Sink]:
        """Of the voice meter and of the opening, in which consent is looked for."""
        self._meter = VoiceMeter.of(stream, self._toolkit.voice_activity)
        yield self._meter.sink
        self._opening = Opening(self._required)
        yield self._opening.sink

    def listen(self, scan: VideoScan) -> tuple[VideoFacts, VoiceFacts | None]:
        """Decode the sound: the completed facts, and those of the voice, None without sound."""
        video = scan.listen()
        return video, self._meter.facts() if self._meter else None

    def samples(self) -> NDArray[np.float32]:
        """The opening, mono at 16 kHz; empty without sound."""
        return self._opening.samples() if self._opening else np.zeros(0, np.float32)

    def statement(self) -> StatementReading | None:
        """What is read of the statement; None without sound or speaker."""
        if self._opening is None or self._speaker is None or self._required is None:
            return None
        model = model_for(self._required, self._toolkit.listeners(self._speaker.model))
        if isinstance(model, StatementReading):
            return model
        return read_samples(self._opening.samples(), self._required, model)


def _lips(
    source: Source, facts: Facts, opening: NDArray[np.float32], models: Models
) -> LipsFacts | None:
    """The lips while the statement is spoken, from frame to frame; None where nobody is heard, or
    nobody is seen from then on."""
    video, voice, footage = facts.video, facts.voice, facts.footage
    if video is None or voice is None or footage is None:
        return None
    found = stretch_of(facts.statement, voice.speech)
    if found is None:
        return None
    span, stated = found
    starts_s, late_s = player_times(video)
    shown = span.moved(late_s)
    if not any(sample.at_s >= shown.start_s + starts_s for sample in footage.seen):
        return None
    frames = sample_frames(
        source,
        per_second=FRAMES_PER_S,
        max_side=FRAME_SIDE,
        from_s=shown.start_s + starts_s,
        most_s=shown.end_s + starts_s,
    )
    track = follow_mouth(prefetch(frames), models)
    track = track._replace(at_s=track.at_s - starts_s)
    speech = [each.moved(late_s) for each in voice.speech]
    samples = np.pad(opening, (round(late_s * RATE_HZ), 0))
    return measure_lips(track, shown, speech, samples, stated=stated)


def _look_at(
    source: Source, video: VideoFacts, toolkit: Toolkit, limits: ProbeLimits, *, quick: bool
) -> tuple[SignalFacts | None, FootageFacts]:
    most = QUICK_SAMPLES if quick else MOST_SAMPLES
    duration_s = video.duration_s
    if limits.duration_s is not None:
        duration_s = min(duration_s, limits.duration_s)
    step_s = max(SHORTEST_STEP_S, duration_s / most)
    signal = SignalMeter(key_frames_only=quick)
    frames = sample_frames(
        source,
        per_second=1 / step_s,
        max_side=FRAME_SIDE,
        key_frames_only=quick,
        on_luma=signal.add,
        most_s=limits.duration_s,
    )
    footage = analyse_footage(
        # The next frames are decoded while faces are looked for.
        prefetch(frames),
        toolkit.models,
        every_s=step_s,
        count=max(1, int(duration_s / step_s)),
        close_looks=QUICK_LOOKS if quick else CLOSE_LOOKS,
    )
    return signal.result(), footage

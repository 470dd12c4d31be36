"""Facts of audio that was decoded for its levels, and for nothing else."""

from __future__ import annotations

import numpy as np

from palprep.media import AudioFacts, AudioLevels, VideoFacts, probe_video, with_sound
from palprep.media.sound import Sink, decibels, probe_audio
from palprep.media.sources import Source


def heard_audio(source: Source) -> AudioFacts:
    blocks: list[np.ndarray] = []

    def sinks(stream):
        return (Sink(blocks.append, stream.sample_rate_hz, stream.channels),)

    facts = probe_audio(source, sinks=sinks)
    values = np.concatenate([block.ravel() for block in blocks]).astype(np.float64)
    levels = AudioLevels(
        peak_dbfs=decibels(float(np.abs(values).max())),
        rms_dbfs=decibels(float(np.sqrt((values**2).mean()))),
    )
    return facts.model_copy(update={"levels": levels})


def heard_video(source: Source) -> VideoFacts:
    video = probe_video(source)
    return video if video.audio is None else with_sound(video, heard_audio(source))

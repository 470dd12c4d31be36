"""How loud a recording is from moment to moment, for drawing it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palprep.media.audio import probe_audio
from palprep.media.facts import AudioStreamFacts
from palprep.media.samples import Sink
from palprep.media.source import Source
from palprep.speech.arrays import Floats
from palprep.speech.envelope import EnvelopeMeter
from palprep.speech.loudness import LoudnessMeter


class Levels(NamedTuple):
    """A recording as it is drawn. Times are in seconds from its start."""

    duration_s: float
    peaks: Floats
    """Largest sample of each of equally long parts, 0..1."""
    short_term: tuple[tuple[float, float], ...]
    """Loudness of 3 s around each of these times (EBU Tech 3341), in LUFS."""
    integrated_lufs: float | None
    """EBU R 128 of all of it; None for silence or less than 400 ms."""


def measure_levels(source: Source, *, parts: int) -> Levels:
    """The levels of a recording, or of the sound of a video, decoded once.

    A recording of fewer milliseconds than ``parts`` has fewer parts. Raises MediaError for what
    cannot be read.
    """
    meters: list[tuple[EnvelopeMeter, LoudnessMeter]] = []

    def sinks(stream: AudioStreamFacts) -> tuple[Sink]:
        channels = 1 if stream.channels == 1 else 2
        envelope = EnvelopeMeter(stream.sample_rate_hz)
        loudness = LoudnessMeter(stream.sample_rate_hz, channels)
        meters.append((envelope, loudness))

        def push(block: Floats) -> None:
            sound = block.reshape(channels, -1)
            envelope.push(sound)
            loudness.push(sound)

        return (Sink(push, stream.sample_rate_hz, channels),)

    audio = probe_audio(source, levels=False, sinks=sinks)
    [(envelope, loudness)] = meters
    peak = envelope.envelope().peak
    borders = np.unique(np.linspace(0, len(peak), parts, endpoint=False, dtype=np.int64))
    return Levels(
        duration_s=audio.duration_s,
        peaks=np.maximum.reduceat(peak, borders) if len(peak) else peak,
        short_term=loudness.short_term(),
        integrated_lufs=loudness.integrated_lufs(),
    )

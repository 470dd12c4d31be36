"""Loudness and true peak of a stream, and how loud a recording is from moment to moment.

Loudness is ITU-R BS.1770-5: two filters (a shelf for the head, a high-pass), mean squares of
400 ms every 100 ms, an absolute gate at -70 LUFS and a relative one 10 LU under the mean. FFmpeg's
ebur128 measures it, by which fixes set it, too. That has true peaks in steps of a thousandth of
full scale and takes four times as long for them: here, they are BS.1770-5 annex 2, the largest
sample of the signal at four times its rate.
"""

from __future__ import annotations

import contextlib
from array import array
from typing import NamedTuple

import av
import av.filter
import numpy as np

from palprep.media import AudioStreamFacts, Sink, Source, decibels, probe_audio
from palprep.speech.arrays import Floats
from palprep.speech.waveform import EnvelopeMeter

_ABSOLUTE_GATE = -70.0
_STEP_S = 0.1
_SHORT_STEPS = 30
_LOWEST_HZ = 8_000
_OVERSAMPLING = 4
_TAPS = 24
"""Per phase of the interpolation; annex 2 asks for 12 at least."""
_PEAK_RUN = 4096


class LoudnessMeter:
    """Push blocks of shape ``(channels, samples)``, then ask. One or two channels count
    fully, as BS.1770 weighs left, right and centre.

    Keeps one number per 100 ms.
    """

    def __init__(self, rate_hz: int, channels: int) -> None:
        self._rate = rate_hz
        self._layout = "mono" if channels == 1 else "stereo"
        self._graph = av.filter.Graph()
        source = self._graph.add_abuffer(sample_rate=rate_hz, format="fltp", layout=self._layout)
        # The filters are not stable at very low rates; and its steps are to be whole samples.
        measured_hz = -(-max(rate_hz, _LOWEST_HZ) // 10) * 10
        resampler = self._graph.add("aresample", f"{measured_hz}")
        meter = self._graph.add("ebur128", "metadata=1:framelog=quiet")
        sink = self._graph.add("abuffersink")
        self._graph.link_nodes(source, resampler, meter, sink).configure()
        self._short_term = array("d")
        self._integrated = _ABSOLUTE_GATE

    def push(self, block: Floats) -> None:
        # By the second: what waits between the filters takes memory.
        for at in range(0, block.shape[1], self._rate):
            sound = np.ascontiguousarray(block[:, at : at + self._rate])
            frame = av.AudioFrame.from_ndarray(sound, format="fltp", layout=self._layout)
            frame.sample_rate = self._rate
            self._graph.push(frame)
            with contextlib.suppress(BlockingIOError):
                while True:
                    said = self._graph.pull().metadata
                    if "lavfi.r128.I" in said:
                        self._short_term.append(float(said["lavfi.r128.S"]))
                        self._integrated = float(said["lavfi.r128.I"])

    def integrated_lufs(self) -> float | None:
        """Gated loudness of everything; None below the absolute gate or under 400 ms."""
        return self._integrated if self._integrated > _ABSOLUTE_GATE else None

    def short_term(self) -> tuple[tuple[float, float], ...]:
        """Loudness of every 3 s, each 100 ms after the last: the time of its middle, and LUFS.

        Digital silence is far below the absolute gate of -70 LUFS. Empty for less than 3 s.
        """
        # Before the first 3 s are full, the meter takes what is missing for silence.
        levels = self._short_term[_SHORT_STEPS - 1 :]
        at_s = (round((step + _SHORT_STEPS / 2) * _STEP_S, 3) for step in range(len(levels)))
        return tuple(zip(at_s, levels, strict=True))


class TruePeakMeter:
    """Push blocks of shape ``(channels, samples)``, then ask for the peak."""

    def __init__(self, channels: int) -> None:
        self._filter = _interpolator()
        # No sample between others exceeds the largest of its neighbours by more than this.
        self._bound = float(np.abs(self._filter).sum(axis=1).max())
        self._history = np.zeros((channels, _TAPS - 1), np.float32)
        self._peak = 0.0
        self.sample_peak = 0.0

    def push(self, block: Floats) -> None:
        self.sample_peak = max(self.sample_peak, float(np.abs(block).max(initial=0.0)))
        joined = np.concatenate((self._history, block), axis=1)
        self._history = joined[:, -(_TAPS - 1) :]
        for at in range(0, joined.shape[1] - _TAPS + 1, _PEAK_RUN):
            run = joined[:, at : at + _PEAK_RUN + _TAPS - 1]
            # Only where a new peak is possible; most of a recording is not looked at.
            if float(np.abs(run).max()) * self._bound > self._peak:
                windows = np.lib.stride_tricks.sliding_window_view(run, _TAPS, axis=1)
                self._peak = max(self._peak, float(np.abs(windows @ self._filter.T).max()))

    def peak_dbtp(self) -> float:
        """The true peak in dB relative to full scale, -120 for silence."""
        # What is pushed last has no samples after it yet; its own samples still count.
        return decibels(max(self._peak, self.sample_peak))


def _interpolator() -> Floats:
    """Phases of a windowed sinc, shape ``(4, 24)``; phase 0 passes the samples through."""
    places = np.arange(_TAPS) - (_TAPS // 2 - 1)
    phases = np.arange(_OVERSAMPLING)[:, None] / _OVERSAMPLING
    distance = phases - places[None, :]
    window = np.i0(8.0 * np.sqrt(np.maximum(0.0, 1 - (distance / (_TAPS / 2)) ** 2))) / np.i0(8.0)
    taps = np.sinc(distance) * window
    # Convolution runs backwards in time, a window of samples forwards.
    even: Floats = (taps / taps.sum(axis=1, keepdims=True)).astype(np.float32)
    return even


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

    A recording of fewer milliseconds than ``parts`` has fewer parts. Raises MediaError.
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

    audio = probe_audio(source, sinks=sinks)
    [(envelope, loudness)] = meters
    peak = envelope.envelope().peak
    borders = np.unique(np.linspace(0, len(peak), parts, endpoint=False, dtype=np.int64))
    return Levels(
        duration_s=audio.duration_s,
        peaks=np.maximum.reduceat(peak, borders) if len(peak) else peak,
        short_term=loudness.short_term(),
        integrated_lufs=loudness.integrated_lufs(),
    )

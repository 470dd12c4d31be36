"""Loudness and true peak of a stream, and its waveform.

Loudness is ITU-R BS.1770-5: two filters (a shelf for the head, a high-pass), mean squares of
400 ms every 100 ms, an absolute gate at -70 LUFS and a relative one 10 LU under the mean. FFmpeg's
ebur128 measures it, here and in fixes. Its true peaks come in steps of a thousandth of full scale
and take four times as long. So true peaks are measured here, by BS.1770-5 annex 2: the largest
sample of the signal at four times its rate.
"""

from __future__ import annotations

import contextlib
from array import array

import av
import av.filter
import numpy as np

from palprep.media.sound import decibels
from palprep.speech.arrays import Floats
from palprep.speech.facts import Waveform

_ABSOLUTE_GATE = -70.0
_STEP_S = 0.1
_SHORT_STEPS = 30
_PARTS, _POINTS, _FAINT = 300, 120, -100.0
_LOWEST_HZ = 8_000
_OVERSAMPLING = 4
_TAPS = 24
"""Per phase of the interpolation; annex 2 asks for 12 at least."""
_PEAK_RUN = 1024


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

    def waveform(self, peaks: Floats) -> Waveform:
        """The waveform of everything; ``peaks`` has the largest sample of each millisecond."""
        # Before the first 3 s are full, the meter takes what is missing for silence.
        levels = self._short_term[_SHORT_STEPS - 1 :]
        every = max(1, -(-len(levels) // _POINTS))
        borders = np.unique(np.linspace(0, len(peaks), _PARTS, endpoint=False, dtype=np.int64))
        largest = np.maximum.reduceat(peaks, borders) if len(peaks) else peaks
        return Waveform(
            peaks=tuple(np.round(np.minimum(largest, 1.0).astype(float), 2).tolist()),
            # The meter says "nan" of some digital silence: what is no number counts as faint.
            short_term_lufs=tuple(round(max(_FAINT, level), 1) for level in levels[::every]),
            step_s=round(every * _STEP_S, 1),
        )


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
        starts = np.arange(0, joined.shape[1] - _TAPS + 1, _PEAK_RUN)
        tops = np.maximum.reduceat(np.abs(joined).max(axis=0), starts)
        # A run ends among the samples of the next.
        tops = np.maximum(tops, np.append(tops[1:], 0.0))
        # The loudest first, so that a new peak is possible in few: the others are not looked at.
        for index in np.argsort(-tops):
            if float(tops[index]) * self._bound <= self._peak:
                break
            run = joined[:, starts[index] : starts[index] + _PEAK_RUN + _TAPS - 1]
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
    return np.asarray(taps / taps.sum(axis=1, keepdims=True), np.float32)

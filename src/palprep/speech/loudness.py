"""Loudness and true peak of a stream, and how loud a recording is from moment to moment.

Loudness is ITU-R BS.1770-5: two filters (a shelf for the head, a high-pass), mean squares of
400 ms every 100 ms, an absolute gate at -70 LUFS and a relative one 10 LU under the mean. True
peak is BS.1770-5 annex 2: the largest sample of the signal at four times its rate.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.media import AudioStreamFacts, Sink, Source, decibels, probe_audio
from palprep.speech.arrays import Floats
from palprep.speech.waveform import EnvelopeMeter

_OFFSET = -0.691
"""Makes a 1 kHz sine at full scale in one channel read -3.01 LUFS."""
_ABSOLUTE_GATE = -70.0
_RELATIVE_GATE = -10.0
_STEP_S = 0.1
_BLOCK_STEPS = 4
_SHORT_STEPS = 30
_MEMORY_S = 0.17
"""After this long the filters' answer to an impulse is below -100 dB."""
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
        memory = int(_MEMORY_S * rate_hz)
        self._size = 1 << int(np.ceil(np.log2(memory + rate_hz)))
        self._history: NDArray[np.float64] = np.zeros((channels, memory))
        self._response = k_weighting(rate_hz, self._size)
        self._energies = array("d")
        self._partial = 0.0
        self._seen = 0
        self._steps = 0

    def push(self, block: Floats) -> None:
        """Take the next samples."""
        most = self._size - self._history.shape[1]
        for at in range(0, block.shape[1], most):
            self._add(block[:, at : at + most])

    def _add(self, block: Floats) -> None:
        # Overlap-save: the filters are short enough to be multiplied onto the spectrum.
        joined: NDArray[np.float64] = np.concatenate(
            (self._history, block), axis=1, dtype=np.float64
        )
        spectrum = np.fft.rfft(joined, self._size, axis=1) * self._response
        filtered = np.fft.irfft(spectrum, self._size, axis=1)
        memory = self._history.shape[1]
        power = (filtered[:, memory : memory + block.shape[1]] ** 2).sum(axis=0)
        self._history = joined[:, joined.shape[1] - memory :]
        self._collect(power)

    def _collect(self, power: NDArray[np.float64]) -> None:
        """Sum the power over steps of 100 ms, whose borders are whole samples."""
        start, stop = self._seen, self._seen + len(power)
        last = int(stop / (self._rate * _STEP_S) + 1e-9)
        borders = [round(step * self._rate * _STEP_S) for step in range(self._steps + 1, last + 1)]
        inner = [border - start for border in borders if border <= stop]
        sums = np.add.reduceat(np.append(power, 0.0), [0, *inner]) if len(power) else np.zeros(1)
        sums[0] += self._partial
        if inner:
            self._energies.frombytes(sums[:-1].tobytes())
        self._partial = float(sums[-1])
        self._steps += len(inner)
        self._seen = stop

    def integrated_lufs(self) -> float | None:
        """Gated loudness of everything; None below the absolute gate or under 400 ms."""
        powers = self._means(_BLOCK_STEPS)
        powers = powers[_lufs(powers) > _ABSOLUTE_GATE]
        if not len(powers):
            return None
        gate = _lufs(powers.mean()) + _RELATIVE_GATE
        return float(_lufs(powers[_lufs(powers) > gate].mean()))

    def short_term(self) -> tuple[tuple[float, float], ...]:
        """Loudness of every 3 s, each 100 ms after the last: the time of its middle, and LUFS.

        Digital silence is far below the absolute gate of -70 LUFS. Empty for less than 3 s.
        """
        middle_s = _SHORT_STEPS * _STEP_S / 2
        return tuple(
            (round(step * _STEP_S + middle_s, 3), float(level))
            for step, level in enumerate(_lufs(self._means(_SHORT_STEPS)))
        )

    def _means(self, steps: int) -> NDArray[np.float64]:
        if len(self._energies) < steps:
            return np.zeros(0)
        sums = np.convolve(self._energies, np.ones(steps), mode="valid")
        return sums / (steps * self._rate * _STEP_S)


def _lufs(power: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    return np.asarray(_OFFSET + 10.0 * np.log10(np.maximum(power, 1e-20)))


def k_weighting(rate_hz: int, size: int) -> NDArray[np.complex128]:
    """BS.1770's two filters at any rate, on the ``size // 2 + 1`` bins of a real spectrum.

    The standard tabulates coefficients for 48 kHz; these are the analogue prototypes behind
    them (shelf of 4 dB at 1682 Hz, Q 0.707; high-pass at 38.1 Hz, Q 0.5), transformed
    bilinearly, which gives the tabulated values at 48 kHz.
    """
    z = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    k = np.tan(np.pi * 1681.974450955533 / rate_hz)
    q, gain = 0.7071752369554196, 10 ** (3.999843853973347 / 20)
    middle = gain**0.4996667741545416
    a0 = 1 + k / q + k * k
    shelf = (
        (gain + middle * k / q + k * k)
        + 2 * (k * k - gain) * z
        + (gain - middle * k / q + k * k) * z**2
    ) / (a0 + 2 * (k * k - 1) * z + (1 - k / q + k * k) * z**2)
    k = np.tan(np.pi * 38.13547087602444 / rate_hz)
    q = 0.5003270373238773
    high_pass = (1 - z) ** 2 / (
        1
        + 2 * (k * k - 1) / (1 + k / q + k * k) * z
        + (1 - k / q + k * k) / (1 + k / q + k * k) * z**2
    )
    response: NDArray[np.complex128] = shelf * high_pass
    return response


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
        """Take the next samples."""
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

"""Measures of the spectrum: bandwidth, hum, and tones or noise. Also Whisper's input."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.speech.activity import CHUNK, ENDS, SPOKEN, Activity
from palprep.speech.arrays import RATE_HZ, Floats

_FRAME_S = 0.04
_SMOOTH_HZ = 150.0
_WIDE_DB = 72.0
"""So far below the loudest part sound counts as silence: under the breath noise of the quietest
rooms, above what a 16-bit conversion leaves behind."""
_CLIFF_DB, _CLIFF_HZ, _LOWEST_CLIFF_HZ = 18.0, 600.0, 2000.0
"""How far a cliff falls, within how many hertz, and the lowest frequency of one."""
_EDGE_DB = 6.0
_PAUSE_CHUNKS = 4
"""Chunks (128 ms) without speech that are looked at together."""
_PAUSES, _TONAL, _LINE_RATIO = 4, 0.4, 12.0
"""So many of them tell; the share of power in lines from which they are music; and how far a line
stands above the median of its surroundings. Under music the share was 0.4 to 0.95; of 70 recordings
with noise or an echo between the words one reached 0.4 (docs/accuracy.md)."""
_PAUSE_POWER = 1e-7
"""Less is digital silence."""
_TONE_SIZE = 16_384
_TONE_HZ = RATE_HZ / _TONE_SIZE
"""Width of a bin of the long frames."""


class SpectrumMeter:
    """Average power spectra of speech and of the rest, at the recording's own rate."""

    def __init__(self, rate_hz: int) -> None:
        self._rate = rate_hz
        self._size = 1 << int(np.ceil(np.log2(_FRAME_S * rate_hz)))
        self._window = np.hanning(self._size + 1)[:-1].astype(np.float32)
        bins = self._size // 2 + 1
        self._sums = {True: np.zeros(bins), False: np.zeros(bins)}
        self._counts = {True: 0, False: 0}
        self._rest: Floats = np.zeros(0, np.float32)
        self._seen = 0

    def push(self, mono: Floats, activity: Activity) -> None:
        """``activity`` has heard these samples, except for less than a chunk at the end."""
        joined = np.concatenate((self._rest, mono))
        count = len(joined) // self._size
        frames = joined[: count * self._size].reshape(count, self._size)
        if count and activity.probabilities:
            power = np.abs(np.fft.rfft(frames * self._window, axis=1)) ** 2
            centres = (self._seen + (np.arange(count) + 0.5) * self._size) / self._rate
            speech = activity.at(centres) >= SPOKEN
            for kind in (True, False):
                self._sums[kind] += power[speech == kind].sum(axis=0)
                self._counts[kind] += int((speech == kind).sum())
        self._seen += count * self._size
        self._rest = joined[count * self._size :]

    def spectrum_db(self, *, speech: bool) -> NDArray[np.float64] | None:
        """Mean power per bin in dB, None without a frame of that kind."""
        if not self._counts[speech]:
            return None
        scale = self._counts[speech] * float(self._window.sum()) ** 2 / 4
        return np.asarray(10 * np.log10(np.maximum(self._sums[speech] / scale, 1e-20)))

    def bandwidth(self) -> Bandwidth | None:
        """How wide the speech is, or whatever sounds when there is none."""
        found = (self.spectrum_db(speech=speech) for speech in (True, False))
        return next((bandwidth_of(one, self._rate) for one in found if one is not None), None)


class Bandwidth(NamedTuple):
    """The highest frequency that carries sound, and whether it ends there at once."""

    hz: float
    cliff: bool


def bandwidth_of(spectrum_db: NDArray[np.float64], rate_hz: int) -> Bandwidth:
    """From a mean spectrum over 0 .. rate / 2.

    Speech and room noise fade towards high frequencies over octaves. A fall of 18 dB within 600 Hz,
    with nothing above it, is the edge of an earlier sample rate or of a lossy encoder.
    """
    step = rate_hz / 2 / (len(spectrum_db) - 1)
    width = max(1, round(_SMOOTH_HZ / step))
    kernel = np.ones(width) / width
    padded = np.pad(spectrum_db, (width // 2, width - 1 - width // 2), mode="edge")
    smooth = np.convolve(padded, kernel, mode="valid")
    loudest = float(smooth[max(1, round(80 / step)) :].max())
    knee = _cliff(smooth, step, loudest)
    if knee is not None:
        # Resamplers let mirror images through above the edge: it is where the level halves.
        reach = max(1, round(_CLIFF_HZ / step))
        plateau = max(0, knee - 2 * reach)
        level = float(np.median(smooth[plateau : knee - reach]))
        edge = plateau + int(np.argmax(smooth[plateau:] < level - _EDGE_DB))
        return Bandwidth(edge * step, cliff=True)
    audible = np.flatnonzero(smooth > loudest - _WIDE_DB)
    return Bandwidth(float(audible[-1]) * step, cliff=False)


def _cliff(smooth: NDArray[np.float64], step: float, loudest: float) -> int | None:
    """The bin where the highest cliff begins, None when the sound fades or goes on."""
    reach = max(1, round(_CLIFF_HZ / step))
    if len(smooth) < reach:
        return None
    above = np.maximum.accumulate(smooth[::-1])[::-1]
    medians = np.median(np.lib.stride_tricks.sliding_window_view(smooth, reach), axis=1)
    knee = None
    for index in range(len(smooth) - reach - 1, round(_LOWEST_CLIFF_HZ / step), -1):
        below = float(medians[index - reach])
        falls = below - float(above[index + reach // 2]) >= _CLIFF_DB
        if falls and below > loudest - _WIDE_DB:
            # Resamplers leave a slope: its upper end is found first, its lower end is meant.
            knee = index
        elif knee is not None:
            break
    return knee


class ToneMeter:
    """Long frames of the 16 kHz signal: hum, and whether what sounds is tones or noise."""

    def __init__(self) -> None:
        self._window = np.hanning(_TONE_SIZE + 1)[:-1].astype(np.float32)
        self._rest: Floats = np.zeros(0, np.float32)
        self._low = array("f")
        self.flatness_db = array("d")
        """Per second: 0 dB for white noise, far below for tones."""

    def push(self, mono: Floats) -> None:
        joined = np.concatenate((self._rest, mono))
        while len(joined) >= _TONE_SIZE:
            power = np.abs(np.fft.rfft(joined[:_TONE_SIZE] * self._window)) ** 2
            power *= 4 / float(self._window.sum()) ** 2
            self._low.frombytes(power[: round(_HUM_TO_HZ / _TONE_HZ)].tobytes())
            self.flatness_db.append(
                _flatness(power[round(100 / _TONE_HZ) : round(4000 / _TONE_HZ)])
            )
            joined = joined[_TONE_SIZE:]
        self._rest = joined

    def hum(self) -> Hum | None:
        frames = len(self.flatness_db)
        if frames < 2:
            return None
        # Speech moves, hum does not: the lower quartile over time keeps what is always there.
        steady = np.quantile(np.asarray(self._low).reshape(frames, -1), 0.25, axis=0)
        found = [_hum_at(steady, mains) for mains in (50.0, 60.0)]
        return max((hum for hum in found if hum), key=lambda hum: hum.dbfs, default=None)


class PauseMeter:
    """What of the 16 kHz signal stands in lines between the words. In a noise all frequencies are
    as likely to have the power, in music few notes have it."""

    def __init__(self) -> None:
        self._rest: Floats = np.zeros(0, np.float32)
        self._window = np.hanning(_PAUSE_CHUNKS * CHUNK).astype(np.float32)
        self._chunks = 0
        self._shares = array("f")

    def push(self, mono: Floats, activity: Activity) -> None:
        """``activity`` has heard these samples."""
        joined, size = np.concatenate((self._rest, mono)), _PAUSE_CHUNKS * CHUNK
        for at in range(0, len(joined) - size + 1, size):
            heard = activity.probabilities[self._chunks : self._chunks + _PAUSE_CHUNKS]
            self._chunks += _PAUSE_CHUNKS
            if max(heard) >= ENDS:
                continue
            power = np.abs(np.fft.rfft(joined[at : at + size] * self._window)) ** 2
            power = power[13:513]  # 100 to 4000 Hz
            near = np.lib.stride_tricks.sliding_window_view(np.pad(power, 8, mode="edge"), 17)
            level = np.median(near[::4], axis=1).repeat(4)
            if power.sum() > _PAUSE_POWER:
                self._shares.append(power[power > _LINE_RATIO * level].sum() / power.sum())
        self._rest = joined[len(joined) // size * size :]

    def tones(self) -> bool:
        """Whether it is music, or hum, that sounds between the words."""
        return len(self._shares) >= _PAUSES and float(np.median(self._shares)) >= _TONAL


class Hum(NamedTuple):
    """Mains hum: its frequency, the level of its harmonics together, and of those in the range of
    voices."""

    hz: float
    dbfs: float
    voiced_dbfs: float


_HUM_TO_HZ = 520.0
_HUM_HARMONICS = 6
_HUM_PROMINENCE = 10.0
"""A line stands out of its surroundings by 10 dB at least."""
_HUM_LINES = 3
_FIRST_PROMINENCES = (20.0, 26.0)
"""Speech covers the lines above 100 Hz: where the lowest stands out by the first, one more will do,
and by the second it is hum by itself. No voice is so low and so steady."""
_HUM_FLOOR_DBFS = -75.0


def _hum_at(steady: Floats, mains: float) -> Hum | None:
    powers = []
    prominences = []
    for harmonic in range(1, _HUM_HARMONICS + 1):
        centre = round(mains * harmonic / _TONE_HZ)
        line = float(steady[centre - 2 : centre + 3].max())
        near = np.concatenate((steady[centre - 12 : centre - 4], steady[centre + 5 : centre + 13]))
        prominence = 10 * np.log10(max(line, 1e-20) / max(float(np.median(near)), 1e-20))
        prominences.append(prominence)
        powers.append(line / 2 if prominence > _HUM_PROMINENCE else 0.0)
    lines = sum(prominence > _HUM_PROMINENCE for prominence in prominences)
    needed = _HUM_LINES - sum(prominences[0] > least for least in _FIRST_PROMINENCES)
    level, voiced = (float(10 * np.log10(max(sum(each), 1e-12))) for each in (powers, powers[1:]))
    return Hum(mains, level, voiced) if lines >= needed and level > _HUM_FLOOR_DBFS else None


def _flatness(power: NDArray[np.float64]) -> float:
    mean = float(power.mean())
    if mean <= 1e-14:
        return 0.0
    return float(10 * (np.log10(np.maximum(power, 1e-20)).mean() - np.log10(mean)))


WINDOW_S = 30.0
FRAME_S = 0.01
_MEL_FFT = 400
_MEL_HOP = 160
_LINEAR_HZ = 200.0 / 3
"""Slaney's scale: linear below 1 kHz, 66.7 Hz to a mel, logarithmic above it."""
_LOG_FROM_HZ = 1000.0
_LOG_FROM_MEL = _LOG_FROM_HZ / _LINEAR_HZ
_LOG_STEP = np.log(6.4) / 27.0


def filterbank(channels: int) -> Floats:
    """Triangular filters of equal area, shape ``(channels, 201)``, from 0 to 8 kHz."""
    top_mel = _LOG_FROM_MEL + np.log(RATE_HZ / 2 / _LOG_FROM_HZ) / _LOG_STEP
    mels = np.linspace(0.0, top_mel, channels + 2)
    above = _LOG_FROM_HZ * np.exp(_LOG_STEP * (mels - _LOG_FROM_MEL))
    edges = np.where(mels < _LOG_FROM_MEL, _LINEAR_HZ * mels, above)
    area = 2.0 / (edges[2:] - edges[:-2])
    filters = triangles(edges, np.linspace(0.0, RATE_HZ / 2, _MEL_FFT // 2 + 1))
    return (filters * area[:, None]).astype(np.float32)


def triangles(edges: NDArray[np.float64], bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Filters that rise from each edge to the next one and fall to the one after it, 1 at the most:
    shape ``(edges - 2, bins)``. Both are on the scale on which the filters are straight."""
    width = np.diff(edges)[:, None]
    slope = edges[:, None] - bins[None, :]
    filters = np.minimum(-slope[:-2] / width[:-1], slope[2:] / width[1:])
    return np.clip(filters, 0.0, None)


def log_mel(samples: Floats, filters: Floats) -> Floats:
    """Whisper's input of up to 30 s of mono sound at 16 kHz, shape ``(channels, 3000)``.

    Shorter sound is padded with silence, longer sound is cut. Radford et al., "Robust Speech
    Recognition via Large-Scale Weak Supervision" (2022), section 2.2: windows of 25 ms every 10 ms,
    80 or 128 mel channels on Slaney's scale, base-10 logarithm limited to 8 below its largest
    value, then scaled by (x + 4) / 4.
    """
    length = int(RATE_HZ * WINDOW_S)
    cut = samples[:length]
    padded = np.pad(np.pad(cut, (0, length - len(cut))), _MEL_FFT // 2, mode="reflect")
    window = np.hanning(_MEL_FFT + 1)[:-1].astype(np.float32)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _MEL_FFT)[::_MEL_HOP][:-1]
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    logs = np.log10(np.maximum(filters @ power.T, 1e-10))
    return np.asarray((np.maximum(logs, logs.max() - 8.0) + 4.0) / 4.0, np.float32)

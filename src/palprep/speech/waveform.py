"""Measures of the samples themselves: levels over time, dropouts, noise between words, clipping,
direct current, and how the channels go together.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import av
import av.filter
import numpy as np
from numpy.typing import NDArray

from palprep.media import FLOOR_DBFS
from palprep.media.sound import decibels
from palprep.speech.arrays import Floats, runs_of
from palprep.speech.facts import LOWEST_VOICE_HZ, TARGET_RMS_DBFS
from palprep.values import Span

_ZERO = 1.5 / 32768
"""One and a half steps of 16 bits: what dithered digital silence stays under."""
_STEPS_OF_8_BITS = 128
_NOISE_OF_8_BITS = _STEPS_OF_8_BITS**-2 / 12
"""Mean square of what is rounded off to steps of 8 bits: -53 dBFS (Bennett 1948)."""
_LOUD = 0.01
_FAINT, _FAINT_SHARE, _LOUD_IN_8_BITS = 1 / 256, 0.3, 4 / 128
"""Where less than this share of the zeros has something between them and half a step of 8 bits,
soft moments are zeros, too, whatever the sound was resampled to: holes are then among louder sound.
Of readers the share was 0.7 and more, of 8 bits 0.2 and less."""
_EDGE_MS = 5
_SHORTEST_MS = 2
_LONGEST_MS = 500

_GUARD_MS = 100
"""Words fade in and out: this much on both sides of speech is counted as neither."""
_LEAST_MS = 100
_WINDOW_MS = 20
_LOWEST_SHARE = 0.1
_LEAST_WINDOWS = 100
_GATED_DBFS = -90.0
"""A pause this quiet was emptied by a gate or an editor and says nothing of the room."""

FULL = 10 ** (-0.1 / 20)
"""Samples from -0.1 dBFS on count as full scale."""
RUN = 3
"""So many full-scale samples in a row are a clipped wave; a clean peak has one or two."""
_LEVEL = 2.0**-14
"""Where a wave is cut off at full scale neighbours differ by less: two steps of 16 bits. A low
voice that just reaches it is round, and its neighbours differ by more."""
_FLAT = 2.0**-17
"""Below full scale, neighbours that differ by less are a flat top."""
_FLAT_LEVELS = 4_096
"""How many levels of flat tops are told apart, up to full scale."""
_NEAR_PEAK = 0.97


_SLOPE_MS, _SLOPE_POINTS = 10, 12
"""Slopes are taken of so many means, each over so long: 120 ms in all."""
_ABOVE_NOISE_DB = 8.0
_SEEN_SHARE, _FAST = 0.75, 150.0
"""Noise ends falls early, so that they seem slower. What is measured is the room's where it is less
than this share of the steepest fall, in dB a second, that could be seen above the noise, or so fast
that the room is dry in any case."""
_SLOPES = 100
"""Fewer are some words, and vary."""


class Envelope(NamedTuple):
    """One value per millisecond, all channels together."""

    peak: Floats
    """Largest sample, 0 to 1."""
    power: Floats
    """Mean square above :data:`~palprep.speech.facts.LOWEST_VOICE_HZ`: rumble and direct current
    are not heard as noise, and hum is told by itself."""


class EnvelopeMeter:
    """Push blocks of shape ``(channels, samples)``, then take the envelope.

    Keeps eight bytes per millisecond: 28 MiB for an hour.
    """

    def __init__(self, rate_hz: int, channels: int = 1) -> None:
        self._rate = rate_hz
        self._seen = 0
        self._layout = "mono" if channels == 1 else "stereo"
        self._high_pass = av.filter.Graph()
        source = self._high_pass.add_abuffer(
            sample_rate=rate_hz, format="fltp", layout=self._layout
        )
        corner = f"f={min(LOWEST_VOICE_HZ, rate_hz / 4):g}:precision=f64"
        # Two second-order sections make the fourth order, as in the fix.
        filters = [self._high_pass.add("highpass", corner) for _ in range(2)]
        back = self._high_pass.add("aformat", "sample_fmts=fltp")
        sink = self._high_pass.add("abuffersink")
        self._high_pass.link_nodes(source, *filters, back, sink).configure()
        self._rest: Floats | None = None
        self._peaks = array("f")
        self._powers = array("f")

    def push(self, block: Floats) -> None:
        sound = np.ascontiguousarray(block, np.float32)
        frame = av.AudioFrame.from_ndarray(sound, format="fltp", layout=self._layout)
        frame.sample_rate = self._rate
        self._high_pass.push(frame)
        both: Floats = np.stack((block, self._high_pass.pull().to_ndarray()))
        joined = both if self._rest is None else np.concatenate((self._rest, both), axis=2)
        start = self._seen
        stop = start + joined.shape[2]
        first = -(-start * 1000 // self._rate)
        last = stop * 1000 // self._rate
        # Millisecond k covers the samples from int(k * rate / 1000): 44 or 45 at 44.1 kHz.
        borders = np.arange(first, last + 1) * self._rate // 1000 - start
        if len(borders) > 1:
            whole, voiced = joined[:, :, : borders[-1]]
            counts = np.diff(borders) * joined.shape[1]
            peaks = np.maximum.reduceat(np.abs(whole).max(axis=0), borders[:-1])
            sums = np.add.reduceat((voiced * voiced).sum(axis=0, dtype=np.float64), borders[:-1])
            self._peaks.frombytes(peaks.tobytes())
            self._powers.frombytes((sums / counts).astype(np.float32).tobytes())
            joined = joined[:, :, borders[-1] :]
            self._seen = start + int(borders[-1])
        self._rest = joined

    def envelope(self) -> Envelope:
        """Of everything that was pushed, up to the last whole millisecond."""
        return Envelope(np.asarray(self._peaks), np.asarray(self._powers))


def dropouts(envelope: Envelope) -> tuple[Span, ...]:
    """Holes of 2 ms to half a second: digital silence with sound right up to both edges.

    A pause fades; a lost packet or a bad edit does not. Both sides must reach -40 dBFS
    within 5 ms of the hole, and -30 dBFS in what was once 8 bits.
    """
    found, silent = [], envelope.peak <= _ZERO
    faint = np.count_nonzero(envelope.peak < _FAINT) - np.count_nonzero(silent)
    coarse = faint < _FAINT_SHARE * np.count_nonzero(silent)
    loud = _LOUD_IN_8_BITS if coarse else _LOUD
    for first, last in runs_of(silent):
        before = envelope.peak[max(0, first - _EDGE_MS) : first]
        after = envelope.peak[last : last + _EDGE_MS]
        if not _SHORTEST_MS <= last - first <= _LONGEST_MS or not len(before) or not len(after):
            continue
        if min(before.max(), after.max()) >= loud:
            found.append(Span(start_s=first / 1000, end_s=last / 1000))
    return tuple(found)


def reverberation_s(envelope: Envelope) -> float | None:
    """Seconds in which the room lets a sound fall by 60 dB, estimated; None where too little falls,
    or noise hides how it does.

    Speech itself falls by 200 dB a second and more. In a room nothing falls faster than its echo
    (the distribution of decay rates, Wen, Habets and Naylor 2008). So the slopes of all falls over
    120 ms are taken that begin near the loudest speech and end above the noise, and of these the
    fastest twentieth.
    """
    count = len(envelope.power) // _SLOPE_MS
    power = envelope.power[: count * _SLOPE_MS].reshape(count, _SLOPE_MS).mean(axis=1)
    level = 10 * np.log10(np.maximum(power, 10 ** (_GATED_DBFS / 10)))
    if count < _SLOPE_POINTS:
        return None
    loud, floor = np.quantile(level, 0.95), np.quantile(level, 0.08)
    falls = np.lib.stride_tricks.sliding_window_view(level, _SLOPE_POINTS)
    falls = falls[(falls[:, 0] > loud - 15) & (falls[:, -1] > floor + _ABOVE_NOISE_DB)]
    times = (np.arange(_SLOPE_POINTS) - (_SLOPE_POINTS - 1) / 2) * _SLOPE_MS / 1000
    slopes = falls @ times / (times @ times)
    slopes = slopes[slopes < -20]
    if len(slopes) < _SLOPES:
        return None
    rate = -float(np.quantile(slopes, 0.05))
    steepest = float(loud - floor - _ABOVE_NOISE_DB) / (_SLOPE_MS * _SLOPE_POINTS / 1000)
    return 60 / rate if rate > _FAST or rate < _SEEN_SHARE * steepest else None


class NoiseFacts(NamedTuple):
    """Levels in dBFS (RMS), ratio in dB, as :class:`palprep.speech.facts.VoiceFacts` names them;
    None where there is nothing to measure."""

    speech_rms_dbfs: float | None
    noise_floor_dbfs: float | None
    snr_db: float | None
    noise_after_gain_dbfs: float | None


def noise_facts(envelope: Envelope, speech: Sequence[Span], *, coarse: bool = False) -> NoiseFacts:
    """Measure speech and the pauses between.

    The noise floor is the median over windows of 20 ms of the pauses, which a cough or a
    chair does not move. Pauses that were silenced do not count while there are others, and silence
    before or after all sound is none: players add it. A word
    that the network missed can fill most of the few pauses that a fluent reader leaves, so the
    level that a tenth of all windows stay under bounds the floor from above: closures of
    stop consonants alone are more than that (minimum statistics, Martin 2001). In speech
    without any pause, as in loud noise, that bound is all there is; it takes 2 s. In ``coarse``
    sound, of 8 bits, pauses are zeros, and words have the noise of its steps.
    """
    power = np.maximum(envelope.power, _NOISE_OF_8_BITS) if coarse else envelope.power
    length = len(power)
    spoken = _mask(speech, length, 0)
    speech_power = float(power[spoken].mean()) if spoken.any() else 0.0
    pauses = ~_mask(speech, length, _GUARD_MS)
    sounding = np.flatnonzero(power > 10 ** (_GATED_DBFS / 10))
    if len(sounding):
        pauses[: sounding[0]] = pauses[sounding[-1] + 1 :] = False
    noise_power = _noise_power(power, pauses)
    speech_rms = decibels(speech_power**0.5) if speech_power > 0 else None
    if noise_power is None:
        return NoiseFacts(speech_rms, None, None, None)
    floor = decibels(noise_power**0.5)
    if speech_rms is None:
        return NoiseFacts(None, floor, None, None)
    # Speech was measured with the noise in it; a tenth of the noise is the least that shows.
    clean = max(speech_power - noise_power, 0.1 * noise_power)
    snr = decibels(clean**0.5) - floor
    return NoiseFacts(speech_rms, floor, snr, max(FLOOR_DBFS, floor + TARGET_RMS_DBFS - speech_rms))


def _noise_power(power: Floats, pauses: NDArray[np.bool_]) -> float | None:
    windows = []
    for start, end in runs_of(pauses):
        count = (end - start) // _WINDOW_MS
        if end - start >= _LEAST_MS:
            run = power[start : start + count * _WINDOW_MS]
            windows.append(run.reshape(count, _WINDOW_MS).mean(axis=1))
    count = len(power) // _WINDOW_MS
    everything = power[: count * _WINDOW_MS].reshape(count, _WINDOW_MS).mean(axis=1)
    if not windows and count < _LEAST_WINDOWS:
        return None
    lowest = float(np.quantile(_heard(everything), _LOWEST_SHARE))
    return min(float(np.median(_heard(np.concatenate(windows)))), lowest) if windows else lowest


def _heard(powers: Floats) -> Floats:
    heard = powers[powers > 10 ** (_GATED_DBFS / 10)]
    return heard if len(heard) >= _LEAST_MS // _WINDOW_MS else powers


def _mask(spans: Sequence[Span], length: int, guard_ms: int) -> NDArray[np.bool_]:
    mask = np.zeros(length, np.bool_)
    for span in spans:
        first = max(0, round(span.start_s * 1000) - guard_ms)
        mask[first : round(span.end_s * 1000) + guard_ms] = True
    return mask


class Runs:
    """Finds runs of three true values and more, in masks that come in blocks."""

    def __init__(self, channels: int) -> None:
        self._before = np.zeros((channels, RUN), np.bool_)

    def push(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where a run has its third value, in a mask of shape ``(channels, samples)``."""
        joined = np.concatenate((self._before, mask), axis=1)
        self._before = joined[:, -RUN:]
        inside = joined[:, 2:] & joined[:, 1:-1] & joined[:, :-2]
        return np.asarray(inside[:, 1:] & ~inside[:, :-1])


class DefectMeter:
    """Push blocks of shape ``(channels, samples)``, then ask. In sound that ``exceeds`` full scale
    without being clipped, as ``AudioStreamFacts`` says, only flat tops are clipped."""

    def __init__(self, channels: int, *, exceeds: bool) -> None:
        self._exceeds = exceeds
        self._full, self._flat = Runs(channels), Runs(channels)
        self._runs = np.zeros(channels, np.int64)
        self._flat_runs = np.zeros((channels, _FLAT_LEVELS + 1), np.int64)
        self._last = np.zeros((channels, 1), np.float32)
        self._sum = np.zeros(channels)
        self._products = np.zeros((channels, channels))
        self._count = 0
        self._peak = 0.0
        self._coarse = True

    def push(self, block: Floats) -> None:
        self._coarse = self._coarse and not (block * _STEPS_OF_8_BITS % 1).any()
        magnitude = np.abs(block)
        if self._exceeds:
            magnitude = np.minimum(magnitude, 1.0)
        self._peak = max(self._peak, float(magnitude.max(initial=0.0)))
        step = np.abs(np.diff(np.concatenate((self._last, block), axis=1), axis=1))
        # Lossy coding leaves no flat top, and goes beyond full scale where there was one.
        full = (magnitude > 1.0) | ((magnitude >= FULL) & (step < _LEVEL) & (not self._exceeds))
        self._runs += self._full.push(full).sum(axis=1)
        # Flat tops below full scale: clipped first, turned down afterwards.
        flat = self._flat.push((step < _FLAT) & (magnitude >= 0.25) & ~full)
        for channel, tops in enumerate(flat):
            levels = (magnitude[channel, tops] * _FLAT_LEVELS).astype(np.int64)
            self._flat_runs[channel] += np.bincount(levels, minlength=_FLAT_LEVELS + 1)
        self._last = block[:, -1:]
        self._sum += block.sum(axis=1, dtype=np.float64)
        self._products += np.einsum("is,js->ij", block, block, dtype=np.float64)
        self._count += block.shape[1]

    @property
    def coarse(self) -> bool:
        """Whether all of the sound is in the steps of 8 bits, whatever it is stored in."""
        return self._coarse and self._peak > 0

    def clipped_runs(self) -> int:
        """In the channel with most: at full scale, or flat at the recording's own peak."""
        near_peak = int(_NEAR_PEAK * self._peak * _FLAT_LEVELS)
        return int((self._runs + self._flat_runs[:, near_peak:].sum(axis=1)).max())

    def dc_offset(self) -> float:
        """Largest mean of a channel, relative to full scale, 0 to 1."""
        return float(np.abs(self._sum).max() / max(1, self._count))

    def rms_dbfs(self) -> float:
        """Of all channels together."""
        count = max(1, self._count * self._sum.size)
        return decibels(float(np.sqrt(np.trace(self._products) / count)))

    def channel_levels_dbfs(self) -> tuple[float, ...]:
        means = np.diag(self._products) / max(1, self._count)
        return tuple(decibels(float(np.sqrt(mean))) for mean in means)

    def correlation(self) -> float | None:
        """Between the first two channels, -1 to 1; None for mono or a silent channel."""
        if len(self._sum) < 2:
            return None
        scale = float(np.sqrt(self._products[0, 0] * self._products[1, 1]))
        return float(np.clip(self._products[0, 1] / scale, -1.0, 1.0)) if scale > 1e-12 else None

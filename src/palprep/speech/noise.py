"""Speech against what is heard between the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.media.facts import FLOOR_DBFS
from palprep.speech.arrays import Floats
from palprep.speech.envelope import Envelope
from palprep.values import Span

TARGET_RMS_DBFS = -20.0
"""In the middle of -23 to -18 dB, which published guidance for voice cloning asks for."""
_GUARD_MS = 100
"""Words fade in and out: this much on both sides of speech is counted as neither."""
_LEAST_MS = 100
_WINDOW_MS = 20
_LOWEST_SHARE = 0.1
_LEAST_WINDOWS = 100
_GATED_DBFS = -90.0
"""A pause this quiet was emptied by a gate or an editor and says nothing of the room."""


class NoiseFacts(NamedTuple):
    """Levels in dBFS (RMS), ratio in dB; None where there is nothing to measure."""

    speech_rms_dbfs: float | None
    floor_dbfs: float | None
    snr_db: float | None
    after_gain_dbfs: float | None


def noise_facts(envelope: Envelope, speech: Sequence[Span]) -> NoiseFacts:
    """Measure speech and the pauses between.

    The noise floor is the median over windows of 20 ms of the pauses, which a cough or a
    chair does not move. Pauses that were silenced do not count while there are others. A word
    that the network missed can fill most of the few pauses that a fluent reader leaves, so the
    level that a tenth of all windows stay under bounds the floor from above: closures of
    stop consonants alone are more than that (minimum statistics, Martin 2001). In speech
    without any pause, as in loud noise, that bound is all there is; it takes 2 s.
    """
    length = len(envelope.power)
    spoken = _mask(speech, length, 0)
    speech_power = float(envelope.power[spoken].mean()) if spoken.any() else 0.0
    noise_power = _noise_power(envelope.power, ~_mask(speech, length, _GUARD_MS))
    speech_rms = _level(speech_power) if speech_power > 0 else None
    if noise_power is None:
        return NoiseFacts(speech_rms, None, None, None)
    floor = _level(noise_power)
    if speech_rms is None:
        return NoiseFacts(None, floor, None, None)
    # Speech was measured with the noise in it; a tenth of the noise is the least that shows.
    clean = max(speech_power - noise_power, 0.1 * noise_power)
    snr = _level(clean) - floor
    return NoiseFacts(speech_rms, floor, snr, max(FLOOR_DBFS, floor + TARGET_RMS_DBFS - speech_rms))


def _noise_power(power: Floats, pauses: NDArray[np.bool_]) -> float | None:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], pauses, [False])).astype(np.int8)))
    windows = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
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


def _level(power: float) -> float:
    return max(FLOOR_DBFS, 10.0 * float(np.log10(max(power, 1e-20))))

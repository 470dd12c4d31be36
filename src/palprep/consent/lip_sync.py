"""Do the lips belong to the sound? Their course is held against that of the speech.

Canonical correlation analysis (Hotelling, "Relations between two sets of variates", Biometrika 28
(1936), 321-377) finds what moves together in lips and speech: three weighted sums of 19 numbers of
the sound, within a fifth of a second, and three of six distances of the mouth. The sums are fitted
once, on people who talk (research/training/lip_sync.py). Where they go together as recorded, and
not with the sound shifted, the words are those of the lips.
"""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.consent.facts import Synchrony
from palprep.media import read_manifest
from palprep.speech import RATE_HZ, filterbank, log_mel

Floats = NDArray[np.floating[Any]]
Known = NDArray[np.bool_]

STEP_S = 0.04
"""From one row to the next, of lips and of sound."""
_SOUND_TAPS, _LIP_TAPS = 5, 2
"""Steps to both sides that a sum reaches: 0.2 s of the sound, 0.08 s of the lips."""
_FURTHEST = 50
"""Steps that the sound is shifted by: 2 s."""
_AT_ONCE, _APART = 5, 8
"""Genuine recordings are off by up to 0.16 s. So up to 0.2 s is no shift, and 0.32 s is one."""
_BANDS, _MEL_STEPS = 16, 4
_DRIFT = 51
"""Steps, 2 s, whose mean is taken from the lips: a head that turns says no word."""
_LEAST_KNOWN = 0.7


class Sums(NamedTuple):
    """The weights of the three sums: of the ``sound`` 209 x 3, of the ``lips`` 30 x 3."""

    sound: Floats
    lips: Floats

    @classmethod
    def load(cls) -> Sums:
        """Those that palprep ships. Raises ToolMissing for a missing or damaged file."""
        data = read_manifest("palprep.consent")["lip_sync"].read()
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            return cls(stored["sound"], stored["lips"])


def sound_rows(samples: Floats) -> Floats:
    """Up to 30 s of mono sound at 16 kHz, one row every 40 ms for the 40 ms that begin there, with
    its neighbours: 16 mel bands in logarithms, the loudness, how much the bands have risen, and how
    flat they are, each in units of its spread."""
    count = int(len(samples) / RATE_HZ / STEP_S + 1e-6)
    fine = log_mel(samples.astype(np.float32), filterbank(_BANDS)).T[: count * _MEL_STEPS]
    bands = fine.reshape(-1, _MEL_STEPS, _BANDS).mean(axis=1)
    loud = np.log10(np.power(10.0, 4 * bands - 4).sum(axis=1))
    rise = np.maximum(np.diff(bands, axis=0, prepend=bands[:1]), 0).sum(axis=1)
    course = np.column_stack([bands, loud, rise, bands.mean(axis=1) - loud / 4])
    return _with_neighbours(course, np.ones(len(course), bool), _SOUND_TAPS)


def lip_rows(shape: Floats, known: Known) -> Floats:
    """The course of the lips without its drift, with its neighbours, in units of its spread."""
    around = np.pad(shape, ((_DRIFT // 2 + 1, _DRIFT // 2), (0, 0)), mode="edge").cumsum(axis=0)
    mean = (around[_DRIFT:] - around[:-_DRIFT]) / _DRIFT
    return _with_neighbours(shape - mean, known, _LIP_TAPS)


def synchrony_of(
    shape: Floats, known: Known, samples: Floats, start_s: float, sums: Sums
) -> Synchrony | None:
    """How lips and sound go together.

    ``shape`` is the course of the lips in steps of 40 ms, the first one at ``start_s`` of the
    ``samples``, which are mono at 16 kHz; ``known`` says where it was seen. None where too little
    of both is known.
    """
    begin = max(0.0, start_s - _FURTHEST * STEP_S - STEP_S / 2)
    end = start_s + (len(shape) + _FURTHEST) * STEP_S
    part = samples[int(begin * RATE_HZ) : int(end * RATE_HZ)]
    if len(part) < _LEAST_KNOWN * len(shape) * STEP_S * RATE_HZ:
        return None
    heard = sound_rows(part) @ sums.sound
    lips = lip_rows(shape, known) @ sums.lips
    # The row of the sound whose middle is nearest to the first of the lips.
    first = round((start_s - begin) / STEP_S - 0.5)
    at = np.arange(len(lips)) + first
    shifts = np.arange(-_FURTHEST, _FURTHEST + 1)
    fits = np.array([_correlation(heard, at + shift, lips, known) for shift in shifts])
    near, apart = np.abs(shifts) <= _AT_ONCE, np.abs(shifts) >= _APART
    if np.isnan(fits[near]).all() or np.isnan(fits[apart]).all():
        return None
    best = float(np.nanmax(fits[near]))
    return Synchrony(
        seconds=float(known.sum() * STEP_S),
        correlation=best,
        margin=best - float(np.nanmax(fits[apart])),
        lag_s=round(float(shifts[np.nanargmax(fits)] * STEP_S), 2),
    )


def _correlation(heard: Floats, at: NDArray[np.intp], lips: Floats, known: Known) -> float:
    """Mean correlation of the three; not a number where too little of both is known."""
    both = known & (at >= 0) & (at < len(heard))
    if both.sum() < _LEAST_KNOWN * len(lips):
        return float("nan")
    one, other = (each - each.mean(axis=0) for each in (heard[at[both]], lips[both]))
    sizes = np.sqrt((one**2).sum(axis=0) * (other**2).sum(axis=0))
    return float(((one * other).sum(axis=0) / np.maximum(sizes, 1e-9)).mean())


def _with_neighbours(rows: Floats, known: Known, reach: int) -> Floats:
    seen = rows[known] if known.any() else rows
    scaled = (rows - seen.mean(axis=0)) / np.maximum(seen.std(axis=0), 1e-6)
    at = np.arange(len(rows))[:, None] + np.arange(-reach, reach + 1)
    near: Floats = scaled[at.clip(0, len(rows) - 1)].reshape(len(rows), -1)
    return near

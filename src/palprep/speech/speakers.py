"""One speaker or several, from how voices differ without knowing any.

Speech is described by cepstra of half a second each, and split into the two groups that are
furthest apart. Three figures tell whether these are two people. How far the groups stand apart.
How much speech there is: of a few seconds any two groups stand apart. And how steady the groups
are: people take turns of seconds, while the sounds of one voice go from group to group all the
time. Plain features tell a man from a woman, mostly also two men or two women, and never a whisper
in the background. Where it is close, nothing is claimed.
"""

from __future__ import annotations

import math
from array import array
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.speech.arrays import Floats, product, runs_of
from palprep.speech.facts import SpeakerFacts
from palprep.speech.spectrum import filterbank

_FFT = 400
_HOP = 160
_BANDS = 40
_CEPSTRA = 16
_UNIT_FRAMES = 50
_LEAST_UNITS = 16
"""Eight seconds of speech; under that one voice has not shown its range."""


class SpeakerMeter:
    """Push mono blocks at 16 kHz with their voice activity, then ask. Keeps one short
    vector per half second of speech.
    """

    def __init__(self) -> None:
        self._filters = filterbank(_BANDS)
        self._window = np.hanning(_FFT + 1)[:-1].astype(np.float32)
        self._transform = _cosines(_BANDS, _CEPSTRA)
        self._frames: list[Floats] = []
        self._waiting = 0
        self._units = array("f")

    def push(self, chunks: Floats) -> None:
        """Take consecutive samples of speech (whole chunks that were judged to be speech)."""
        if len(chunks) < _FFT:
            return
        frames = np.lib.stride_tricks.sliding_window_view(chunks, _FFT)[::_HOP]
        power = np.abs(np.fft.rfft(frames * self._window, axis=1)) ** 2
        bands = np.log(np.maximum(product(power, self._filters.T), 1e-10))
        self._frames.append(product(bands, self._transform))
        self._waiting += len(frames)
        if self._waiting >= _UNIT_FRAMES:
            joined = np.concatenate(self._frames)
            whole = len(joined) // _UNIT_FRAMES * _UNIT_FRAMES
            units = joined[:whole].reshape(-1, _UNIT_FRAMES, joined.shape[1])
            self._units.frombytes(units.mean(axis=1).tobytes())
            self._frames = [joined[whole:]]
            self._waiting = len(joined) - whole

    def units(self) -> Floats:
        """One vector per half second of speech so far, shape ``(units, features)``."""
        return np.asarray(self._units).reshape(-1, _CEPSTRA)


class Traits(NamedTuple):
    """What tells one voice from several."""

    separation: float
    """Distance of the means of the two groups over the spread within them."""
    shortness: float
    """1 over the square root of the number of units: what chance adds to the separation."""
    steadiness: float
    """1 where the speech changes from group to group as seldom as can be, 0 where it does so as
    often as by chance, negative where more often."""


SAME = Traits(0.0, 0.0, 0.0)
"""Speech that does not fall into two groups."""

_WEIGHTS = Traits(separation=4.302, shortness=-34.061, steadiness=8.084)
_BIAS = -2.095
"""research/training/speakers.py fits these, and says how often they err on people left out."""

_SEVERAL = 0.95
"""Probability from which several people are claimed: of 297 stretches of one reader, who was left
out of the fit, none came as high."""
_ONE = 0.2
"""Probability up to which no second voice stands out. Two voices that are much alike do not: of
900 pairs left out of the fit 33 came as low."""


def judge_units(units: Floats) -> SpeakerFacts:
    """Whether several people speak; ``units`` has one vector per half second, one a row."""
    probability = likelihood(traits(units))
    if len(units) < _LEAST_UNITS or _ONE < probability < _SEVERAL:
        return SpeakerFacts(several=None, confidence=0.0)
    several = probability >= _SEVERAL
    return SpeakerFacts(
        several=several, confidence=round(probability if several else 1.0 - probability, 3)
    )


def likelihood(found: Traits) -> float:
    """The probability that several people speak, where as many recordings have one speaker as
    several."""
    logit = _BIAS + sum(weight * value for weight, value in zip(_WEIGHTS, found, strict=True))
    return 1.0 / (1.0 + math.exp(-logit))


def traits(units: Floats) -> Traits:
    """Split the units into two groups, and measure these; :data:`SAME` for too few of them."""
    if len(units) < _LEAST_UNITS:
        return SAME
    data = units.astype(np.float64)
    data = (data - data.mean(axis=0)) / (data.std(axis=0) + 1e-6)
    groups = _two_groups(data)
    if groups is None:
        return SAME
    first, second = data[groups], data[~groups]
    within = (first.var(axis=0) * len(first) + second.var(axis=0) * len(second)) / len(data)
    distance = (first.mean(axis=0) - second.mean(axis=0)) ** 2 / (within + 1e-6)
    share = float(groups.mean())
    changes = float((groups[1:] != groups[:-1]).mean())
    return Traits(
        separation=float(np.sqrt(distance.mean())),
        shortness=len(data) ** -0.5,
        steadiness=1.0 - changes / (2 * share * (1 - share)),
    )


def _two_groups(data: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Two means, started from the sign of the first principal component."""
    _, _, axes = np.linalg.svd(data - data.mean(axis=0), full_matrices=False)
    groups = data @ axes[0] > 0
    for _ in range(20):
        if not 2 <= groups.sum() <= len(data) - 2:
            return None
        centres = np.stack((data[groups].mean(axis=0), data[~groups].mean(axis=0)))
        distances = ((data[:, None, :] - centres) ** 2).sum(axis=2)
        new = distances[:, 0] < distances[:, 1]
        if (new == groups).all():
            break
        groups = new
    return groups if 2 <= groups.sum() <= len(data) - 2 else None


def _cosines(bands: int, count: int) -> Floats:
    """Discrete cosine transform, without the first term, which is only loudness."""
    order = np.arange(1, count + 1)[None, :]
    place = (np.arange(bands)[:, None] + 0.5) * np.pi / bands
    table: Floats = (np.cos(place * order) * np.sqrt(2.0 / bands)).astype(np.float32)
    return table


def spoken_runs(
    samples: Floats, probabilities: Floats, chunk: int, threshold: float = 0.8
) -> list[Floats]:
    """The stretches of consecutive chunks that are surely speech."""
    sure = runs_of(probabilities >= threshold)
    return [samples[begin * chunk : end * chunk] for begin, end in sure]

"""One speaker or several, by how alike the pieces of speech are to a network that knows voices.

Pieces of a second or two are taken from all of the recording, and split into the two groups that
are least alike. Pieces of one voice stay alike however they are split, and those of two voices do
not. Where it is close, nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from palprep.speech.activity import CHUNK
from palprep.speech.arrays import RATE_HZ, Floats, runs_of
from palprep.speech.facts import SpeakerFacts

PIECE_S, SHORTEST_S = 2.0, 1.0
"""A piece is about as long as the first, and no shorter than the second: less tells no voice."""

LEAST, MOST = 4, 20
"""Pieces. With fewer nothing is claimed; more cost time, and hardly tell more."""

_EVEN, _SPREAD = 0.36, 0.03
"""Mean cosine between the groups at which one voice and two are as likely, and over which the
logit changes by 1. One reader was never below 0.43, two never above 0.41, and 1 in 50 above 0.25
(docs/accuracy.md)."""

_SPOKEN = 0.5

_SEVERAL, _ONE, _SUREST = 0.8, 0.3, 0.99
"""Probability of several from which several are claimed, up to which one is, and the largest that
is said."""


class SpeakerMeter:
    """Push runs of mono speech at 16 kHz, then ask. Keeps at most twice :data:`MOST` pieces."""

    def __init__(self) -> None:
        self._pieces: list[Floats] = []
        self._every, self._seen = 1, 0

    def push(self, run: Floats) -> None:
        """Take consecutive samples that were judged to be speech."""
        if len(run) < SHORTEST_S * RATE_HZ:
            return
        for piece in np.array_split(run, max(1, round(len(run) / (PIECE_S * RATE_HZ)))):
            if self._seen % self._every == 0:
                self._pieces.append(piece)
            self._seen += 1
            if len(self._pieces) > 2 * MOST:
                self._pieces, self._every = self._pieces[::2], 2 * self._every

    def facts(self, embed: Callable[[Floats], Floats]) -> SpeakerFacts:
        """What the pieces tell; ``embed`` gives the direction of a voice, of length 1."""
        if len(self._pieces) < LEAST:
            return UNTOLD
        count = min(MOST, len(self._pieces))
        chosen = np.linspace(0, len(self._pieces) - 1, count).astype(int)
        return judge_voices(np.stack([embed(self._pieces[index]) for index in chosen]))


UNTOLD = SpeakerFacts(several=None, confidence=0.0)


def judge_voices(voices: Floats) -> SpeakerFacts:
    """Whether several people speak; ``voices`` has the direction of one piece a row."""
    probability = 1.0 / (1.0 + math.exp((alikeness(voices) - _EVEN) / _SPREAD))
    if _ONE < probability < _SEVERAL:
        return UNTOLD
    several = probability >= _SEVERAL
    sure = min(_SUREST, probability if several else 1.0 - probability)
    return SpeakerFacts(several=several, confidence=round(sure, 3))


def alikeness(voices: Floats) -> float:
    """The mean cosine between the two groups that are least alike; 1 where there are none."""
    groups = _two_groups(voices.astype(np.float64))
    return float((voices[groups] @ voices[~groups].T).mean()) if groups.any() else 1.0


def _two_groups(voices: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Two means, started from the sign of the first principal component; all False for none."""
    _, _, axes = np.linalg.svd(voices - voices.mean(axis=0), full_matrices=False)
    along = voices @ axes[0]
    groups: NDArray[np.bool_] = along > along.mean()
    for _ in range(20):
        if groups.all() or not groups.any():
            return np.zeros(len(voices), np.bool_)
        centres = np.stack((voices[groups].sum(axis=0), voices[~groups].sum(axis=0)))
        alike = voices @ (centres / np.linalg.norm(centres, axis=1, keepdims=True)).T
        new = alike[:, 0] > alike[:, 1]
        if (new == groups).all():
            break
        groups = new
    return groups


def spoken_runs(samples: Floats, probabilities: Floats) -> list[Floats]:
    """The stretches of consecutive chunks that are rather speech."""
    spoken = runs_of(probabilities >= _SPOKEN)
    return [samples[begin * CHUNK : end * CHUNK] for begin, end in spoken]

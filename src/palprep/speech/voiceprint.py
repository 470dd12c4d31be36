"""Whose voice it is, as an embedding (CAM++, Wang et al. 2023), and whether several people speak.

The network was trained on 200,000 speakers of Chinese and English. It takes log mel bands as Kaldi
makes them: windows of 25 ms every 10 ms, pre-emphasis of 0.97, Povey's window, 80 bands from 20 Hz
on, less their mean over time, which takes level and much of the microphone away.

To tell several speakers, pieces of a second or two are taken from all of a recording, and split
into the two groups that are least alike. Pieces of one voice stay alike however they are split, and
those of two voices do not; nor does the one piece that is all that somebody else says. Where it is
close, nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from palprep.errors import UnsupportedMedia
from palprep.media.sources import Source
from palprep.networks import load_network
from palprep.speech.activity import Activity
from palprep.speech.arrays import RATE_HZ, Floats, mono_of, product
from palprep.speech.facts import SpeakerFacts
from palprep.speech.spectrum import triangles

LISTENED_S = 60.0
"""So much of a file is listened to, from its start."""
LEAST_S = 3.0
"""With less speech, voices of one person come out apart (docs/accuracy.md)."""
MOST_S = 8.0
"""More speech hardly tells more, and costs as much again."""

_PIECES = 4
"""Where there is more, it is taken from so many places: a voice varies over a minute."""
_NUMBERS = 192
_TOGETHER = 4
"""More take memory, and save no more time."""
_FFT = 512
_WINDOW = 400
_HOP = 160
_BANDS = 80
_LOWEST_HZ = 20.0
_EMPHASIS = 0.97
_LEAST_POWER = float(np.finfo(np.float32).eps)
_LEVEL = 0.07
"""Root mean square that speech is brought to, so that its pauses stay above the least power."""


class Voiceprint:
    """The network. Safe to share by threads. Raises ToolMissing for a missing or damaged one."""

    def __init__(self) -> None:
        self._session = load_network("palprep.speech", "voice")
        # Triangles on the mel scale 1127 ln(1 + f / 700), shape (257, 80).
        bins = _mel(np.arange(_FFT // 2 + 1) * RATE_HZ / _FFT)
        edges = np.linspace(_mel(_LOWEST_HZ), _mel(RATE_HZ / 2), _BANDS + 2)
        self._filters = np.ascontiguousarray(triangles(edges, bins).T, np.float32)
        self._taper = (np.hanning(_WINDOW) ** 0.85).astype(np.float32)

    def embed(self, speech: Floats) -> Floats:
        """192 numbers of length 1 from mono speech at 16 kHz, which identify a person."""
        return np.asarray(self.embed_each([speech])[0])

    def embed_each(self, pieces: Sequence[Floats]) -> Floats:
        """The embeddings of pieces of speech, shape ``(pieces, 192)``. Pieces of one length cost a
        sixth less, since they go through the network four at a time."""
        found = np.empty((len(pieces), _NUMBERS), np.float32)
        for length in {len(piece) for piece in pieces}:
            alike = [at for at, piece in enumerate(pieces) if len(piece) == length]
            for some in (alike[at : at + _TOGETHER] for at in range(0, len(alike), _TOGETHER)):
                features = np.concatenate([self.features(pieces[at]) for at in some])
                found[some] = self._session.run(["voice"], {"features": features})[0]
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    def features(self, speech: Floats) -> Floats:
        """The network's input, shape ``(1, 80, frames)``, a frame every 10 ms."""
        level = float(np.sqrt(np.mean(speech**2)))
        speech = speech * (_LEVEL / max(level, 1e-9))
        frames = np.lib.stride_tricks.sliding_window_view(speech, _WINDOW)[::_HOP]
        frames = frames - frames.mean(axis=1, keepdims=True)
        before = np.concatenate((frames[:, :1], frames[:, :-1]), axis=1)
        windowed = (frames - _EMPHASIS * before) * self._taper
        power = (np.abs(np.fft.rfft(windowed, _FFT, axis=1)) ** 2).astype(np.float32)
        bands = np.log(np.maximum(product(power, self._filters), _LEAST_POWER))
        return np.ascontiguousarray((bands - bands.mean(axis=0)).T[None])


def voice_of(source: Source) -> Floats | None:
    """The embedding of the voice in a recording or a video; None with less than
    :data:`LEAST_S` of speech in its first :data:`LISTENED_S`, and without sound.

    Raises MediaError for what cannot be read.
    """
    speech = speech_of(source)
    return Voiceprint().embed(speech) if len(speech) >= LEAST_S * RATE_HZ else None


def speech_of(source: Source) -> Floats:
    """What is spoken in the first minute, without pauses, mono at 16 kHz: all of it, or
    :data:`MOST_S` from places that lie equally far apart.
    """
    nothing = np.zeros(0, np.float32)
    try:
        samples = mono_of(source, LISTENED_S)
    except UnsupportedMedia:
        return nothing
    speech = np.concatenate([nothing, *Activity().push(samples)])
    length = int(MOST_S * RATE_HZ) // _PIECES
    if len(speech) <= length * _PIECES:
        return speech
    starts = np.linspace(0, len(speech) - length, _PIECES).astype(int)
    return np.concatenate([speech[start : start + length] for start in starts])


def _mel(hz: float | np.ndarray) -> np.ndarray:
    return np.asarray(1127.0 * np.log1p(np.asarray(hz) / 700.0))


PIECE_S, SHORTEST_S, HEARD_S = 2.0, 1.0, 1.5
"""Length of a piece, about; of the shortest, since less tells no voice; and of its middle that is
heard. All of it gives the same answers (docs/accuracy.md)."""

LEAST, MOST = 4, 20
"""Pieces. With fewer nothing is claimed; more cost time, and hardly tell more."""

_EVEN, _SPREAD = 0.36, 0.03
"""Mean cosine between the groups at which one voice and two are as likely, and over which the
logit changes by 1. One reader was never below 0.43, two never above 0.41, and 1 in 50 above 0.25
(docs/accuracy.md)."""

_STRANGE = 0.27
"""Cosine of the strangest piece to all others at which one voice and two are as likely, over
:data:`_SPREAD`, too. Of 50 readers none was below 0.53, none of them in noise below 0.44, and a
voice raised by four semitones 0.24; of 30 sentences of others 27 were below 0.28."""

_SEVERAL, _ONE, _SUREST = 0.8, 0.3, 0.99
"""Probability of several speakers from which on there are several, and up to which there is one. No
answer is told as surer than the third."""


class SpeakerMeter:
    """Push runs of mono speech at 16 kHz, then ask. Keeps at most twice :data:`MOST` pieces."""

    def __init__(self) -> None:
        self._pieces: list[Floats] = []
        self._every, self._seen = 1, 0

    def push(self, run: Floats) -> None:
        if len(run) < SHORTEST_S * RATE_HZ:
            return
        heard = int(HEARD_S * RATE_HZ)
        for piece in np.array_split(run, max(1, round(len(run) / (PIECE_S * RATE_HZ)))):
            if self._seen % self._every == 0:
                self._pieces.append(piece[max(0, len(piece) - heard) // 2 :][:heard])
            self._seen += 1
            if len(self._pieces) > 2 * MOST:
                self._pieces, self._every = self._pieces[::2], 2 * self._every

    def facts(self, embed_each: Callable[[Sequence[Floats]], Floats]) -> SpeakerFacts:
        """What the pieces tell; ``embed_each`` gives their embeddings, of length 1."""
        if len(self._pieces) < LEAST:
            return UNTOLD
        count = min(MOST, len(self._pieces))
        chosen = np.linspace(0, len(self._pieces) - 1, count).astype(int)
        return judge_voices(embed_each([self._pieces[index] for index in chosen]))


def speakers_of(samples: Floats) -> SpeakerFacts:
    """Whether several people speak in mono sound at 16 kHz."""
    meter = SpeakerMeter()
    for run in Activity().push(samples):
        meter.push(run)
    return meter.facts(Voiceprint().embed_each)


UNTOLD = SpeakerFacts(several=None, confidence=0.0)


def judge_voices(voices: Floats) -> SpeakerFacts:
    """Whether several people speak; ``voices`` has the embedding of one piece a row."""
    nearer = min(alikeness(voices) - _EVEN, strangest(voices) - _STRANGE)
    probability = 1.0 / (1.0 + math.exp(nearer / _SPREAD))
    if _ONE < probability < _SEVERAL:
        return UNTOLD
    several = probability >= _SEVERAL
    sure = min(_SUREST, probability if several else 1.0 - probability)
    return SpeakerFacts(several=several, confidence=round(sure, 3))


def alikeness(voices: Floats) -> float:
    """The mean cosine between the two groups that are least alike; 1 where there are none."""
    groups = _two_groups(voices.astype(np.float64))
    return float((voices[groups] @ voices[~groups].T).mean()) if groups.any() else 1.0


def strangest(voices: Floats) -> float:
    """The cosine of the piece that is least like all others to the sum of those: two groups hide
    the one piece that a few words of another person are."""
    others = voices.sum(axis=0) - voices
    return float(((voices * others).sum(axis=1) / np.linalg.norm(others, axis=1)).min())


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

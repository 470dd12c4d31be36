"""Whose voice it is, as a direction in 192 dimensions (CAM++, Wang et al. 2023).

The network was trained on 200,000 speakers of Chinese and English. It takes log mel bands as Kaldi
makes them: windows of 25 ms every 10 ms, pre-emphasis of 0.97, Povey's window, 80 bands from 20 Hz
on, less their mean over time, which takes level and much of the microphone away.
"""

from __future__ import annotations

import functools

import numpy as np

from palprep.errors import UnsupportedMedia
from palprep.media import Sink, Source, open_network, probe_audio, read_manifest
from palprep.speech.activity import Silero
from palprep.speech.arrays import RATE_HZ, Floats, mix_down, product
from palprep.speech.speakers import spoken_runs
from palprep.speech.spectrum import triangles

LISTENED_S = 60.0
"""So much of a file is listened to, from its start."""
LEAST_S = 3.0
"""With less speech, voices of one person come out apart (docs/accuracy.md)."""
MOST_S = 8.0
"""More speech hardly tells more, and costs as much again."""

_PIECES = 4
"""Where there is more, it is taken from so many places: a voice varies over a minute."""
_FFT = 512
_WINDOW = 400
_HOP = 160
_BANDS = 80
_LOWEST_HZ = 20.0
_EMPHASIS = 0.97
_LEAST_POWER = float(np.finfo(np.float32).eps)
_LEVEL = 0.07
"""Root mean square that speech is brought to: far under it, pauses vanish under that power."""


class Voiceprint:
    """The network. Safe to share by threads."""

    def __init__(self, model: bytes) -> None:
        self._session = open_network(model)
        self._filters = _mel_filters()
        self._taper = (np.hanning(_WINDOW) ** 0.85).astype(np.float32)

    @staticmethod
    @functools.cache
    def load() -> Voiceprint:
        """The one of this process, with the weights that palprep ships. Raises ToolMissing for a
        missing or damaged file."""
        return Voiceprint(read_manifest("palprep.speech")["voice"].read())

    def embed(self, speech: Floats) -> Floats:
        """192 numbers of length 1, from mono speech at 16 kHz without pauses. They identify a
        person: keep them no longer than needed.
        """
        (found,) = self._session.run(["voice"], {"features": self.features(speech)})[0]
        return np.asarray(found / np.linalg.norm(found), np.float32)

    def features(self, speech: Floats) -> Floats:
        """What the network takes: ``(1, 80, frames of 10 ms)``."""
        level = float(np.sqrt(np.mean(speech**2)))
        bands = self._bands(speech * (_LEVEL / max(level, 1e-9)))
        return np.ascontiguousarray((bands - bands.mean(axis=0)).T[None])

    def _bands(self, speech: Floats) -> Floats:
        frames = np.lib.stride_tricks.sliding_window_view(speech, _WINDOW)[::_HOP]
        frames = frames - frames.mean(axis=1, keepdims=True)
        before = np.concatenate((frames[:, :1], frames[:, :-1]), axis=1)
        windowed = (frames - _EMPHASIS * before) * self._taper
        power = (np.abs(np.fft.rfft(windowed, _FFT, axis=1)) ** 2).astype(np.float32)
        bands: Floats = np.log(np.maximum(product(power, self._filters), _LEAST_POWER))
        return bands


def voice_of(source: Source) -> Floats | None:
    """The embedding of the voice in a recording or a video; None with less than
    :data:`LEAST_S` of speech in its first :data:`LISTENED_S`, and without sound.

    Raises MediaError for what cannot be read.
    """
    speech = speech_of(source)
    return Voiceprint.load().embed(speech) if len(speech) >= LEAST_S * RATE_HZ else None


def speech_of(source: Source) -> Floats:
    """What is spoken in the first minute, without pauses, mono at 16 kHz: all of it, or
    :data:`MOST_S` from places that lie equally far apart.
    """
    blocks: list[Floats] = [np.zeros(0, np.float32)]
    sink = Sink(lambda block: blocks.append(mix_down(block)), RATE_HZ, 2, LISTENED_S)
    try:
        probe_audio(source, sinks=lambda _: (sink,), most_s=LISTENED_S)
    except UnsupportedMedia:
        return blocks[0]
    samples = np.concatenate(blocks)
    probabilities, _ = Silero.load().run(samples)
    runs = spoken_runs(samples, probabilities)
    speech = np.concatenate([np.zeros(0, np.float32), *runs])
    length = int(MOST_S * RATE_HZ) // _PIECES
    if len(speech) <= length * _PIECES:
        return speech
    starts = np.linspace(0, len(speech) - length, _PIECES).astype(int)
    return np.concatenate([speech[start : start + length] for start in starts])


def _mel_filters() -> Floats:
    """Triangles on the mel scale 1127 ln(1 + f / 700), shape ``(257, 80)``."""
    bins = _mel(np.arange(_FFT // 2 + 1) * RATE_HZ / _FFT)
    edges = np.linspace(_mel(_LOWEST_HZ), _mel(RATE_HZ / 2), _BANDS + 2)
    return np.ascontiguousarray(triangles(edges, bins).T, np.float32)


def _mel(hz: float | np.ndarray) -> np.ndarray:
    return np.asarray(1127.0 * np.log1p(np.asarray(hz) / 700.0))

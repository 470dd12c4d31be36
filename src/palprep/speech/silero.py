"""The Silero voice activity network, run over many chunks at once.

The weights are those of Silero VAD (see ``weights/NOTICE.md``). Other runtimes take one chunk of
32 ms at a time. Of the network only the recurrent layer depends on the chunk before; everything
in front of it is the same for every chunk, so it is computed for a whole block at once, and only
a product with a 512 x 128 matrix is left to be done in turn. The numbers are the same and come
far sooner.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from palprep.media.weights import read_manifest
from palprep.speech.arrays import Floats
from palprep.speech.matrices import product

HOME = "palprep.speech"
"""Whose manifest names the weights, as ``voice_activity``."""

RATE_HZ = 16_000
CHUNK = 512
"""Samples to a decision: 32 ms."""
_FRAME = 256
_HOP = 128
_PAD = 64
_STRIDES = (1, 2, 2, 1)
_BATCH = 256
"""Chunks (8 s) at a time: few calls, and what they work on stays in the processor's cache."""


class State(NamedTuple):
    """What the recurrent layer remembers: its output and its cell, 128 values each."""

    hidden: Floats
    cell: Floats


START = State(np.zeros(128, np.float32), np.zeros(128, np.float32))


class Silero:
    """The network. Immutable: the state is passed in and handed back."""

    def __init__(self, tensors: Mapping[str, Floats]) -> None:
        self._window = tensors["stft.window"]
        self._layers = [
            (
                _as_matrix(tensors[f"encoder.{index}.reparam_conv.weight"]),
                tensors[f"encoder.{index}.reparam_conv.bias"],
                stride,
            )
            for index, stride in enumerate(_STRIDES)
        ]
        self._input = tensors["decoder.rnn.weight_ih"].T.copy()
        self._recurrent = np.ascontiguousarray(tensors["decoder.rnn.weight_hh"])
        self._bias = tensors["decoder.rnn.bias_ih"] + tensors["decoder.rnn.bias_hh"]
        self._output = tensors["decoder.decoder.2.weight"].reshape(-1)
        self._output_bias = float(tensors["decoder.decoder.2.bias"].reshape(-1)[0])

    @classmethod
    def load(cls, folder: Path | None = None) -> Silero:
        """The network with the weights in ``folder``, by default those that palprep ships.

        Raises ToolMissing when the file is missing or damaged.
        """
        data = read_manifest(HOME)["voice_activity"].read(folder)
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            return cls({name: stored[name].astype(np.float32) for name in stored.files})

    def run(self, samples: Floats, state: State = START) -> tuple[Floats, State]:
        """Speech probabilities, one per whole chunk of 512 samples, and the state after.

        ``samples`` is mono at 16 kHz, -1..1; what is left after the last whole chunk is
        not looked at.
        """
        chunks = samples[: len(samples) // CHUNK * CHUNK].reshape(-1, CHUNK)
        found = []
        for at in range(0, len(chunks), _BATCH):
            probabilities, state = self._recur(self._encode(chunks[at : at + _BATCH]), state)
            found.append(probabilities)
        return (np.concatenate(found) if found else np.zeros(0, np.float32)), state

    def _encode(self, chunks: Floats) -> Floats:
        """Gate inputs of the recurrent layer, shape ``(chunks, 512)``."""
        padded = np.pad(chunks, ((0, 0), (_PAD, _PAD)), mode="reflect")
        frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME, axis=1)[:, ::_HOP]
        signal = np.abs(np.fft.rfft(frames * self._window, axis=-1))
        for weight, bias, stride in self._layers:
            around = np.pad(signal, ((0, 0), (1, 1), (0, 0)))
            places = range(0, signal.shape[1], stride)
            windows = np.stack([around[:, at : at + 3] for at in places], axis=1)
            flat = product(windows.reshape(-1, weight.shape[0]), weight) + bias
            signal = np.maximum(flat, 0.0).reshape(len(chunks), len(places), -1)
        encoded: Floats = product(signal[:, 0], self._input) + self._bias
        return encoded

    def _recur(self, gates: Floats, state: State) -> tuple[Floats, State]:
        hidden, cell = state
        outputs = np.empty((len(gates), len(hidden)), np.float32)
        # The gates in torch's order: input, forget, cell, output.
        for index, gate in enumerate(gates):
            total = gate + self._recurrent @ hidden
            open_ = _sigmoid(total)
            cell = open_[128:256] * cell + open_[:128] * np.tanh(total[256:384])
            hidden = open_[384:] * np.tanh(cell)
            outputs[index] = hidden
        logits = np.maximum(outputs, 0.0) @ self._output + self._output_bias
        return np.asarray(_sigmoid(logits), np.float32), State(hidden, cell)


def _sigmoid(values: Floats) -> Floats:
    # Bounded: far louder than full scale, the exponential would overflow.
    exponential: Floats = np.exp(-np.maximum(values, np.float32(-80.0)))
    return 1.0 / (1.0 + exponential)


def _as_matrix(weight: Floats) -> Floats:
    """A convolution's weight (out, in, 3) as (3 * in, out), to multiply windows with."""
    return np.ascontiguousarray(weight.transpose(2, 1, 0).reshape(-1, weight.shape[0]))

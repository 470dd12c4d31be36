"""Where somebody speaks: Silero's network, and its probabilities as stretches of time.

Weights, rules and their values are those of Silero VAD (see ``weights/NOTICE.md``). Other runtimes
take one chunk of 32 ms at a time. Of the network only the recurrent layer depends on the chunk
before: the rest is computed for a whole block at once, with the same numbers, far sooner.
"""

from __future__ import annotations

import functools
import io
from array import array
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from palprep.networks import read_manifest
from palprep.speech.arrays import RATE_HZ, Floats, product
from palprep.values import Span

HOME = "palprep.speech"
"""Whose manifest names the weights, as ``voice_activity``."""

CHUNK = 512
"""Samples to a decision: 32 ms."""
_FRAME = 256
_HOP = 128
_PAD = 64
_STRIDES = (1, 2, 2, 1)
_BATCH = 128
"""Chunks (4 s) at a time: few calls. With twice as many glibc gives their memory back to the system
after each, unless it is told otherwise, and that takes as long as the work.
"""

BEGINS = 0.5
ENDS = 0.35
MIN_SILENCE_S = 0.1
MIN_SPEECH_S = 0.25
PAD_S = 0.03
_CHUNK_S = CHUNK / RATE_HZ

State = tuple[Floats, Floats]
"""What the recurrent layer remembers: its output and its cell, 128 values each."""

START: State = (np.zeros(128, np.float32), np.zeros(128, np.float32))


class Silero:
    """The network. Immutable: the state is passed in and handed back."""

    def __init__(self, tensors: Mapping[str, Floats]) -> None:
        self._window = tensors["stft.window"]
        self._layers = [
            (
                # A convolution (out, in, 3) as (3 * in, out), to multiply windows with.
                np.ascontiguousarray(weight.transpose(2, 1, 0).reshape(-1, weight.shape[0])),
                tensors[f"encoder.{index}.reparam_conv.bias"],
                stride,
            )
            for index, stride in enumerate(_STRIDES)
            for weight in (tensors[f"encoder.{index}.reparam_conv.weight"],)
        ]
        self._input = tensors["decoder.rnn.weight_ih"].T.copy()
        self._recurrent = np.ascontiguousarray(tensors["decoder.rnn.weight_hh"])
        self._bias = tensors["decoder.rnn.bias_ih"] + tensors["decoder.rnn.bias_hh"]
        self._output = tensors["decoder.decoder.2.weight"].reshape(-1)
        self._output_bias = float(tensors["decoder.decoder.2.bias"].reshape(-1)[0])

    @staticmethod
    @functools.cache
    def load() -> Silero:
        """The one of this process, with the weights that palprep ships. Raises ToolMissing for a
        missing or damaged file."""
        data = read_manifest(HOME)["voice_activity"].read()
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            return Silero({name: stored[name].astype(np.float32) for name in stored.files})

    def run(self, samples: Floats, state: State = START) -> tuple[Floats, State]:
        """Speech probabilities, one per whole chunk of 512 samples, and the state after.

        ``samples`` is mono at 16 kHz, -1..1; what is left after whole chunks is ignored.
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
        return np.asarray(_sigmoid(logits), np.float32), (hidden, cell)


def _sigmoid(values: Floats) -> Floats:
    # Bounded: far louder than full scale, the exponential would overflow.
    exponential: Floats = np.exp(-np.maximum(values, np.float32(-80.0)))
    return 1.0 / (1.0 + exponential)


class Activity:
    """Voice activity of a stream: push mono blocks at 16 kHz, then ask for the spans.

    Keeps one probability per 32 ms and less than a chunk of samples.
    """

    def __init__(self, network: Silero) -> None:
        self._network = network
        self._state: State = START
        self._rest: Floats = np.zeros(0, np.float32)
        self._probabilities = array("f")

    def push(self, samples: Floats) -> Floats:
        """Take the next samples; the probabilities of the chunks they complete."""
        waiting = np.concatenate((self._rest, samples))
        whole = len(waiting) // CHUNK * CHUNK
        found, self._state = self._network.run(waiting[:whole], self._state)
        self._rest = waiting[whole:]
        self._probabilities.frombytes(found.tobytes())
        return found

    @property
    def heard(self) -> bool:
        """Whether a whole chunk was pushed."""
        return bool(self._probabilities)

    def at(self, times_s: NDArray[np.float64]) -> Floats:
        """The probability at each time, that of the nearest end outside what was pushed."""
        index = np.clip((times_s / _CHUNK_S).astype(int), 0, len(self._probabilities) - 1)
        first = int(index.min())
        # A copy of what is asked for: while its memory is shared, an array cannot grow.
        near = np.array(self._probabilities[first : int(index.max()) + 1], np.float32)
        found: Floats = near[index - first]
        return found

    def spans(self) -> tuple[Span, ...]:
        """The stretches of speech in what was pushed so far."""
        length_s = len(self._probabilities) * _CHUNK_S + len(self._rest) / RATE_HZ
        return spans_of(self._probabilities, length_s)


def speech_spans(samples: Floats) -> tuple[Span, ...]:
    """The stretches of speech in mono sound at 16 kHz."""
    activity = Activity(Silero.load())
    activity.push(samples)
    return activity.spans()


def spans_of(probabilities: Sequence[float], length_s: float) -> tuple[Span, ...]:
    """Stretches of speech from one probability per 32 ms, by hysteresis."""
    found: list[tuple[float, float]] = []
    begin: int | None = None
    quiet: int | None = None
    # Padded by silence, so that what is open at the end is closed there.
    for index, probability in enumerate(probabilities):
        if probability >= BEGINS:
            quiet = None
            begin = index if begin is None else begin
        elif begin is not None and probability < ENDS:
            quiet = index if quiet is None else quiet
            if (index - quiet) * _CHUNK_S >= MIN_SILENCE_S:
                found.append((begin * _CHUNK_S, quiet * _CHUNK_S))
                begin = quiet = None
    if begin is not None:
        end = quiet if quiet is not None else len(probabilities)
        found.append((begin * _CHUNK_S, end * _CHUNK_S))
    # Neighbours stay apart: a pause is longer than both pads.
    return tuple(
        Span(start_s=round(max(0.0, start - PAD_S), 3), end_s=round(min(length_s, end + PAD_S), 3))
        for start, end in found
        if end - start >= MIN_SPEECH_S
    )

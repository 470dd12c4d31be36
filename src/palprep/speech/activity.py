"""Where somebody speaks: Silero's network, and its probabilities as stretches of time.

Weights, rules and their values are those of Silero VAD (see ``weights/NOTICE.md``). Other runtimes
take one chunk of 32 ms at a time. Here a run takes a block of them, with the same numbers, far
sooner.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from palprep.networks import load_network
from palprep.speech.arrays import RATE_HZ, Floats, runs_of
from palprep.values import Span

CHUNK = 512
"""Samples to a decision: 32 ms."""
_BATCH = 128
"""Chunks (4 s) at a time. More of them save no time."""

SPOKEN = 0.5
"""Probability from which a chunk is rather speech."""

BEGINS = 0.5
ENDS = 0.35
MIN_SILENCE_S = 0.1
MIN_SPEECH_S = 0.25
PAD_S = 0.03
_CHUNK_S = CHUNK / RATE_HZ


class Activity:
    """Voice activity of a stream: push mono blocks at 16 kHz, -1 to 1, then ask for the spans.
    Keeps one probability per 32 ms and less than a chunk of samples.

    Raises ToolMissing for a missing or damaged network.
    """

    def __init__(self) -> None:
        self._network = load_network("palprep.speech", "voice_activity")
        self._state = dict.fromkeys(("hidden", "cell"), np.zeros((1, 1, 128), np.float32))
        """What the recurrent layer remembers: its output and its cell."""
        self._rest: Floats = np.zeros(0, np.float32)
        self.probabilities = array("f")
        """Of speech, one per whole chunk."""

    def push(self, samples: Floats) -> list[Floats]:
        """Take the next samples, and give the runs of completed chunks that are rather speech."""
        waiting = np.concatenate((self._rest, samples))
        whole = len(waiting) // CHUNK * CHUNK
        chunks, self._rest = waiting[:whole].reshape(-1, CHUNK), waiting[whole:]
        before = len(self.probabilities)
        for at in range(0, len(chunks), _BATCH):
            given = {"chunks": chunks[at : at + _BATCH], **self._state}
            speech, *after = self._network.run(["speech", "hidden_after", "cell_after"], given)
            self._state = dict(zip(self._state, after, strict=True))
            self.probabilities.frombytes(speech.tobytes())
        spoken = runs_of(np.array(self.probabilities[before:]) >= SPOKEN)
        return [waiting[begin * CHUNK : end * CHUNK] for begin, end in spoken]

    def at(self, times_s: NDArray[np.float64]) -> Floats:
        """The probability at each time, that of the nearest end outside what was pushed."""
        index = np.clip((times_s / _CHUNK_S).astype(int), 0, len(self.probabilities) - 1)
        first = int(index.min())
        # A copy of what is asked for: while its memory is shared, an array cannot grow.
        near = np.array(self.probabilities[first : int(index.max()) + 1], np.float32)
        return np.asarray(near[index - first])

    def spans(self) -> tuple[Span, ...]:
        length_s = len(self.probabilities) * _CHUNK_S + len(self._rest) / RATE_HZ
        return spans_of(self.probabilities, length_s)


def speech_spans(samples: Floats) -> tuple[Span, ...]:
    """The stretches of speech in mono sound at 16 kHz."""
    activity = Activity()
    activity.push(samples)
    return activity.spans()


def spans_of(probabilities: Sequence[float], length_s: float) -> tuple[Span, ...]:
    """Stretches of speech from one probability per 32 ms, by hysteresis."""
    found: list[tuple[float, float]] = []
    begin: int | None = None
    quiet: int | None = None
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

"""Where somebody speaks: the network's probabilities, turned into stretches of time.

The rules and their values are those that Silero VAD publishes with its network: speech
begins at a probability of 0.5 and ends when it stays below 0.35 for 100 ms; stretches
under 250 ms are dropped; 30 ms are kept on both sides.
"""

from __future__ import annotations

import numpy as np

from palprep.speech.arrays import Floats
from palprep.speech.growing_array import GrowingArray
from palprep.speech.silero import CHUNK, RATE_HZ, START, Silero, State
from palprep.values import Span

BEGINS = 0.5
ENDS = 0.35
MIN_SILENCE_S = 0.1
MIN_SPEECH_S = 0.25
PAD_S = 0.03
_CHUNK_S = CHUNK / RATE_HZ


class Activity:
    """Voice activity of a stream: push mono blocks at 16 kHz, then ask for the spans.

    Keeps one probability per 32 ms and less than a chunk of samples.
    """

    def __init__(self, network: Silero) -> None:
        self._network = network
        self._state: State = START
        self._rest: Floats = np.zeros(0, np.float32)
        self._probabilities = GrowingArray(np.float32)

    def push(self, samples: Floats) -> Floats:
        """Take the next samples; the probabilities of the chunks they complete."""
        waiting = np.concatenate((self._rest, samples))
        whole = len(waiting) // CHUNK * CHUNK
        found, self._state = self._network.run(waiting[:whole], self._state)
        self._rest = waiting[whole:]
        self._probabilities.append(found)
        return found

    def probabilities(self) -> Floats:
        """One probability per 32 ms of what was pushed so far."""
        return self._probabilities.values()

    def spans(self) -> tuple[Span, ...]:
        """The stretches of speech in what was pushed so far."""
        probabilities = self.probabilities()
        length_s = len(probabilities) * _CHUNK_S + len(self._rest) / RATE_HZ
        return spans_of(probabilities, length_s)


def speech_spans(samples: Floats, network: Silero | None = None) -> tuple[Span, ...]:
    """The stretches of speech in mono sound at 16 kHz."""
    activity = Activity(network or Silero.load())
    activity.push(samples)
    return activity.spans()


def spans_of(probabilities: Floats, length_s: float) -> tuple[Span, ...]:
    """Stretches of speech from one probability per 32 ms, by hysteresis."""
    found: list[tuple[float, float]] = []
    begin: int | None = None
    quiet: int | None = None
    # Padded by silence, so that what is open at the end is closed there.
    for index, probability in enumerate(probabilities.tolist()):
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
    long = [(start, end) for start, end in found if end - start >= MIN_SPEECH_S]
    # Neighbours stay apart: a pause is longer than both pads.
    return tuple(
        Span(start_s=round(max(0.0, start - PAD_S), 3), end_s=round(min(length_s, end + PAD_S), 3))
        for start, end in long
    )

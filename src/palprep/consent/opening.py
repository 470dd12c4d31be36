"""The opening of a recording, read against the statement that should be in it: by Whisper, and by
Moonshine where Whisper leaves a doubt.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from palprep.consent.facts import StatementReading, Surroundings
from palprep.consent.moonshine import Moonshine
from palprep.consent.reading import part_reading, surroundings
from palprep.consent.search import find_statement, hear_code
from palprep.consent.second_hearing import hear_again, leaves_doubt
from palprep.consent.statement import Statement
from palprep.consent.whisper import Whisper
from palprep.errors import ToolMissing
from palprep.media import Sink, Source, probe_audio
from palprep.speech import RATE_HZ, speech_spans

OPENING_S = 30.0
"""The statement must begin within so many seconds."""
_BEYOND_S = 10.0
"""Time that is heard after the opening, for a statement that starts late in it."""
_WORD_S = 0.75
"""A slow speaker's time for a word: 80 words a minute."""
_USUAL_WORDS = 40
"""Of a statement that is not known."""


class Listeners:
    """Two models that were trained by different people on different recordings.

    The first one writes down what it hears, tells when it is said, and weighs other wordings. The
    second one weighs them again, and is loaded when the first one leaves a doubt. Several threads
    may use both at once.
    """

    def __init__(self, first: Whisper) -> None:
        self.first = first
        self._second: Moonshine | None = None
        self._loading = Lock()

    @classmethod
    def load(cls, directory: str | Path | None = None) -> Listeners:
        """With the default model as the first one, or the Whisper model in ``directory``.

        Raises ToolMissing when a file of a model is missing or damaged, ToolFailed when a model of
        one's own cannot be loaded.
        """
        Moonshine.require()
        return cls(Whisper.load(directory))

    def second(self, language: str) -> Moonshine | None:
        """The second model; None for a language that it does not know.

        Raises ToolMissing for a damaged one.
        """
        if not Moonshine.knows(language):
            return None
        with self._loading:
            if self._second is None:
                self._second = Moonshine.load()
            return self._second


def decode_opening(source: Source, required: Statement) -> NDArray[np.float32]:
    """As much of a recording as the statement may need: mono audio at 16 kHz. Raises MediaError."""
    opening = Opening(required)
    most_s = opening.sink.most_s
    probe_audio(source, sinks=lambda _: (opening.sink,), most_s=most_s)
    return opening.samples()


def model_for(
    required: Statement, model: Listeners | str | Path | None
) -> Listeners | StatementReading:
    """The models that read the statement, or a reading that says why there is none.

    Raises ToolMissing for a named model that is missing, ToolFailed for a damaged one.
    """
    try:
        listeners = model if isinstance(model, Listeners) else Listeners.load(model)
    except ToolMissing as error:
        if model is not None:
            raise
        return _reading(required, problem=error.message)
    if listeners.first.knows(required.language):
        return listeners
    problem = (
        f"{listeners.first.name} does not know the language {required.language!r}; "
        "name a multilingual one with --whisper-model, as docs/accuracy.md shows"
    )
    return _reading(required, listeners, problem=problem)


class Opening:
    """The opening of a recording, kept while it is decoded: mono at 16 kHz.

    It is long enough for a statement that begins late, is spoken slowly, and is taken back.
    """

    def __init__(self, required: Statement | None) -> None:
        words = len(required.words) if required else _USUAL_WORDS
        self._blocks: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]
        most_s = OPENING_S + words * _WORD_S + _BEYOND_S
        self.sink = Sink(self._blocks.append, RATE_HZ, 1, most_s)
        """What gives it its samples in a decode."""

    def samples(self) -> NDArray[np.float32]:
        """What was kept, shape (samples,)."""
        return np.concatenate(self._blocks)


def read_samples(
    samples: NDArray[np.float32], required: Statement, listeners: Listeners
) -> StatementReading:
    """Read the statement in the opening of a recording: ``samples`` are mono at 16 kHz, from its
    start. Raises ToolMissing for a damaged second model.
    """
    spans = tuple(speech_spans(samples))
    found = find_statement(samples, required, listeners.first, spans, OPENING_S) if spans else ()
    whole = found and found[-1].found
    code = hear_code(samples, found[-1], listeners.first, spans) if whole else None
    heard = any(one.found for one in found)
    around = surroundings(found[0], found[-1]) if heard else Surroundings()
    found = tuple(one._replace(statement=one.statement._replace(code=code)) for one in found)
    reading = _reading(
        required,
        listeners,
        code=code,
        transcript=" ".join(one.said for one in found),
        speech=spans,
        parts=tuple(map(part_reading, found)),
        said_before=f"{around.before} {around.perhaps_before}".strip(),
        said_after=next(iter(around.after), ""),
        surroundings=around,
    )
    doubted = any(map(leaves_doubt, reading.parts))
    second = listeners.second(required.language) if doubted else None
    return hear_again(second, samples, reading) if second else reading


def _reading(
    required: Statement, listeners: Listeners | None = None, **read: object
) -> StatementReading:
    return StatementReading.model_validate(
        {
            "statement": required.text,
            "full_name": required.full_name,
            "spoken_as": required.spoken_as,
            "language": required.language,
            "opening_s": OPENING_S,
            "model": listeners.first.name if listeners else None,
            "model_sha256": listeners.first.sha256 if listeners else None,
            **read,
        }
    )

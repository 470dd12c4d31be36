"""The opening of a recording, read against the statement that should be in it: by Whisper, and by
Moonshine where Whisper leaves a doubt.
"""

from __future__ import annotations

import functools
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from palprep.consent.facts import StatementReading, Surroundings
from palprep.consent.moonshine import Moonshine, hear_again, leaves_doubt
from palprep.consent.reading import part_reading, surroundings
from palprep.consent.search import find_statement, hear_code
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


_LOADING = Lock()


@functools.cache
def load_model(directory: str | Path | None) -> Whisper:
    """The default model, or the Whisper model in ``directory``: the one of this process.

    Raises ToolMissing when a file of it is missing or damaged, or the second model's are missing;
    ToolFailed when a model of one's own cannot be loaded.
    """
    Moonshine.require()
    return Whisper.load(directory)


def decode_opening(source: Source, required: Statement) -> NDArray[np.float32]:
    """As much of a recording as the statement may need: mono audio at 16 kHz. Raises MediaError."""
    opening = Opening(required)
    most_s = opening.sink.most_s
    probe_audio(source, sinks=lambda _: (opening.sink,), most_s=most_s)
    return opening.samples()


def model_for(
    required: Statement, model: Whisper | str | Path | None
) -> Whisper | StatementReading:
    """The model that reads the statement, or a reading that says why there is none.

    Raises ToolMissing for a named model that is missing, ToolFailed for a damaged one.
    """
    try:
        with _LOADING:
            listener = model if isinstance(model, Whisper) else load_model(model)
    except ToolMissing as error:
        if model is not None:
            raise
        return _reading(required, problem=error.message)
    if listener.knows(required.language):
        return listener
    problem = (
        f"{listener.name} does not know the language {required.language!r}; "
        "name a multilingual one with --whisper-model, as docs/accuracy.md shows"
    )
    return _reading(required, listener, problem=problem)


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
    samples: NDArray[np.float32], required: Statement, listener: Whisper
) -> StatementReading:
    """Read the statement in the opening of a recording: ``samples`` are mono at 16 kHz, from its
    start. Where ``listener`` leaves a doubt, a second model weighs the wordings again, which was
    trained by other people on other recordings. Raises ToolMissing for a damaged one.
    """
    spans = tuple(speech_spans(samples))
    found = find_statement(samples, required, listener, spans, OPENING_S) if spans else ()
    whole = found and found[-1].found
    code = hear_code(samples, found[-1], listener, spans) if whole else None
    heard = any(one.found for one in found)
    around = surroundings(found[0], found[-1]) if heard else Surroundings()
    found = tuple(one._replace(statement=one.statement._replace(code=code)) for one in found)
    reading = _reading(
        required,
        listener,
        code=code,
        transcript=" ".join(one.said for one in found),
        speech=spans,
        parts=tuple(map(part_reading, found)),
        said_before=f"{around.before} {around.perhaps_before}".strip(),
        said_after=next(iter(around.after), ""),
        surroundings=around,
    )
    if not Moonshine.knows(required.language) or not any(map(leaves_doubt, reading.parts)):
        return reading
    with _LOADING:
        second = Moonshine.load()
    return hear_again(second, samples, reading)


def _reading(
    required: Statement, listener: Whisper | None = None, **read: object
) -> StatementReading:
    return StatementReading.model_validate(
        {
            "statement": required.text,
            "full_name": required.full_name,
            "spoken_as": required.spoken_as,
            "language": required.language,
            "opening_s": OPENING_S,
            "model": listener.name if listener else None,
            "model_sha256": listener.sha256 if listener else None,
            **read,
        }
    )

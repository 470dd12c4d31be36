"""What can be known of a consent statement that is spoken in a recording.

Times are in seconds from the start of the recording.
"""

from __future__ import annotations

from typing import Any, Literal

from palprep.values import Value

Grade = Literal["pass", "warn", "fail", "unknown"]
"""The outcomes that reports use, by their names on the wire."""


class WordRecord(Value):
    """One word of the required statement, or one that was added to it.

    ``expected`` is None for an added word, ``heard`` for one that was not said. ``start``
    and ``end`` are None where nothing was found. ``probability`` is the geometric mean of
    the model's probabilities of the word's tokens when the required text is forced upon
    the recording, 0..1; None for an added word.
    """

    expected: str | None
    heard: str | None
    start: float | None
    end: float | None
    probability: float | None
    outcome: Grade


class ConsentFacts(Value):
    """Whether the required statement was spoken, word by word.

    ``outcome`` is ``pass`` when two independent readings agree on every word, ``warn`` when
    one of them does and the other does not contradict it, ``fail`` when a word is missing,
    changed, added or negated, ``unknown`` when nothing could be read (no model, or a
    language the model does not know). ``reasons`` say it in sentences.
    """

    outcome: Grade
    transcript: str
    """What was heard in the opening, whether or not it is the statement."""
    starts_at: float | None
    """When the statement's first word begins; None when it was not found."""
    ends_at: float | None
    words: tuple[WordRecord, ...]
    reasons: tuple[str, ...]
    statement: str
    """The required statement with the name filled in."""
    full_name: str
    language: str
    said_before: str = ""
    """What is heard before the statement; empty when it opens the recording."""
    said_after: str = ""
    """What is heard after it within the opening."""
    model: str | None = None
    """The model that listened, and the sha256 of its weights."""
    model_sha256: str | None = None

    def shown(self, path: str) -> dict[str, Any]:
        """The object that ``palprep consent --json`` prints, keys in the documented order."""
        data = self.to_json()
        keys = ("outcome", "transcript", "starts_at", "ends_at", "words", "reasons")
        return {"path": path, **{key: data[key] for key in keys}}

"""Was the required consent statement spoken, word by word?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from palprep.consent.facts import ConsentFacts, WordRecord
from palprep.consent.grading import Decision, decide, worst
from palprep.consent.readings import Script
from palprep.consent.search import Found, find_statement
from palprep.consent.statements import fill_statement, required_statement
from palprep.consent.whisper import Whisper
from palprep.errors import ToolMissing
from palprep.media.audio import probe_audio
from palprep.media.samples import Sink, stream_samples
from palprep.media.source import Source
from palprep.speech.activity import speech_spans
from palprep.speech.mel import RATE_HZ
from palprep.values import Span

OPENING_S = 30.0
_BEYOND_S = 10.0
"""What is said after a statement that starts late in the opening is heard for so long."""
_WORD_S = 0.75
"""A slow speaker's time for a word: 80 words a minute."""


def verify_consent(
    path: str | Path | Source,
    *,
    full_name: str,
    statement: str | None = None,
    language: str = "en",
    model: Whisper | str | Path | None = None,
    window_s: float = OPENING_S,
    profile: str = "default",
) -> ConsentFacts:
    """Verify the consent statement in the opening of a recording or video.

    ``statement`` is the service's own text, ``{full_name}`` or the very name in it; without it
    palprep's template for the profile and language stands in. ``model`` is a loaded model, or the
    directory of a CTranslate2 Whisper model; without it the installed default (English
    only) is loaded. The statement must begin within the first ``window_s`` seconds.

    The outcome is ``unknown``, with the command that helps among the reasons, when the
    default model is not installed or does not know the language. Raises MediaError for a
    file that cannot be read, ToolMissing for a named model that is not there, ToolFailed
    for a damaged model, and UsageError for a language without a statement or one without the name.
    """
    script = required_script(full_name, statement, language=language, profile=profile)
    source = Source.of(path)
    whisper = model_for(script, model)
    if isinstance(whisper, ConsentFacts):
        return whisper
    opening = Opening(script, window_s=window_s)
    chosen = probe_audio(source, levels=False).stream.index
    for block in stream_samples(source, rate_hz=RATE_HZ, stream=chosen):
        if opening.full:
            break
        opening.push(block)
    return verify_samples(opening.samples(), script, whisper, window_s=window_s)


def required_script(
    full_name: str, statement: str | None, *, language: str, profile: str = "default"
) -> Script:
    """The words to listen for: see :func:`verify_consent`. Raises UsageError."""
    template = statement or required_statement(profile=profile, language=language)
    return Script.of(fill_statement(template, full_name), full_name, language)


def model_for(script: Script, model: Whisper | str | Path | None) -> Whisper | ConsentFacts:
    """The model that verifies the script, or facts that say why there is none.

    Raises ToolMissing for a named model that is not there, ToolFailed for a damaged one.
    """
    try:
        whisper = model if isinstance(model, Whisper) else Whisper.load(model)
    except ToolMissing as error:
        if model is not None:
            raise
        return _unknown(script, error.message)
    if whisper.knows(script.language):
        return whisper
    return _unknown(
        script,
        f"{whisper.name} does not know the language {script.language!r}; "
        "name a multilingual CTranslate2 Whisper model",
        whisper,
    )


class Opening:
    """The opening of a recording, kept while it is decoded: mono at 16 kHz.

    It is long enough for the statement to begin late, to be spoken slowly, and to be taken back.
    """

    def __init__(self, script: Script, *, window_s: float = OPENING_S) -> None:
        self._most_s = window_s + len(script.words) * _WORD_S + _BEYOND_S
        self._blocks: list[NDArray[np.float32]] = []
        self._length = 0

    @property
    def sink(self) -> Sink:
        """What gives it its samples in a decode."""
        return Sink(self.push, RATE_HZ, 1, self._most_s)

    @property
    def full(self) -> bool:
        """Nothing more of the recording is needed."""
        return self._length >= int(self._most_s * RATE_HZ)

    def push(self, block: NDArray[np.float32]) -> None:
        """Take the next samples."""
        kept = block[: int(self._most_s * RATE_HZ) - self._length]
        self._blocks.append(kept)
        self._length += len(kept)

    def samples(self) -> NDArray[np.float32]:
        """What was kept, shape (samples,)."""
        return np.concatenate(self._blocks) if self._blocks else np.zeros(0, np.float32)


def verify_samples(
    samples: NDArray[np.float32], script: Script, model: Whisper, *, window_s: float = OPENING_S
) -> ConsentFacts:
    """As :func:`verify_consent`, of mono sound at 16 kHz from the recording's start."""
    spans = speech_spans(samples)
    if not spans:
        return _failed(script, model, "", "No speech is heard in the opening.")
    found = find_statement(samples, script, model, spans, window_s)
    ends = [{"begins": one is found[0], "ends": one is found[-1]} for one in found]
    transcript = " ".join(one.transcript(**which) for one, which in zip(found, ends, strict=True))
    if not any(one.reading.found for one in found):
        return _failed(
            script, model, transcript, "The required statement is not heard in the opening."
        )
    decisions = [_decided(one, **which) for one, which in zip(found, ends, strict=True)]
    outcome = worst(grade for grade, _, _ in decisions)
    words = _clamped(tuple(word for _, words, _ in decisions for word in words), spans)
    reasons = [reason for _, _, reasons in decisions for reason in reasons]
    starts_at = next((word.start for word in words if word.start is not None), None)
    ends_at = next((word.end for word in reversed(words) if word.end is not None), None)
    if starts_at is not None and starts_at > window_s:
        outcome = "fail"
        reasons.append(
            f"The statement starts at {starts_at:.1f} s, not within the first {window_s:g} s."
        )
    first, last = found[0].reading, found[-1].reading
    before = (*first.earlier, *(word.shown for word in first.heard[: first.opens]))
    return ConsentFacts(
        outcome=outcome,
        transcript=transcript,
        starts_at=starts_at,
        ends_at=ends_at,
        words=words,
        reasons=tuple(dict.fromkeys(reasons)),
        statement=script.text,
        full_name=script.full_name,
        language=script.language,
        said_before=" ".join(before),
        said_after=" ".join(word.shown for word in last.heard[last.comparison.heard_last :]),
        model=model.name,
        model_sha256=model.sha256,
    )


def _decided(found: Found, *, begins: bool, ends: bool) -> Decision:
    """The decision on a statement, or on a part of one."""
    if not found.reading.found:
        said = f"Words {found.script.offset + 1} to {found.script.offset + len(found.script.words)}"
        return "fail", _unheard(found.script), [f"{said} are not heard."]
    grade, words, reasons = decide(found.reading, found.script, begins=begins, ends=ends)
    if not found.between:
        return grade, words, reasons
    said = " ".join(word.shown for word in found.between)
    added = WordRecord(
        expected=None, heard=said, start=None, end=None, probability=None, outcome="fail"
    )
    return "fail", (added, *words), [f"Added: “{said}”.", *reasons]


def _clamped(words: tuple[WordRecord, ...], spans: Sequence[Span]) -> tuple[WordRecord, ...]:
    """Alignment lets the first and the last word reach into the silence beside them."""
    timed = [index for index, word in enumerate(words) if word.start is not None]
    if not timed:
        return words
    changed = list(words)
    first, last = changed[timed[0]], changed[timed[-1]]
    begins = next(
        (s.start_s for s in spans if first.end is None or s.end_s > (first.start or 0)), 0.0
    )
    if first.start is not None and first.end is not None and first.start < begins < first.end:
        changed[timed[0]] = first.model_copy(update={"start": round(begins, 2)})
    last = changed[timed[-1]]
    ends = next((s.end_s for s in reversed(spans) if s.start_s < (last.end or 0)), None)
    known = ends is not None and last.start is not None and last.end is not None
    if known and last.start < ends < last.end:  # type: ignore[operator]
        changed[timed[-1]] = last.model_copy(update={"end": round(ends, 2)})  # type: ignore[arg-type]
    return tuple(changed)


def _unknown(script: Script, reason: str, model: Whisper | None = None) -> ConsentFacts:
    return ConsentFacts(
        outcome="unknown",
        transcript="",
        starts_at=None,
        ends_at=None,
        words=(),
        reasons=(reason,),
        statement=script.text,
        full_name=script.full_name,
        language=script.language,
        model=model.name if model else None,
        model_sha256=model.sha256 if model else None,
    )


def _failed(script: Script, model: Whisper, transcript: str, reason: str) -> ConsentFacts:
    return ConsentFacts(
        outcome="fail",
        transcript=transcript,
        starts_at=None,
        ends_at=None,
        words=_unheard(script),
        reasons=(reason,),
        statement=script.text,
        full_name=script.full_name,
        language=script.language,
        model=model.name,
        model_sha256=model.sha256,
    )


def _unheard(script: Script) -> tuple[WordRecord, ...]:
    return tuple(
        WordRecord(
            expected=word.shown, heard=None, start=None, end=None, probability=None, outcome="fail"
        )
        for word in script.words
    )

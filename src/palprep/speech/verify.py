"""Was the required consent statement spoken, word by word?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from palprep.errors import ToolMissing
from palprep.media.samples import stream_samples
from palprep.media.sniff import sniff
from palprep.media.sound import probe_sound
from palprep.speech.activity import speech_spans
from palprep.speech.decide import decide
from palprep.speech.facts import ConsentFacts, Span, WordRecord
from palprep.speech.mel import RATE_HZ, WINDOW_S
from palprep.speech.readings import Reading, Script, read_window
from palprep.speech.statements import fill_statement, required_statement
from palprep.speech.whisper import Whisper

OPENING_S = 30.0
_BEYOND_S = 25.0
"""A statement that starts within the opening may end this much after it."""
_STEP_S = 15.0
_LEAD_S = 0.3
_COMPLETE = 0.9
"""Once this share of the statement was heard, no further window is tried."""


def verify_consent(
    path: str | Path,
    *,
    full_name: str,
    statement: str | None = None,
    language: str = "en",
    model: Whisper | str | Path | None = None,
    window_s: float = OPENING_S,
    profile: str = "default",
) -> ConsentFacts:
    """Verify the consent statement in the opening of a recording or video.

    ``statement`` is the service's own text with ``{full_name}`` in it; without it palprep's
    template for the profile and language stands in. ``model`` is a loaded model, or the
    directory of a CTranslate2 Whisper model; without it the installed default (English
    only) is loaded. The statement must begin within the first ``window_s`` seconds.

    The outcome is ``unknown``, with the command that helps among the reasons, when the
    default model is not installed or does not know the language. Raises MediaError for a
    file that cannot be read, ToolMissing for a named model that is not there, ToolFailed
    for a damaged model, and UsageError for a language without a statement.
    """
    template = statement or required_statement(profile=profile, language=language)
    script = Script.of(fill_statement(template, full_name), full_name, language)
    source = Path(path)
    media = sniff(source)
    try:
        whisper = model if isinstance(model, Whisper) else Whisper.load(model)
    except ToolMissing as error:
        if model is not None:
            raise
        return _unknown(script, error.message)
    if not whisper.knows(language):
        return _unknown(
            script,
            f"{whisper.name} does not know the language {language!r}; "
            "name a multilingual CTranslate2 Whisper model",
            whisper,
        )
    limit = int((window_s + _BEYOND_S) * RATE_HZ)
    chosen = probe_sound(source, media, levels=False).stream.index
    blocks = stream_samples(source, media, rate_hz=RATE_HZ, channels=1, stream=chosen)
    samples = _opening(blocks, limit)
    return verify_samples(samples, script, whisper, window_s=window_s)


def verify_samples(
    samples: NDArray[np.float32], script: Script, model: Whisper, *, window_s: float = OPENING_S
) -> ConsentFacts:
    """As :func:`verify_consent`, of mono sound at 16 kHz from the recording's start."""
    spans = speech_spans(samples)
    if not spans:
        return _failed(script, model, "", "No speech is heard in the opening.")
    best = _search(samples, script, model, spans, window_s)
    if not best.found:
        return _failed(
            script, model, best.transcript, "The required statement is not heard in the opening."
        )
    outcome, words, reasons = decide(best, script)
    words = _clamped(words, spans)
    starts_at = next((word.start for word in words if word.start is not None), None)
    ends_at = next((word.end for word in reversed(words) if word.end is not None), None)
    if starts_at is not None and starts_at > window_s:
        outcome = "fail"
        reasons = [
            *reasons,
            f"The statement starts at {starts_at:.1f} s, not within the first {window_s:g} s.",
        ]
    found = best.comparison
    return ConsentFacts(
        outcome=outcome,
        transcript=best.transcript,
        starts_at=starts_at,
        ends_at=ends_at,
        words=words,
        reasons=tuple(dict.fromkeys(reasons)),
        statement=script.text,
        full_name=script.full_name,
        language=script.language,
        said_before=" ".join(word.shown for word in best.heard[: best.opens]),
        said_after=" ".join(word.shown for word in best.heard[found.heard_last :]),
        model=model.name,
        model_sha256=model.sha256,
    )


def _opening(blocks: Iterable[NDArray[np.float32]], limit: int) -> NDArray[np.float32]:
    kept: list[NDArray[np.float32]] = []
    length = 0
    for block in blocks:
        kept.append(block[: limit - length])
        length += len(kept[-1])
        if length >= limit:
            break
    return np.concatenate(kept) if kept else np.zeros(0, np.float32)


def _search(
    samples: NDArray[np.float32],
    script: Script,
    model: Whisper,
    spans: Sequence[Span],
    window_s: float,
) -> Reading:
    """The reading of the window that holds most of the statement.

    Windows begin where speech does, so that silence in front costs nothing of the 30 s
    that the model hears; a statement cut by a window's end is read again from its start.
    """
    length_s = len(samples) / RATE_HZ
    start_s = max(0.0, spans[0].start_s - _LEAD_S)
    best = _read(model, samples, script, start_s)
    while best.comparison.agreement < _COMPLETE and start_s + WINDOW_S < length_s:
        if best.found and best.forced[0].start_s - _LEAD_S > start_s + 1.0:
            start_s = best.forced[0].start_s - _LEAD_S
        else:
            start_s += _STEP_S
        if start_s >= window_s:
            break
        other = _read(model, samples, script, start_s)
        if other.comparison.agreement > best.comparison.agreement:
            best = other
    return best


def _read(model: Whisper, samples: NDArray[np.float32], script: Script, start_s: float) -> Reading:
    first = int(start_s * RATE_HZ)
    return read_window(
        model, samples[first : first + int(WINDOW_S * RATE_HZ)], script, first / RATE_HZ
    )


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
    words = tuple(
        WordRecord(
            expected=word.shown, heard=None, start=None, end=None, probability=None, outcome="fail"
        )
        for word in script.words
    )
    return ConsentFacts(
        outcome="fail",
        transcript=transcript,
        starts_at=None,
        ends_at=None,
        words=words,
        reasons=(reason,),
        statement=script.text,
        full_name=script.full_name,
        language=script.language,
        model=model.name,
        model_sha256=model.sha256,
    )

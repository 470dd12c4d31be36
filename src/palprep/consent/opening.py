"""The opening of a recording, read against the statement that should be in it, wherever that is: by
Whisper, thirty seconds at a time, and by Moonshine where Whisper leaves a doubt.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from palprep.consent.facts import OPENING_S, StatementReading, Surroundings
from palprep.consent.moonshine import Moonshine, hear_again, leaves_doubt
from palprep.consent.reading import Reading, part_reading, read_window, surroundings, without_end
from palprep.consent.whisper import Whisper
from palprep.consent.wording.statement import AskedCode, CodeReading, Statement, nearest_to_code
from palprep.consent.wording.words import NEAR_SOUND, split_words, text_of
from palprep.errors import MediaError, ToolMissing
from palprep.media import VideoFacts, probe_video
from palprep.media.sound import Samples
from palprep.media.sources import Source
from palprep.speech import RATE_HZ, WINDOW_S, mono_of, speech_spans
from palprep.values import Kind, Span

_ENGLISH = re.compile(r"\b(I|(?i:and|the|that|this|my|with|give|agree|consent))\b")
"""A word that every statement in English has one of."""
_OF_ANOTHER_LANGUAGE = (
    "The statement was listened for in English, and does not look English: name its language, with "
    "--language, or as language in person.toml or the manifest"
)

_BEYOND_S = 10.0
"""Time that is heard after the opening, for a statement that starts late in it."""
_WORD_S = 0.75
"""A slow speaker's time for a word: 80 words a minute."""
_USUAL_WORDS = 40
"""The words of a statement that is not known."""
STEP_S = 15.0
"""From one window to the next."""
_UNSURE_S = 3.0
"""Voice activity starts late where speech is faint or narrow: so much before it is heard too."""
_LATEST_S = 600.0
"""The latest start of the sound: damaged timestamps can say that it starts after years."""
_LEAD_S = 0.3
_COMPLETE = 0.9
"""Once this share of the statement was heard, no further window is tried."""
_MOST_WORDS = 70
"""What a brisk speaker says in a window, at 140 words a minute."""
_PART_WORDS = 40
"""What a slow speaker says in a window, at 80 words a minute."""
_PART_S = 20.0
"""A part is looked for in so much audio first. In a window that is full of other speech too, a
small model leaves out whole sentences."""
_NEAR_S = 0.3
"""Precision of the ends of words."""
_MOMENT = RATE_HZ // 50
_MOMENTS = 3
"""How long a moment between two words is: 3 times 20 ms."""
_CODE_S = 14.0
"""A code begins within a breath or two, and is said slowly."""
_CODE_READINGS = 5
_CODE_RATIO = -18.0
"""Log likelihood ratio of the code to what was written down in its place, where that sounds less
like it. With 312 words in two synthetic voices, a code that was said has -13 or more (55 of 55),
and another code -26 or less (46 of 46)."""

_LOADING = Lock()


def opening_length_s(required: Statement | None) -> float:
    """Seconds of a recording that hold a statement which begins late, is spoken slowly, and is then
    taken back."""
    words = len(required.words) if required else _USUAL_WORDS
    return OPENING_S + words * _WORD_S + _BEYOND_S


def decode_opening(source: Source, required: Statement) -> Samples:
    """As much of a recording as the statement may need: mono audio at 16 kHz, of a video from where
    a player starts. Raises MediaError."""
    samples = mono_of(source, opening_length_s(required))
    if source.type.kind is Kind.VIDEO:
        with contextlib.suppress(MediaError):  # The sound alone is asked for.
            samples = as_played(samples, probe_video(source))
    return samples


def as_played(samples: Samples, video: VideoFacts) -> Samples:
    """The sound of a video, behind silence where it starts later than the picture: all times of a
    statement then count as in a player."""
    return np.pad(samples, (round(min(video.player_times[1], _LATEST_S) * RATE_HZ), 0))


def model_for(
    required: Statement, model: Whisper | str | Path | None
) -> Whisper | StatementReading:
    """The model that reads the statement, or a reading that says why there is none.

    Raises, for a named model, ToolMissing when a file of it or of the second model is missing;
    ToolFailed for a damaged one.
    """
    try:
        Moonshine.require()
        with _LOADING:
            listener = model if isinstance(model, Whisper) else Whisper.load(model)
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


def read_samples(
    samples: Samples, required: Statement, listener: Whisper | StatementReading
) -> StatementReading:
    """Read the statement in the opening of a recording: ``samples`` are mono at 16 kHz, from its
    start. Where ``listener``, of :func:`model_for`, leaves a doubt, a second model weighs the
    wordings again. Raises ToolMissing if that one is damaged.
    """
    if isinstance(listener, StatementReading):
        return listener
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
    named = required.language != "en" or _ENGLISH.search(required.text)
    if spans and not reading.aligned and not named:
        return reading.model_copy(update={"problem": _OF_ANOTHER_LANGUAGE})
    if not Moonshine.knows(required.language) or not any(map(leaves_doubt, reading.parts)):
        return reading
    with _LOADING:
        second = Moonshine.load()
    return hear_again(second, samples, reading)


def _reading(required: Statement, listener: Whisper | None = None, **read: Any) -> StatementReading:
    return StatementReading(
        statement=required.text,
        full_name=required.full_name,
        spoken_as=required.spoken_as,
        language=required.language,
        model=listener.name if listener else None,
        model_sha256=listener.sha256 if listener else None,
        **read,
    )


def find_statement(
    samples: Samples, statement: Statement, model: Whisper, spans: Sequence[Span], window_s: float
) -> tuple[Reading, ...]:
    """The statement that begins within the first ``window_s`` seconds, in the window that holds
    most of it: in one if it fits, else in parts, each read where the one before it ends.

    ``spans`` are the stretches of speech; there is one at least.
    """
    first_s = max(0.0, spans[0].start_s - _UNSURE_S)
    if len(statement.words) <= _MOST_WORDS:
        reading, start_s = _search(model, samples, statement, first_s, window_s)
        if not (reading.found and _goes_on(reading, spans, start_s)):
            earlier = _heard_between(model, samples, statement.language, first_s, start_s)
            return (reading._replace(earlier=earlier),)
    found: list[Reading] = []
    begin_s, until_s = first_s, window_s
    for part in statement.parts(_PART_WORDS):
        reading, start_s = _search(model, samples, part, begin_s, until_s, first_s=_PART_S)
        earlier = _heard_between(model, samples, statement.language, begin_s, start_s)
        if found:
            # What is heard in front of a part, but for the end of the part before it.
            lead = reading.heard[: reading.opens] if reading.found else ()
            said = (*split_words(" ".join(earlier)), *lead)
            between = tuple(without_end(said, found[-1].statement.words))
            found.append(reading._replace(between=between))
        else:
            found.append(reading._replace(earlier=earlier))
        if reading.found:
            begin_s = _pause_at(reading.aligned[-1].end, spans, samples)
            until_s = begin_s + STEP_S
    return tuple(found)


def hear_code(
    samples: Samples, reading: Reading, model: Whisper, spans: Sequence[Span]
) -> CodeReading | None:
    """What is heard of the code after a statement, which ``reading`` found; None where none is
    asked for. The code is heard alone: words before it would bend its own. Its span begins in the
    pause before it, so that a cut there leaves nothing of it.
    """
    asked, language = reading.statement.code, reading.statement.language
    if asked is None:
        return None
    asked = AskedCode.model_validate(asked.model_dump(include={*AskedCode.model_fields}))
    begin = round(max(0.0, reading.aligned[-1].end - _NEAR_S) * RATE_HZ)
    rest = model.hear(samples[begin : begin + round(_CODE_S * RATE_HZ)])
    texts = map(split_words, model.transcribe(rest, language, hypotheses=_CODE_READINGS))
    nearest = [(nearest_to_code(asked.words, words), words) for words in texts]
    (place, likeness), words = max(nearest, key=lambda each: each[0][1])
    parts = words[: place.start], words[place.start : place.stop], words[place.stop :]
    lead, said, tail = map(text_of, parts)
    code = ", ".join(asked.words).capitalize()
    if likeness < NEAR_SOUND:
        wordings = (f"{lead} {each} {tail}".strip() for each in (f"{code}.", said))
        one, other = model.weigh(rest, tuple(wordings), language)
        if not said or one - other < _CODE_RATIO:
            return CodeReading(**dict(asked), heard=text_of(reading.after))
    tokens = model.align(rest, code, language, lead=lead, tail=tail)
    start_s, end_s = (begin / RATE_HZ + each for each in (tokens[0].start_s, tokens[-1].end_s))
    spoken = Span(start_s=round(_pause_at(start_s, spans, samples), 2), end_s=round(end_s, 2))
    return CodeReading(**dict(asked), heard=said, spoken=spoken)


def _search(
    model: Whisper,
    samples: Samples,
    statement: Statement,
    start_s: float,
    until_s: float,
    *,
    first_s: float = WINDOW_S,
) -> tuple[Reading, float]:
    """The reading of the window that holds most of the statement, and where that window begins.

    Windows begin where speech does: silence at the start would take the place of speech. A
    statement that the end of a window cuts is read again from its start. The first window is
    ``first_s`` long, and if that does not hold the statement, as long as the model hears at once.
    """
    length_s = len(samples) / RATE_HZ
    best, best_s = read_window(model, samples, statement, start_s, first_s), start_s
    if first_s < WINDOW_S and best.comparison.agreement < _COMPLETE:
        whole = read_window(model, samples, statement, start_s)
        best = max(best, whole, key=lambda reading: reading.comparison.agreement)
    while best.comparison.agreement < _COMPLETE and start_s + WINDOW_S < length_s:
        if best.found and best.aligned[0].start - _LEAD_S > start_s + 1.0:
            start_s = best.aligned[0].start - _LEAD_S
        else:
            start_s += STEP_S
        if start_s >= until_s:
            break
        other = read_window(model, samples, statement, start_s)
        if other.comparison.agreement > best.comparison.agreement:
            best, best_s = other, start_s
    return best, best_s


def _goes_on(reading: Reading, spans: Sequence[Span], start_s: float) -> bool:
    """Whether the window ended before the statement did."""
    nothing_after = reading.comparison.heard_last >= len(reading.heard)
    spoken_on = any(span.start_s < start_s + WINDOW_S < span.end_s + STEP_S for span in spans)
    last_said = max(pair[0] for pair in reading.comparison.pairs)
    return nothing_after and spoken_on and last_said + 1 < len(reading.aligned)


def _pause_at(end_s: float, spans: Sequence[Span], samples: Samples) -> float:
    """The middle of the pause in which a part ends, or the quietest moment near its end where
    speech flows on.
    """
    for before, after in pairwise(spans):
        if before.end_s - _NEAR_S <= end_s <= after.start_s + _NEAR_S:
            return (before.end_s + after.start_s) / 2
    first = max(0, round((end_s - _NEAR_S) * RATE_HZ))
    near = samples[first : round((end_s + _NEAR_S) * RATE_HZ)]
    count = len(near) // _MOMENT
    if count < _MOMENTS:
        return end_s
    power = np.square(near[: count * _MOMENT]).reshape(count, _MOMENT).mean(axis=1)
    quietest = int(np.convolve(power, np.ones(_MOMENTS), "valid").argmin())
    return (first + (quietest + _MOMENTS / 2) * _MOMENT) / RATE_HZ


def _heard_between(
    model: Whisper, samples: Samples, language: str, first_s: float, last_s: float
) -> tuple[str, ...]:
    """What is said between two moments, if they are a second apart."""
    texts = []
    while last_s - first_s > 1.0:
        until_s = min(last_s, first_s + WINDOW_S)
        piece = samples[int(first_s * RATE_HZ) : int(until_s * RATE_HZ)]
        texts.append(model.transcribe(model.hear(piece), language)[0])
        first_s = until_s
    return tuple(texts)

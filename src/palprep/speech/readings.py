"""Two independent readings of an opening against the statement that should be in it.

The free reading writes down what it hears and is compared with the statement. The forced
reading lays the statement upon the sound and says how probable each word is. Where the two
differ, the forced reading also weighs what was heard instead: the logarithm of how much more
probable the required wording is than the other one decides whom to believe.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.speech.compare import Comparison, Difference, compare
from palprep.speech.mel import RATE_HZ, WINDOW_S
from palprep.speech.names import NameReading, Place, locate_name, name_slot, told_name
from palprep.speech.variants import negations, replaced
from palprep.speech.whisper import Token, Whisper
from palprep.speech.words import Word, split_words

HYPOTHESES = 5
_FOUND = 0.5
"""Share of the statement that must be heard before it is looked at word by word."""
_MARGIN_S = 0.3
_NAME_S = 3.0
"""How much is heard beyond the name when the model is told how it is spelled."""
_LEAST = 1e-9


class Script(NamedTuple):
    """What must be said."""

    text: str
    words: tuple[Word, ...]
    name: range
    """Which words are the name."""
    full_name: str
    language: str

    @classmethod
    def of(cls, text: str, full_name: str, language: str) -> Script:
        """Split a statement whose name is filled in."""
        words = split_words(text)
        return cls(text, words, name_slot(words, full_name), full_name, language)


class Forced(NamedTuple):
    """One required word laid upon the sound. Times are from the start of the recording."""

    probability: float
    start_s: float
    end_s: float


class Reading(NamedTuple):
    """Everything that was read of one window."""

    transcript: str
    heard: tuple[Word, ...]
    comparison: Comparison
    forced: tuple[Forced, ...] = ()
    """One per required word; empty when the statement is not in the window."""
    differences: tuple[Difference, ...] = ()
    """As in ``comparison``, without the name's place."""
    support: tuple[float, ...] = ()
    """Per difference: log of P(required wording) / P(heard wording)."""
    negations: tuple[tuple[str, float], ...] = ()
    """Negated variants of the statement and the log of P(required) / P(negated)."""
    other_transcripts: tuple[str, ...] = ()
    name: NameReading | None = None
    place: Place | None = None
    """Where the free reading has the name."""

    @property
    def opens(self) -> int:
        """The first heard word that belongs to the statement."""
        first = self.comparison.heard_first
        return first if self.place is None else min(first, self.place.opens)

    @property
    def found(self) -> bool:
        """Whether enough was heard to be looked at word by word."""
        return bool(self.forced)


def read_window(
    model: Whisper, samples: NDArray[np.float32], script: Script, offset_s: float
) -> Reading:
    """Read up to 30 s of mono sound at 16 kHz that begin ``offset_s`` into the recording."""
    heard = model.hear(samples)
    texts = model.transcribe(heard, script.language, hypotheses=HYPOTHESES)
    words = split_words(texts[0])
    found = compare(script.words, words)
    plain = Reading(texts[0], words, found)
    if found.agreement < _FOUND:
        return plain
    place = locate_name(found, script.name, script.words, words) if script.name else None
    plain = plain._replace(place=place)
    if plain.opens > 0 or found.heard_last < len(words):
        begin_s, end_s = _extent(model.align(heard, [texts[0]], script.language)[0], plain)
        cut = samples[_at(begin_s - _MARGIN_S) : _at(end_s + _MARGIN_S)]
        offset_s += _at(begin_s - _MARGIN_S) / RATE_HZ
        samples = cut
        heard = model.hear(samples)
    differences = _differences(found, place)
    weighed = [replaced(script.text, script.words, one, words) for one in differences]
    opposite = negations(script.text)
    unnamed = replaced(
        script.text, script.words, Difference(script.name.start, script.name.stop, 0, 0), words
    )
    texts_to_align = [script.text, unnamed, *weighed, *(text for _, text in opposite)]
    aligned = model.align(heard, texts_to_align, script.language)
    score = _log_probability(aligned[0])
    without_name, *ratios = [score - _log_probability(tokens) for tokens in aligned[1:]]
    forced = _forced(aligned[0], script.words, offset_s)
    name = None
    if script.name:
        told_s = forced[script.name.stop - 1].end_s - offset_s + _NAME_S
        name = _read_name(model, samples, script, texts, told_s=told_s, support=without_name)
    return plain._replace(
        forced=forced,
        differences=differences,
        support=tuple(ratios[: len(weighed)]),
        negations=tuple(zip((said for said, _ in opposite), ratios[len(weighed) :], strict=True)),
        other_transcripts=texts[1:],
        name=name,
    )


def _differences(found: Comparison, place: Place | None) -> tuple[Difference, ...]:
    """The differences, those around the name as its place has them."""
    if place is None:
        return found.differences
    near = place.words
    elsewhere = [one for one in found.differences if not near.start <= one.first <= near.stop]
    return tuple(sorted((*elsewhere, *place.beside)))


def _read_name(
    model: Whisper,
    samples: NDArray[np.float32],
    script: Script,
    texts: Sequence[str],
    *,
    told_s: float,
    support: float,
) -> NameReading:
    likeness, heard = 0.0, ""
    for text in texts:
        words = split_words(text)
        place = locate_name(compare(script.words, words), script.name, script.words, words)
        if place.likeness > likeness or not heard:
            likeness = place.likeness
            heard = " ".join(word.shown for word in words[place.first : place.last])
    # Told the name, the model hears only as far as the name: it cannot mend other words.
    told = model.transcribe(
        model.hear(samples[: _at(told_s)]), script.language, told=script.full_name
    )[0]
    return NameReading(heard, likeness, told_name(script.full_name, told), support)


def _extent(tokens: Sequence[Token], reading: Reading) -> tuple[float, float]:
    """When the statement's part of a transcript begins and ends."""
    begin = reading.heard[reading.opens].begin
    end = reading.heard[reading.comparison.heard_last - 1].end
    inside = [token for token in tokens if token.end > begin and token.begin < end]
    return inside[0].start_s, inside[-1].end_s


def _forced(tokens: Sequence[Token], words: Sequence[Word], offset_s: float) -> tuple[Forced, ...]:
    """Per word the geometric mean of its tokens' probabilities; punctuation says nothing."""
    found = []
    for word in words:
        own = [
            token
            for token in tokens
            if token.begin < word.end
            and token.end > word.begin
            and any(char.isalnum() for char in token.text)
        ]
        found.append(
            Forced(
                math.exp(_log_probability(own) / max(1, len(own))),
                offset_s + own[0].start_s,
                offset_s + own[-1].end_s,
            )
        )
    return tuple(found)


def _log_probability(tokens: Sequence[Token]) -> float:
    return sum(math.log(max(_LEAST, token.probability)) for token in tokens)


def _at(seconds: float) -> int:
    return round(max(0.0, min(seconds, WINDOW_S)) * RATE_HZ)

"""Two independent readings of an opening against the statement that should be in it.

The free reading writes down what it hears and is compared with the statement. The forced
reading aligns the statement with the audio and says how probable each word is. Where the two
differ, the forced reading also weighs what was heard instead: by the log likelihood ratio, the
logarithm of how much more probable the required wording is than the other one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.consent.compare import Comparison, Difference, compare
from palprep.consent.facts import NameReading
from palprep.consent.names import Place, locate_name, same_name
from palprep.consent.statement import Statement
from palprep.consent.variants import negated, replaced
from palprep.consent.whisper import WORKERS, Heard, Token, Whisper, log_probability
from palprep.consent.words import Word, split_words
from palprep.speech.mel import RATE_HZ, WINDOW_S

HYPOTHESES = 5
_FOUND = 0.5
"""Share of the statement that must be heard before it is looked at word by word."""
_MARGIN_S = 0.3
_AFTERWARDS_S = 12.0
_AFTERWARDS_READINGS = 3
_LAST_WORDS_S = 1.0
"""The end of the statement is heard again, so that nothing of what follows is cut off."""
_AFTER_NAME = 4
"""Words after the name that are looked at to find where it ends."""


class AlignedWord(NamedTuple):
    """One required word aligned with the audio. Times are from the start of the recording."""

    probability: float
    start_s: float
    end_s: float


class Reading(NamedTuple):
    """Everything that was read of one window."""

    transcript: str
    heard: tuple[Word, ...]
    comparison: Comparison
    forced: tuple[AlignedWord, ...] = ()
    """One per required word; empty when the statement is not in the window."""
    differences: tuple[Difference, ...] = ()
    """As in ``comparison``, without the name's place."""
    log_likelihood_ratios: tuple[float, ...] = ()
    """Per difference: log of P(required wording) / P(heard wording)."""
    negated: tuple[tuple[str, int, float], ...] = ()
    """Small changes that give the statement the opposite sense: what would stand there, at
    which required word, and the log of P(required wording) / P(changed wording)."""
    other_transcripts: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    """What is heard before this window."""
    afterwards: tuple[str, ...] = ()
    """Readings of what follows the statement, heard on its own; empty when nothing does."""
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
    model: Whisper, samples: NDArray[np.float32], statement: Statement, offset_s: float
) -> Reading:
    """Read up to 30 s of mono audio at 16 kHz that begin ``offset_s`` into the recording."""
    heard = model.hear(samples)
    texts = model.transcribe(heard, statement.language, hypotheses=HYPOTHESES)
    words = split_words(texts[0])
    found = compare(statement.words, words)
    plain = Reading(texts[0], words, found)
    if found.agreement < _FOUND:
        return plain
    place = locate_name(found, statement.name, statement.words, words) if statement.name else None
    plain = plain._replace(place=place)
    # What follows the statement and how its name fits are read while its words are weighed.
    with ThreadPoolExecutor(WORKERS) as pool:
        afterwards = name = None
        if plain.opens > 0 or found.heard_last < len(words):
            begin_s, end_s = _extent(model.align(heard, texts[0], statement.language), plain)
            if found.heard_last < len(words):
                afterwards = pool.submit(_afterwards, model, samples, statement, end_s)
            first = _at(begin_s - _MARGIN_S)
            heard = model.hear(samples[first : _at(end_s + _MARGIN_S)])
            offset_s += first / RATE_HZ
        if statement.name:
            name = pool.submit(read_name, model, heard, statement, texts)
        aligned = model.align(heard, statement.text, statement.language)
        weighed = _weighed(model, heard, statement, plain, log_probability(aligned))
        return weighed._replace(
            forced=_forced(aligned, statement.words, offset_s),
            other_transcripts=texts[1:],
            afterwards=afterwards.result() if afterwards else (),
            name=name.result() if name else None,
        )


def _weighed(
    model: Whisper, heard: Heard, statement: Statement, plain: Reading, score: float
) -> Reading:
    """What was heard instead of the statement, and what would negate it, weighed by the audio;
    ``score`` is the log probability of the statement itself.
    """
    differences = differences_of(plain.comparison, plain.place)
    instead = [replaced(statement.text, statement.words, one, plain.heard) for one in differences]
    changes = negated(statement.text)
    texts = [*instead, *(text for _, text, _ in changes)]
    ratios = [score - other for other in model.weigh(heard, texts, statement.language)]
    return plain._replace(
        differences=differences,
        log_likelihood_ratios=tuple(ratios[: len(instead)]),
        negated=tuple(
            (said, statement.word_at(at), ratio)
            for (said, _, at), ratio in zip(changes, ratios[len(instead) :], strict=True)
        ),
    )


def _afterwards(
    model: Whisper, samples: NDArray[np.float32], statement: Statement, end_s: float
) -> tuple[str, ...]:
    """What follows the statement, heard on its own.

    In one go with the statement a model writes down "I would draw my consent": it bends words
    towards what came before.
    """
    rest = model.hear(samples[_at(end_s - _LAST_WORDS_S) : _at(end_s + _AFTERWARDS_S)])
    return model.transcribe(rest, statement.language, hypotheses=_AFTERWARDS_READINGS)


def differences_of(found: Comparison, place: Place | None) -> tuple[Difference, ...]:
    """The differences, those around the name as its place has them."""
    if place is None:
        return found.differences
    near = place.words
    elsewhere = [one for one in found.differences if not near.start <= one.first <= near.stop]
    return tuple(sorted((*elsewhere, *place.sides)))


def read_name(
    model: Whisper, heard: Heard, statement: Statement, texts: Sequence[str]
) -> NameReading:
    """The name's place as several free readings have it, and how well the name fits it.

    "I, Jane Doe, am" is easily written down as "I'm". So the model also reads on from the
    statement's words before the name, freely, but without a way around it.
    """
    before = statement.text[: statement.words[statement.name.start].begin].rstrip()
    onward = model.continuations(heard, before, statement.language)
    name = statement.name_words
    begun = statement.words[: statement.name.stop + _AFTER_NAME]
    best = NameReading()
    for text in (*onward, *texts):
        words = split_words(text)
        place = locate_name(compare(begun, words), statement.name, statement.words, words)
        run = words[place.first : place.last]
        shown = " ".join(word.shown for word in run)
        same = same_name(name, run)
        if (same, place.likeness) > (best.same, best.likeness) or not best.heard:
            best = NameReading(heard=shown, likeness=place.likeness, same=same)
    start = statement.text[: begun[-1].end]
    prompted = model.align(heard, start, statement.language, prompt=statement.full_name)
    instead = best.heard.strip(" ,.;:?!")
    return best.model_copy(
        update={
            "prompted_probability": min(
                _mean_probability(prompted, word.begin, word.end) for word in name
            ),
            "log_likelihood_ratio": _name_ratio(model, heard, start, statement, instead),
        }
    )


def _name_ratio(
    model: Whisper, heard: Heard, start: str, statement: Statement, instead: str
) -> float | None:
    """Log of P(the name) / P(what was heard instead), None when the very name was heard.

    The model is prompted with both spellings, once in each order, for it favours the later one.
    """
    begin, end = statement.name_words[0].begin, statement.name_words[-1].end
    if _keys(split_words(instead)) == _keys(statement.name_words):
        return None
    other = f"{start[:begin]}{instead}{start[end:]}"
    ratios = []
    for prompt in (f"{statement.full_name}. {instead}", f"{instead}. {statement.full_name}"):
        ours, theirs = model.weigh(heard, (start, other), statement.language, prompt=prompt)
        ratios.append(ours - theirs)
    return sum(ratios) / len(ratios)


def _extent(tokens: Sequence[Token], reading: Reading) -> tuple[float, float]:
    """When the statement's part of a transcript begins and ends."""
    # A rare name is written down as anything: nothing that may be the name is cut off.
    first = reading.opens if reading.place is None else min(reading.opens, reading.place.reach)
    begin = reading.heard[first].begin
    end = reading.heard[reading.comparison.heard_last - 1].end
    inside = [token for token in tokens if token.end > begin and token.begin < end]
    return inside[0].start_s, inside[-1].end_s


def _forced(
    tokens: Sequence[Token], words: Sequence[Word], offset_s: float
) -> tuple[AlignedWord, ...]:
    """Per word the geometric mean of its tokens' probabilities; punctuation says nothing."""
    found = []
    for word in words:
        own = [token for token in tokens if token.begin < word.end and token.end > word.begin]
        found.append(
            AlignedWord(
                _mean_probability(own, word.begin, word.end),
                offset_s + own[0].start_s,
                offset_s + own[-1].end_s,
            )
        )
    return tuple(found)


def _mean_probability(tokens: Sequence[Token], begin: int, end: int) -> float:
    """The geometric mean over the tokens of a stretch of text, punctuation aside."""
    spoken = [
        token
        for token in tokens
        if token.begin < end and token.end > begin and any(char.isalnum() for char in token.text)
    ]
    return math.exp(log_probability(spoken) / max(1, len(spoken)))


def _keys(words: Sequence[Word]) -> tuple[str, ...]:
    return tuple(key for word in words for key in word.keys)


def _at(seconds: float) -> int:
    return round(max(0.0, min(seconds, WINDOW_S)) * RATE_HZ)

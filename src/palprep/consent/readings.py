"""Two independent readings of an opening against the statement that should be in it.

The free reading writes down what it hears and is compared with the statement. The forced
reading lays the statement upon the sound and says how probable each word is. Where the two
differ, the forced reading also weighs what was heard instead: the logarithm of how much more
probable the required wording is than the other one decides whom to believe.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.consent.compare import Comparison, Difference, compare
from palprep.consent.names import NameReading, Place, locate_name, name_slot, same_name
from palprep.consent.variants import replaced, turned
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
"""Of the statement itself, so that nothing of what follows is cut off."""
_AFTER_NAME = 4
"""Words after the name that are looked at to find where it ends."""


class Script(NamedTuple):
    """What must be said."""

    text: str
    words: tuple[Word, ...]
    name: range
    """Which words are the name."""
    full_name: str
    language: str
    offset: int = 0
    """How many words of the statement stand before these, when they are a part of it."""

    @classmethod
    def of(cls, text: str, full_name: str, language: str) -> Script:
        """Split a statement whose name is filled in."""
        words = split_words(text)
        return cls(text, words, name_slot(words, full_name), full_name, language)

    def parts(self, most: int) -> tuple[Script, ...]:
        """The statement in stretches of ``most`` words at the most and half of that at the
        least, cut after sentences where that can be, else after commas, never within the name.
        """
        parts = []
        first = 0
        while first < len(self.words):
            last = self._cut(first, most)
            text = self.text[self.words[first].begin : self.words[last - 1].end]
            slot = range(self.name.start - first, self.name.stop - first)
            holds = bool(self.name) and first <= self.name.start < last
            parts.append(
                self._replace(
                    text=text,
                    words=split_words(text),
                    name=slot if holds else range(0),
                    offset=self.offset + first,
                )
            )
            first = last
        return tuple(parts)

    def _cut(self, first: int, most: int) -> int:
        whole = len(self.words)
        if whole - first <= most:
            return whole
        fitting = [
            last
            for last in range(first + most, first + most // 2, -1)
            if not self.name.start < last < self.name.stop
        ]
        for marks in (".!?", ",;:"):
            for last in fitting:
                if self.words[last - 1].shown.rstrip("\"')").endswith(tuple(marks)):
                    return last
        return fitting[0] if fitting else self.name.stop

    def word_at(self, character: int) -> int:
        """The index of the word that a character of the text belongs to."""
        return next(index for index, word in enumerate(self.words) if character < word.end)


class AlignedWord(NamedTuple):
    """One required word laid upon the sound. Times are from the start of the recording."""

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
    support: tuple[float, ...] = ()
    """Per difference: log of P(required wording) / P(heard wording)."""
    turned: tuple[tuple[str, int, float], ...] = ()
    """Small changes that turn the statement: what would stand there, at which required
    word, and the log of P(required wording) / P(changed wording)."""
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
    # What follows the statement and how its name fits are read beside the weighing of its words.
    with ThreadPoolExecutor(WORKERS) as beside:
        afterwards = name = None
        if plain.opens > 0 or found.heard_last < len(words):
            begin_s, end_s = _extent(model.align(heard, texts[0], script.language), plain)
            if found.heard_last < len(words):
                afterwards = beside.submit(_afterwards, model, samples, script, end_s)
            first = _at(begin_s - _MARGIN_S)
            heard = model.hear(samples[first : _at(end_s + _MARGIN_S)])
            offset_s += first / RATE_HZ
        if script.name:
            name = beside.submit(read_name, model, heard, script, texts)
        aligned = model.align(heard, script.text, script.language)
        weighed = _weighed(model, heard, script, plain, log_probability(aligned))
        return weighed._replace(
            forced=_forced(aligned, script.words, offset_s),
            other_transcripts=texts[1:],
            afterwards=afterwards.result() if afterwards else (),
            name=name.result() if name else None,
        )


def _weighed(model: Whisper, heard: Heard, script: Script, plain: Reading, score: float) -> Reading:
    """What was heard instead of the statement, and what would turn it, held against the sound;
    ``score`` is the log probability of the statement itself.
    """
    differences = differences_of(plain.comparison, plain.place)
    instead = [replaced(script.text, script.words, one, plain.heard) for one in differences]
    changes = turned(script.text)
    texts = [*instead, *(text for _, text, _ in changes)]
    ratios = [score - other for other in model.weigh(heard, texts, script.language)]
    return plain._replace(
        differences=differences,
        support=tuple(ratios[: len(instead)]),
        turned=tuple(
            (said, script.word_at(at), ratio)
            for (said, _, at), ratio in zip(changes, ratios[len(instead) :], strict=True)
        ),
    )


def _afterwards(
    model: Whisper, samples: NDArray[np.float32], script: Script, end_s: float
) -> tuple[str, ...]:
    """Within the flow of the statement a model writes down "I would draw my consent"; what is
    heard on its own is not bent towards what came before.
    """
    rest = model.hear(samples[_at(end_s - _LAST_WORDS_S) : _at(end_s + _AFTERWARDS_S)])
    return model.transcribe(rest, script.language, hypotheses=_AFTERWARDS_READINGS)


def differences_of(found: Comparison, place: Place | None) -> tuple[Difference, ...]:
    """The differences, those around the name as its place has them."""
    if place is None:
        return found.differences
    near = place.words
    elsewhere = [one for one in found.differences if not near.start <= one.first <= near.stop]
    return tuple(sorted((*elsewhere, *place.beside)))


def read_name(model: Whisper, heard: Heard, script: Script, texts: Sequence[str]) -> NameReading:
    """The name's place as several free readings have it, and how well the name fits it.

    "I, Jane Doe, am" is easily written down as "I'm". So the model also reads on from the
    statement's words before the name, freely, but without a way around it.
    """
    before = script.text[: script.words[script.name.start].begin].rstrip()
    onward = model.continuations(heard, before, script.language)
    name = script.words[script.name.start : script.name.stop]
    begun = script.words[: script.name.stop + _AFTER_NAME]
    best = NameReading("", 0.0, same=False, told=0.0, favour=0.0)
    for text in (*onward, *texts):
        words = split_words(text)
        place = locate_name(compare(begun, words), script.name, script.words, words)
        run = words[place.first : place.last]
        shown = " ".join(word.shown for word in run)
        same = same_name(name, run)
        if (same, place.likeness) > (best.same, best.likeness) or not best.heard:
            best = best._replace(heard=shown, likeness=place.likeness, same=same)
    start = script.text[: begun[-1].end]
    told = model.align(heard, start, script.language, told=script.full_name)
    return best._replace(
        told=min(_mean_probability(told, word.begin, word.end) for word in name),
        favour=_favour(model, heard, start, script, best.heard.strip(" ,.;:?!")),
    )


def _favour(model: Whisper, heard: Heard, start: str, script: Script, instead: str) -> float:
    """Log of P(the name) / P(what was heard instead), either being as new to the model as the
    other: it is told both spellings, once in each order, for the later one is favoured.
    Infinite when the very name was heard.
    """
    begin, end = script.words[script.name.start].begin, script.words[script.name.stop - 1].end
    if _keys(split_words(instead)) == _keys(script.words[script.name.start : script.name.stop]):
        return math.inf
    other = f"{start[:begin]}{instead}{start[end:]}"
    ratios = []
    for told in (f"{script.full_name}. {instead}", f"{instead}. {script.full_name}"):
        ours, theirs = model.weigh(heard, (start, other), script.language, told=told)
        ratios.append(ours - theirs)
    return sum(ratios) / len(ratios)


def _extent(tokens: Sequence[Token], reading: Reading) -> tuple[float, float]:
    """When the statement's part of a transcript begins and ends."""
    # A rare name is written down as anything: none of what may be it is cut away.
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

"""Two independent readings of an opening against the statement that should be in it.

The free reading writes down what it hears and is compared with the statement. The forced
reading aligns the statement with the audio and says how probable each word is. Where the two
differ, the forced reading also weighs what was heard instead: by the log likelihood ratio, the
logarithm of how much more probable the required wording is than the other one.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.consent.compare import Comparison, Difference, compare
from palprep.consent.facts import NameReading
from palprep.consent.name_reading import read_name
from palprep.consent.names import Place, locate_name
from palprep.consent.statement import Statement
from palprep.consent.variants import negated, replaced
from palprep.consent.whisper import (
    WORKERS,
    Heard,
    Token,
    Whisper,
    log_probability,
    mean_probability,
)
from palprep.consent.withdrawal import withdrawals
from palprep.consent.words import Word, split_words
from palprep.speech import RATE_HZ, WINDOW_S

HYPOTHESES = 5
_FOUND = 0.5
"""Share of the statement that must be heard before it is looked at word by word."""
_AFTERWARDS_S = 12.0
_AFTERWARDS_READINGS = 3
_LAST_WORDS_S = 1.0
"""The end of the statement is heard again, so that nothing of what follows is cut off."""
_BEGUN = 8
"""So many of the statement's words tell where it begins."""


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
    log_prior_ratios: tuple[float, ...] = ()
    """The same without the audio: which wording the model expects anyway."""
    negated: tuple[tuple[str, int, float], ...] = ()
    """Small changes that give the statement the opposite sense: what would stand there, at
    which required word, and the log of P(required wording) / P(changed wording)."""
    other_transcripts: tuple[str, ...] = ()
    lead: str = ""
    """What is heard before the statement in this window."""
    earlier: tuple[str, ...] = ()
    """What is heard before this window."""
    afterwards: tuple[str, ...] = ()
    """Readings of what follows the statement, heard on its own; empty when nothing does."""
    withdrawal: float | None = None
    """Log of P(a remark next to the statement as heard) / P(the likeliest withdrawal in its
    place); None without a remark."""
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
    lead = _lead(model, heard, statement, plain)
    plain = plain._replace(lead=lead)
    tail = " ".join(word.shown for word in words[found.heard_last :])
    aligned = model.align(heard, statement.text, statement.language, lead=lead, tail=tail)
    # What follows the statement and how its name fits are read while its words are weighed.
    with ThreadPoolExecutor(WORKERS) as pool:
        afterwards = name = None
        if tail:
            end_s = aligned[-1].end_s
            afterwards = pool.submit(_afterwards, model, samples, statement, end_s)
        if statement.name:
            name = pool.submit(read_name, model, heard, statement, texts, lead)
        weighed = _weighed(model, heard, statement, plain, log_probability(aligned))
        return weighed._replace(
            forced=_forced(aligned, statement.words, offset_s),
            other_transcripts=texts[1:],
            afterwards=afterwards.result() if afterwards else (),
            withdrawal=_withdrawal(model, heard, statement, plain),
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
    weigh = partial(model.weigh, language=statement.language, lead=plain.lead)
    ratios = [score - other for other in weigh(heard, texts)]
    expected = weigh(heard.silenced(), (statement.text, *instead)) if instead else ()
    return plain._replace(
        differences=differences,
        log_likelihood_ratios=tuple(ratios[: len(instead)]),
        log_prior_ratios=tuple(expected[0] - other for other in expected[1:]),
        negated=tuple(
            (said, statement.word_at(at), ratio)
            for (said, _, at), ratio in zip(changes, ratios[len(instead) :], strict=True)
        ),
    )


def _lead(model: Whisper, heard: Heard, statement: Statement, plain: Reading) -> str:
    """The words before the statement, as heard: the audio is not cut there, for a cut can take
    a part of the name with it.

    A rare name is written down as anything, also as words that seem to stand before the
    statement. Then the lead is the one that makes the statement's first words most probable.
    """
    last = plain.opens
    first = last if plain.place is None else min(last, plain.place.reach)
    leads = [
        plain.transcript[: plain.heard[count].begin].strip() for count in range(first, last + 1)
    ]
    if len(leads) == 1:
        return leads[0]
    begun = statement.text[: statement.words[min(len(statement.words), _BEGUN) - 1].end]
    texts = [f"{lead} {begun}".strip() for lead in leads]
    scores = model.weigh(heard, texts, statement.language, prompt=statement.full_name)
    return leads[max(range(len(leads)), key=scores.__getitem__)]


def _afterwards(
    model: Whisper, samples: NDArray[np.float32], statement: Statement, end_s: float
) -> tuple[str, ...]:
    """What follows the statement, heard on its own.

    In one go with the statement a model writes down "I would draw my consent": it bends words
    towards what came before.
    """
    rest = model.hear(samples[_at(end_s - _LAST_WORDS_S) : _at(end_s + _AFTERWARDS_S)])
    return model.transcribe(rest, statement.language, hypotheses=_AFTERWARDS_READINGS)


def _withdrawal(model: Whisper, heard: Heard, statement: Statement, plain: Reading) -> float | None:
    """How much more probable what is said before and after the statement is as heard than as a
    withdrawal: the lesser of the two.
    """
    # A name that was not recognised may be among the words before the statement.
    before = plain.opens if plain.place is None else min(plain.opens, plain.place.reach)
    places = (
        (plain.heard[:before], ""),
        (plain.heard[plain.comparison.heard_last :], f"{plain.lead} {statement.text}".strip()),
    )
    ratios = []
    for words, lead in places:
        others = withdrawals(words)
        if others:
            said = " ".join(word.shown for word in words)
            score, *rest = model.weigh(heard, (said, *others), statement.language, lead=lead)
            ratios.append(score - max(rest))
    return min(ratios, default=None)


def differences_of(found: Comparison, place: Place | None) -> tuple[Difference, ...]:
    """The differences, those around the name as its place has them."""
    if place is None:
        return found.differences
    near = place.words
    elsewhere = [one for one in found.differences if not near.start <= one.first <= near.stop]
    return tuple(sorted((*elsewhere, *place.sides)))


def _forced(
    tokens: Sequence[Token], words: Sequence[Word], offset_s: float
) -> tuple[AlignedWord, ...]:
    """Per word the geometric mean of its tokens' probabilities; punctuation says nothing."""
    found = []
    for word in words:
        own = [token for token in tokens if token.begin < word.end and token.end > word.begin]
        found.append(
            AlignedWord(
                mean_probability(own, word.begin, word.end),
                offset_s + own[0].start_s,
                offset_s + own[-1].end_s,
            )
        )
    return tuple(found)


def _at(seconds: float) -> int:
    return round(max(0.0, min(seconds, WINDOW_S)) * RATE_HZ)

"""A second model is asked where the first one leaves a doubt: does the required wording fit the
audio better than what was heard instead?
"""

from __future__ import annotations

from collections.abc import Sequence

from palprep.consent.compare import Difference, compare
from palprep.consent.facts import NameReading, PartReading, SecondHearing, StatementReading
from palprep.consent.moonshine import LONGEST_S, Heard, Moonshine, WordScore
from palprep.consent.names import locate_name
from palprep.consent.phonetics import SAME_SOUND
from palprep.consent.wordings import negated, replaced
from palprep.consent.words import Word, keys_of, split_words, text_of
from palprep.media import Samples
from palprep.speech import RATE_HZ

_SURE = 3.0
"""Log likelihood ratio from which the first model is sure that a wording was not said."""
_UNSURE = 0.05
"""Probability below which it is not sure of a word."""
_BEFORE_S = 12.0
"""So much of what is said before the statement is heard, if it holds all of it."""
_LEAD_S = 0.3
_QUIET_S = 1.0
"""So much is heard before and after the words: the model that tells when they are said is not
exact."""
_AFTER_NAME = 4
"""Words after the name that tell how well it fits."""


def leaves_doubt(part: PartReading) -> bool:
    """Whether the first model heard anything else than the required words, or hardly heard one."""
    return bool(part.aligned) and (
        bool(part.instead or part.negating_words or part.negation_in_other_reading)
        or (part.name is not None and _doubtful(part.name))
        or any(word.probability < _UNSURE for word in part.aligned)
        or any(one.log_likelihood_ratio < _SURE for one in part.negated)
    )


def _doubtful(name: NameReading) -> bool:
    return not name.same or name.transcript_likeness < SAME_SOUND


def hear_again(model: Moonshine, samples: Samples, reading: StatementReading) -> StatementReading:
    """The reading, with what a second model makes of each part that is in doubt.

    ``samples`` are mono at 16 kHz, from the start of the recording.
    """
    parts = []
    for part in reading.parts:
        if leaves_doubt(part):
            begins_s, lead = _begins(part, reading)
            ends_s = min(part.aligned[-1].end + _QUIET_S, begins_s + LONGEST_S)
            heard = model.hear(samples[round(begins_s * RATE_HZ) : round(ends_s * RATE_HZ)])
            second = _weighed(Weighing(model, heard, part, lead), reading.transcript)
            parts.append(part.model_copy(update={"second": second}))
        else:
            parts.append(part)
    return reading.model_copy(
        update={
            "parts": tuple(parts),
            "second_model": model.name,
            "second_model_sha256": model.sha256,
        }
    )


def _begins(part: PartReading, reading: StatementReading) -> tuple[float, str]:
    """When the stretch begins that is heard, and what is said in it before the part."""
    first_s = part.aligned[0].start
    if part.first_word:
        return max(0.0, first_s - _LEAD_S), ""
    spoken_s = next((span.start_s for span in reading.speech), first_s)
    if not reading.said_before:
        return max(0.0, first_s - _QUIET_S), ""
    if first_s - spoken_s > _BEFORE_S:
        return max(0.0, first_s - _LEAD_S), ""
    return max(0.0, spoken_s - _QUIET_S), reading.said_before


class Weighing:
    """One part of the statement in a stretch of audio, against other wordings of it.

    ``lead`` is what the first model heard before it. That may be the statement's own beginning,
    misheard: so it counts as said only where the statement fits better after it.
    """

    def __init__(self, model: Moonshine, heard: Heard, part: PartReading, lead: str) -> None:
        self.model, self.part = model, part
        self.text = " ".join(part.expected)
        self.words = split_words(self.text)
        self._heard = heard
        tried = {lead: model.words(heard, self.text, lead=lead) for lead in {lead, ""}}
        self._lead = max(sorted(tried), key=lambda lead: _total(tried[lead]))
        self.scores = tried[self._lead]

    def ratio(self, other: str) -> float:
        """Log of P(the part) / P(another wording of it)."""
        return _total(self.scores) - self._weigh(other)

    def ratio_of_name(self, name: NameReading, instead: str) -> float:
        """Log of P(the name) / P(what was heard instead), up to some words after the name."""
        text = " ".join(self.part.expected[: name.last + _AFTER_NAME])
        other = self.instead(name.first, name.last, instead, text)
        return self._weigh(text) - self._weigh(other)

    def instead(self, first: int, last: int, heard: str, text: str | None = None) -> str:
        """The part with other words in the place of the words ``first`` up to ``last``."""
        said = split_words(heard)
        return replaced(text or self.text, self.words, Difference(first, last, 0, len(said)), said)

    def _weigh(self, text: str) -> float:
        return self.model.weigh(self._heard, text, lead=self._lead)


def _weighed(weighing: Weighing, transcript: str) -> SecondHearing:
    """The other wordings of the first model; ``transcript`` is what it wrote down freely."""
    part, words = weighing.part, weighing.words
    changes = {(_word_at(words, at), said): whole for said, whole, at in negated(weighing.text)}
    return SecondHearing(
        probabilities=tuple(score.probability for score in weighing.scores),
        instead=tuple(
            weighing.ratio(weighing.instead(one.first, one.last, one.heard)) for one in part.instead
        ),
        negated=tuple(
            weighing.ratio(changes[one.word, one.heard])
            if one.log_likelihood_ratio < _SURE and (one.word, one.heard) in changes
            else None
            for one in part.negated
        ),
        name=_least_of_name(weighing, part.name, transcript) if part.name is not None else None,
    )


def _least_of_name(weighing: Weighing, name: NameReading, transcript: str) -> float | None:
    """The least ratio of the name to what was heard in its place, and to what the transcript has
    there."""
    required = weighing.words[name.first : name.last]
    said = split_words(transcript)
    begun = weighing.words[: name.last + _AFTER_NAME]
    place = locate_name(compare(begun, said), range(name.first, name.last), weighing.words, said)
    written = text_of(said[place.first : place.last])
    others = {
        keys_of(split_words(other)): other.strip(" ,.;:?!") for other in (name.heard, written)
    }
    ratios = [
        weighing.ratio_of_name(name, other)
        for keys, other in others.items()
        if keys not in {"", keys_of(required)}
    ]
    return min(ratios, default=None)


def _total(scores: Sequence[WordScore]) -> float:
    return sum(score.log_probability for score in scores)


def _word_at(words: Sequence[Word], character: int) -> int:
    return next(index for index, word in enumerate(words) if character < word.end)

"""A second model is asked where the first one leaves a doubt: does the required wording fit the
audio better than what was heard instead?
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from palprep.consent.facts import NameReading, PartReading, SecondHearing, StatementReading
from palprep.consent.moonshine import LONGEST_S, Moonshine
from palprep.consent.names import AFTER_NAME, name_in, rivals
from palprep.consent.words import SAME_SOUND, replaced, split_words, text_of
from palprep.media import Samples
from palprep.speech import RATE_HZ

_UNSURE = 0.05
"""Probability below which it is not sure of a word."""
_BEFORE_S = 12.0
"""So much of what is said before the statement is heard, if it holds all of it."""
_LEAD_S = 0.3
_QUIET_S = 1.0
"""So much is heard before and after the words: the model that tells when they are said is not
exact."""


def leaves_doubt(part: PartReading) -> bool:
    """Whether the first model heard anything else than the required words, or hardly heard one."""
    name = part.name
    return bool(part.aligned) and (
        bool(part.instead or part.negating_words or part.negation_in_other_reading)
        or (name is not None and (not name.same or name.transcript_likeness < SAME_SOUND))
        or any(word.probability < _UNSURE for word in part.aligned)
    )


def hear_again(model: Moonshine, samples: Samples, reading: StatementReading) -> StatementReading:
    """The reading, with what a second model makes of each part that is in doubt.

    ``samples`` are mono at 16 kHz, from the start of the recording.
    """
    parts = tuple(
        part.model_copy(update={"second": _heard_again(model, samples, part, reading)})
        if leaves_doubt(part)
        else part
        for part in reading.parts
    )
    return reading.model_copy(
        update={
            "parts": parts,
            "second_model": model.name,
            "second_model_sha256": model.sha256,
        }
    )


def _heard_again(
    model: Moonshine, samples: Samples, part: PartReading, reading: StatementReading
) -> SecondHearing:
    begins_s, before = _begins(part, reading)
    ends_s = min(part.aligned[-1].end + _QUIET_S, begins_s + LONGEST_S)
    heard = model.hear(samples[round(begins_s * RATE_HZ) : round(ends_s * RATE_HZ)])
    text = " ".join(part.expected)
    words = split_words(text)
    # What the first model heard before the part may be its own beginning, misheard: so that counts
    # as said only where the part fits better after it.
    tried = {lead: model.words(heard, text, lead=lead) for lead in {before, ""}}
    totals = {lead: sum(word.log_probability for word in tried[lead]) for lead in sorted(tried)}
    lead = max(totals, key=totals.__getitem__)
    weigh = partial(model.weigh, heard, lead=lead)
    return SecondHearing(
        probabilities=tuple(word.probability for word in tried[lead]),
        instead=tuple(
            totals[lead] - weigh(replaced(text, words, one.first, one.last, one.heard))
            for one in part.instead
        ),
        name=_least_of_name(weigh, part, part.name, reading.transcript) if part.name else None,
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


def _least_of_name(
    weigh: Callable[[str], float], part: PartReading, name: NameReading, transcript: str
) -> float | None:
    """The least log likelihood ratio of the name, up to some words after it, to what was heard in
    its place, and to what the transcript has there.
    """
    words = split_words(" ".join(part.expected))
    _, written = name_in(transcript, range(name.first, name.last), words)
    others = rivals(words[name.first : name.last], [name.heard, text_of(written)])
    text = " ".join(part.expected[: name.last + AFTER_NAME])
    ratios = (
        weigh(text) - weigh(replaced(text, words, name.first, name.last, other))
        for other in others.values()
    )
    return min(ratios, default=None)

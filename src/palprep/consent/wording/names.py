"""The name in a statement: where it is heard, by sound rather than by spelling, and how well the
audio bears it out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from palprep.consent.compare import Comparison, Difference, compare
from palprep.consent.facts import NameReading
from palprep.consent.whisper import Heard, Whisper, mean_probability
from palprep.consent.wording.statement import Statement
from palprep.consent.wording.words import (
    FILLERS,
    LIKE_SOUND,
    MARKS,
    NEAR_SOUND,
    SAME_SOUND,
    Word,
    keys_of,
    similarity,
    split_words,
    text_of,
)

_REACH = 4
"""A name can be heard as this many words more than twice its own."""
AFTER_NAME = 4
"""Words after the name that are looked at to find where it ends, and how well it fits."""
_ONWARD, _ONWARD_TOKENS = 5, 24
"""How often, and how far, the model reads on from the words before the name."""
_TITLES = frozenset(("mister", "misses", "ms", "miss", "doctor", "prof", "professor"))
_RIVALS = 3
"""So many other readings of the name's place are weighed against it."""


class Place(NamedTuple):
    """Where a transcript has the name, and what surrounds it there."""

    first: int
    """Heard words ``first`` up to ``last`` are the name; equal when there is none."""
    last: int
    likeness: float
    """Similarity in sound to the required name, 0 to 1."""
    opens: int
    """The first heard word that counts as the statement; lead-in words stand before it."""
    reach: int
    """The first heard word that can belong to the name, if it was not recognised."""
    sides: tuple[Difference, ...]
    """What differs in the words right before and after the name."""
    words: range
    """The required words that ``sides`` and the name cover."""


def locate_name(
    found: Comparison, slot: range, required: Sequence[Word], heard: Sequence[Word]
) -> Place:
    """Find the run of heard words that sounds most like the name, between the nearest
    words before and after the slot that were heard as required.

    Short words next to a name (``I``, ``am``) are often heard as part of it or of each
    other, so the place is found by sound and they take what is left on their side.
    """
    before = max(((i, j) for i, j in found.pairs if i < slot.start), default=None)
    after = min(
        ((i, j) for i, j in found.pairs if i >= slot.stop),
        default=(len(required), found.heard_last),
    )
    high = after[1]
    low = before[1] + 1 if before else max(0, high - 2 * len(slot) - _REACH)
    name = keys_of(required[slot.start : slot.stop])
    runs = (
        (similarity(name, keys_of(heard[first:last])), first, last)
        for first in range(low, high)
        for last in range(first + 1, high + 1)
    )
    likeness, first, last = max(
        runs, key=lambda run: (run[0], run[1] - run[2]), default=(0.0, low, low)
    )
    if likeness < LIKE_SOUND:
        first, last = between(found, slot, low, high)
    opens = low if before else max(low, first - slot.start)
    first_word = before[0] + 1 if before else 0
    both = (
        Difference(first_word, slot.start, opens, first),
        Difference(slot.stop, after[0], last, high),
    )
    sides = tuple(
        side
        for side in both
        if _spoken(required[side.first : side.last])
        != _spoken(heard[side.heard_first : side.heard_last])
    )
    far = max(0, high - 2 * len(slot) - _REACH)
    reach = opens if likeness >= NEAR_SOUND else min(far, opens)
    return Place(first, last, likeness, opens, reach, sides, range(first_word, after[0]))


def without_title(heard: Sequence[Word], name: Sequence[Word]) -> tuple[Word, ...]:
    """The heard words without a title right before the name that the name does not have: a title
    names nobody else."""
    titles = _TITLES.difference(keys_of(name).split())
    first = keys_of(name[:1])
    return tuple(
        word
        for word, after in itertools.zip_longest(heard, heard[1:])
        if not (titles.intersection(word.keys) and after)
        or similarity(keys_of((after,)), first) < NEAR_SOUND
    )


def _spoken(words: Sequence[Word]) -> list[str]:
    return [key for key in keys_of(words).split() if key not in FILLERS]


def name_in(text: str, slot: range, required: Sequence[Word]) -> tuple[Place, tuple[Word, ...]]:
    heard = without_title(split_words(text), required[slot.start : slot.stop])
    place = locate_name(compare(required[: slot.stop + AFTER_NAME], heard), slot, required, heard)
    return place, heard[place.first : place.last]


def rivals(
    name: Sequence[Word], heard: Iterable[str], written: Sequence[Word] = ()
) -> dict[str, str]:
    """What was heard in the name's place and is another wording than the name, also than the name
    as it is ``written``: without the marks around it, by its keys.
    """
    others = {keys_of(split_words(other)): other.strip(MARKS) for other in heard}
    return {
        keys: other
        for keys, other in others.items()
        if keys not in ("", keys_of(name)) and not same_name(written, split_words(other))
    }


def between(found: Comparison, slot: range, low: int, high: int) -> tuple[int, int]:
    """The range of words between those before and after the name, whatever they sound like."""
    met = sorted((*found.pairs, *found.instead))
    first = max((j + 1 for i, j in met if i < slot.start), default=low)
    last = min((j for i, j in met if i >= slot.stop), default=high)
    first = min(max(first, low), high)
    return first, max(first, min(last, high))


def same_name(full_name: Sequence[Word], heard: Sequence[Word]) -> bool:
    """Whether two names sound the same word for word, however they are spelled or parted."""
    one, other = keys_of(full_name).split(), keys_of(heard).split()
    alike = similarity(keys_of(full_name), keys_of(heard))
    if len(one) != len(other) or alike == 1.0:
        return alike >= SAME_SOUND
    pairs = zip(one, other, strict=True)
    return bool(one) and all(similarity(left, right) >= SAME_SOUND for left, right in pairs)


def read_name(
    model: Whisper, heard: Heard, statement: Statement, texts: Sequence[str], lead: str
) -> NameReading:
    """The name's place as several free readings have it, and how well the name fits it.

    ``lead`` is what is heard before the statement. "I, Jane Doe, am" is easily written down as
    "I'm". So the model is also made to begin with the words before the name, and to read on freely.
    """
    before = statement.text[: statement.words[statement.name.start].begin].rstrip()
    begun = f"{lead} {before}".strip()
    onward = model.transcribe(
        heard, statement.language, hypotheses=_ONWARD, begun=begun, tokens=_ONWARD_TOKENS
    )
    found = heard_names(statement, [*(text.removeprefix(lead) for text in onward), *texts])
    best = max(found, key=lambda one: (one.same, one.likeness))
    end = statement.words[: statement.name.stop + AFTER_NAME][-1].end
    prompted = model.align(
        heard, statement.text[:end], statement.language, lead=lead, prompt=statement.said_name
    )
    others = rivals(
        statement.name_words, [one.heard for one in (best, *found)], statement.written_name
    )
    weigh = partial(model.weigh, heard, language=statement.language, lead=lead)
    ratios = {
        keys: _ratio(weigh, statement, other, end)
        for keys, other in itertools.islice(others.items(), _RIVALS)
    }
    rival = min(ratios, key=ratios.__getitem__, default="")
    return best.model_copy(
        update={
            "transcript_likeness": found[len(onward)].likeness,
            "prompted_probability": min(
                mean_probability(prompted, word.begin, word.end) for word in statement.name_words
            ),
            "log_likelihood_ratio": ratios.get(
                keys_of(split_words(best.heard)), None if best.heard else 0.0
            ),
            "rival": others[rival] if rival else "",
            "least_log_likelihood_ratio": ratios.get(rival),
        }
    )


def heard_names(statement: Statement, texts: Sequence[str]) -> list[NameReading]:
    found = []
    spellings = [one for one in (statement.name_words, statement.written_name) if one]
    for text in texts:
        place, run = name_in(text, statement.name, statement.words)
        found.append(
            NameReading(
                first=statement.name.start,
                last=statement.name.stop,
                heard=text_of(run),
                likeness=max(
                    place.likeness, *(similarity(keys_of(one), keys_of(run)) for one in spellings)
                ),
                same=any(same_name(one, run) for one in spellings),
            )
        )
    return found


def _ratio(
    weigh: Callable[..., tuple[float, ...]], statement: Statement, instead: str, end: int
) -> float:
    """Log of P(the name) / P(what was heard instead), of the statement's first ``end`` characters.

    The model is prompted with both spellings, once in each order, for it favours the later one.
    """
    first, last = statement.name_words[0].begin, statement.name_words[-1].end
    ours = statement.text[:end]
    pair = (ours, f"{ours[:first]}{instead}{ours[last:]}")
    ratios = []
    for prompt in (f"{statement.said_name}. {instead}", f"{instead}. {statement.said_name}"):
        name, other = weigh(pair, prompt=prompt)
        ratios.append(name - other)
    return sum(ratios) / len(ratios)

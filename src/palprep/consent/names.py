"""The name in a statement: a slot of its own, matched by sound rather than by spelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from palprep.consent.compare import Comparison, Difference
from palprep.consent.phonetics import similarity
from palprep.consent.words import Word, split_words

SAME_SOUND = 0.93
"""Two spellings are the same name when even their least similar words are this alike."""
NEAR_SOUND = 0.85
"""A run of heard words that is this alike surely is where the name was said."""
LIKE_SOUND = 0.5
"""A run of heard words that is less alike is not looked for as the name."""
_REACH = 4
"""A name can be heard as this many words more than twice its own."""


class Place(NamedTuple):
    """Where a transcript has the name, and what surrounds it there."""

    first: int
    """Heard words ``first`` up to ``last`` are the name; equal when there is none."""
    last: int
    likeness: float
    """Similarity in sound to the required name, 0..1."""
    opens: int
    """The first heard word that counts as the statement; lead-in words stand before it."""
    reach: int
    """The first heard word that can belong to the name, if it was not recognised."""
    sides: tuple[Difference, ...]
    """What differs in the words right before and after the name."""
    words: range
    """The required words that ``sides`` and the name cover."""


def name_slot(words: Sequence[Word], full_name: str) -> range:
    """Where the name stands among the statement's words; empty when it is not in it."""
    wanted = [word.keys for word in split_words(full_name)]
    for first in range(len(words) - len(wanted) + 1):
        if [word.keys for word in words[first : first + len(wanted)]] == wanted:
            return range(first, first + len(wanted))
    return range(0)


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
    name = " ".join(key for index in slot for key in required[index].keys)
    likeness, first, last = _best_run(name, heard, low, high)
    if likeness < LIKE_SOUND:
        first, last = between(found, slot, low, high)
    opens = low if before else max(low, first - slot.start)
    first_word = before[0] + 1 if before else 0
    both = (
        Difference(first_word, slot.start, opens, first),
        Difference(slot.stop, after[0], last, high),
    )
    sides = tuple(side for side in both if not _same(side, required, heard))
    far = max(0, high - 2 * len(slot) - _REACH)
    reach = opens if likeness >= NEAR_SOUND else min(far, opens)
    return Place(first, last, likeness, opens, reach, sides, range(first_word, after[0]))


def _best_run(name: str, heard: Sequence[Word], low: int, high: int) -> tuple[float, int, int]:
    runs = (
        (similarity(name, _keys(heard[first:last])), first, last)
        for first in range(low, high)
        for last in range(first + 1, high + 1)
    )
    return max(runs, key=lambda run: (run[0], run[1] - run[2]), default=(0.0, low, low))


def between(found: Comparison, slot: range, low: int, high: int) -> tuple[int, int]:
    """What stands between the words before and after the name, whatever it sounds like."""
    met = sorted((*found.pairs, *found.instead))
    first = max((j + 1 for i, j in met if i < slot.start), default=low)
    last = min((j for i, j in met if i >= slot.stop), default=high)
    first = min(max(first, low), high)
    return first, max(first, min(last, high))


def _same(side: Difference, required: Sequence[Word], heard: Sequence[Word]) -> bool:
    wanted = _keys(required[side.first : side.last])
    return wanted == _keys(heard[side.heard_first : side.heard_last])


def same_name(full_name: Sequence[Word], heard: Sequence[Word]) -> bool:
    """Whether two names sound the same word for word, however they are spelled or parted."""
    one = [key for word in full_name for key in word.keys]
    other = [key for word in heard for key in word.keys]
    alike = similarity(" ".join(one), " ".join(other))
    if len(one) != len(other) or alike == 1.0:
        return alike >= SAME_SOUND
    pairs = zip(one, other, strict=True)
    return bool(one) and all(similarity(left, right) >= SAME_SOUND for left, right in pairs)


def _keys(words: Sequence[Word]) -> str:
    return " ".join(key for word in words for key in word.keys)

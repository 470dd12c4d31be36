"""The statement against a transcript: where they agree, and the stretches where they do not."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from palprep.consent.wording.words import FILLERS, Word, similarity

Step = tuple[int | None, int | None]
"""A wanted key and a heard one; None where there is none in the other's place."""


class Key(NamedTuple):
    text: str
    word: int
    """Index of the word it belongs to."""


class Difference(NamedTuple):
    """Expected words ``first`` up to ``last`` were heard as words ``heard_first`` up to
    ``heard_last``. Either range may be empty: words added, or words missing.
    """

    first: int
    last: int
    heard_first: int
    heard_last: int


class Comparison(NamedTuple):
    pairs: tuple[tuple[int, int], ...]
    """(expected word, heard word) where they agree, in order."""
    instead: tuple[tuple[int, int], ...]
    """(expected word, heard word) where another word stands in the expected one's place."""
    differences: tuple[Difference, ...]
    heard_first: int
    """Index of the first heard word that belongs to the statement."""
    heard_last: int
    """Index of the first heard word that follows it."""
    agreement: float
    """Share of the expected keys that were heard as they are, 0 to 1."""


def compare(expected: Sequence[Word], heard: Sequence[Word]) -> Comparison:
    """Align two texts word by word; the transcript may go on before and after.

    A stretch that differs only in where the words are parted (``A I`` for ``AI``) agrees.
    """
    wanted = _flatten(expected)
    given = _flatten(heard, skip=FILLERS)
    path: list[Step] = []
    same: set[Step] = set()

    def agrees(step: Step) -> bool:
        i, j = step
        return i is not None and j is not None and wanted[i].text == given[j].text

    steps = _align([key.text for key in wanted], [key.text for key in given])
    inside = [index for index, (i, _) in enumerate(steps) if i is not None]
    # Without what was said before and after the statement.
    own = steps[inside[0] : inside[-1] + 1] if inside else []
    for _, run in itertools.groupby(own, agrees):
        stretch = list(run)
        left = [i for i, _ in stretch if i is not None]
        right = [j for _, j in stretch if j is not None]
        if left and "".join(wanted[i].text for i in left) == "".join(given[j].text for j in right):
            stretch = [(i, right[min(k, len(right) - 1)]) for k, i in enumerate(left)]
            same.update(stretch)
        path += stretch
    return _to_words(path, same, wanted, given, len(heard))


def _flatten(words: Sequence[Word], skip: frozenset[str] = frozenset()) -> list[Key]:
    return [
        Key(key, index) for index, word in enumerate(words) for key in word.keys if key not in skip
    ]


_OUTSIDE = 0.02
"""Cost of a heard key outside the statement: of equally good paths the one that uses more wins."""


def _align(wanted: list[str], given: list[str]) -> list[Step]:
    """Cheapest edit path; what stands before and after the statement costs next to nothing."""
    rows, columns = len(wanted) + 1, len(given) + 1
    cost = [[_OUTSIDE * j for j in range(columns)]]
    for i in range(1, rows):
        row = [float(i)]
        for j in range(1, columns):
            changed = cost[-1][j - 1] + _change(wanted[i - 1], given[j - 1])
            row.append(min(changed, cost[-1][j] + 1.0, row[-1] + 1.0))
        cost.append(row)
    j = min(range(columns), key=lambda at: cost[-1][at] + _OUTSIDE * (columns - 1 - at))
    steps: list[Step] = [(None, column) for column in range(columns - 2, j - 1, -1)]
    i = rows - 1
    while i > 0:
        change = _change(wanted[i - 1], given[j - 1]) if j else 0.0
        if j and cost[i][j] == cost[i - 1][j - 1] + change:
            i, j = i - 1, j - 1
            steps.append((i, j))
        elif cost[i][j] == cost[i - 1][j] + 1.0:
            i -= 1
            steps.append((i, None))
        else:
            j -= 1
            steps.append((None, j))
    steps.extend((None, column) for column in range(j - 1, -1, -1))
    return steps[::-1]


def _change(wanted: str, given: str) -> float:
    # Never dearer than a missing word, so that a changed first word takes the place of the
    # wanted one; the more alike, the cheaper, so that the right ones are paired.
    return 0.0 if wanted == given else 1.0 - 0.8 * similarity(wanted, given)


def _to_words(
    steps: list[Step], same: set[Step], wanted: list[Key], given: list[Key], heard_words: int
) -> Comparison:
    agreed = {key.word for key in wanted} - {
        wanted[i].word for i, j in steps if i is not None and (i, j) not in same
    }
    # A heard word that is used only in part (the "not" of "can't") agrees with nothing.
    partial = {given[j].word for i, j in steps if j is not None and (i, j) not in same}
    pairs: list[tuple[int, int]] = []
    blocks: list[tuple[set[int], set[int]]] = [(set(), set())]
    for i, j in steps:
        word = wanted[i].word if i is not None else None
        heard = given[j].word if j is not None else None
        if word in agreed and heard is not None and heard not in partial:
            if (word, heard) not in pairs:
                pairs.append((word, heard))
                blocks.append((set(), set()))
        else:
            if word is not None:
                blocks[-1][0].add(word)
            if heard is not None:
                blocks[-1][1].add(heard)
    used = [given[j].word for _, j in steps if j is not None]
    met = {(wanted[i].word, given[j].word) for i, j in steps if i is not None and j is not None}
    return Comparison(
        pairs=tuple(pairs),
        instead=tuple(sorted(met - set(pairs))),
        differences=_differences(blocks, pairs),
        heard_first=used[0] if used else heard_words,
        heard_last=used[-1] + 1 if used else heard_words,
        agreement=len(same) / len(wanted) if wanted else 0.0,
    )


def _differences(
    blocks: list[tuple[set[int], set[int]]], pairs: list[tuple[int, int]]
) -> tuple[Difference, ...]:
    """Block k stands before pair k; an empty side takes its place from the pair before."""
    found = []
    for index, (words, heard) in enumerate(blocks):
        if not words and not heard:
            continue
        after = pairs[index - 1] if index else (-1, min(heard, default=0) - 1)
        first = min(words, default=after[0] + 1)
        heard_first = min(heard, default=after[1] + 1)
        last = max(words, default=first - 1) + 1
        heard_last = max(heard, default=heard_first - 1) + 1
        found.append(Difference(first, last, heard_first, heard_last))
    return tuple(found)

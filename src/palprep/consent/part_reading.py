"""From the two readings of a window to what they measure of the statement, ungraded. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from palprep.consent.compare import Difference
from palprep.consent.facts import (
    HeardInstead,
    NamePlace,
    NegatedWording,
    PartReading,
    RequiredWord,
    Surroundings,
)
from palprep.consent.hypotheses import Reading
from palprep.consent.phonetics import similarity
from palprep.consent.statement import Statement
from palprep.consent.withdrawal import CLOSE, is_remark, negates, speaks_of_consent, takes_back
from palprep.consent.words import Word, split_words


def part_reading(
    reading: Reading,
    statement: Statement,
    *,
    begins: bool = True,
    ends: bool = True,
    inserted: Sequence[Word] = (),
) -> PartReading:
    """What a reading measures of a statement, or of a part of one.

    ``begins`` and ``ends`` say whether the part begins and ends the statement; ``inserted`` is
    what was heard between the part before and this one.
    """
    expected = tuple(word.shown for word in statement.words)
    if not reading.found:
        return PartReading(first_word=statement.offset, expected=expected)
    required = {key for word in statement.words for key in word.keys}
    return PartReading(
        first_word=statement.offset,
        expected=expected,
        inserted=_shown(inserted),
        aligned=tuple(
            RequiredWord(
                expected=shown,
                heard=heard,
                start_s=word.start_s,
                end_s=word.end_s,
                probability=word.probability,
            )
            for shown, heard, word in zip(
                expected, _heard(reading, statement), reading.forced, strict=True
            )
        ),
        instead=tuple(
            HeardInstead(
                first=one.first,
                last=one.last,
                heard=_shown(reading.heard[one.heard_first : one.heard_last]),
                likeness=similarity(
                    _keys(statement.words[one.first : one.last]),
                    _keys(reading.heard[one.heard_first : one.heard_last]),
                ),
                log_likelihood_ratio=ratio,
                log_prior_ratio=prior,
                in_every_reading=_in_every_reading(reading, one),
            )
            for one, ratio, prior in zip(
                reading.differences,
                reading.log_likelihood_ratios,
                reading.log_prior_ratios,
                strict=True,
            )
        ),
        name=NamePlace(
            first=statement.name.start, last=statement.name.stop, **reading.name.model_dump()
        )
        if reading.name is not None and statement.name
        else None,
        negated=tuple(
            NegatedWording(word=index, heard=said, log_likelihood_ratio=ratio)
            for said, index, ratio in reading.negated
        ),
        negating_words=_negating(reading, required),
        negation_in_other_reading=_negation_in_other_reading(reading, required),
        surroundings=_surroundings(reading, begins=begins, ends=ends),
    )


def _heard(reading: Reading, statement: Statement) -> list[str | None]:
    """What the free reading has in the place of each required word."""
    heard: list[str | None] = [None] * len(statement.words)
    for index, other in (*reading.comparison.pairs, *reading.comparison.instead):
        shown = reading.heard[other].shown
        before = heard[index]
        heard[index] = shown if before is None else f"{before} {shown}"
    if reading.name is not None:
        said = reading.name.heard.split()
        if len(said) != len(statement.name):
            said = [reading.name.heard] * len(statement.name)
        for index, word in zip(statement.name, said, strict=True):
            heard[index] = word or None
    return heard


def _in_every_reading(reading: Reading, added: Difference) -> bool:
    first = max(0, added.heard_first - 1)
    phrase = _keys(reading.heard[first : added.heard_last])
    others = [_keys(split_words(text)) for text in reading.other_transcripts]
    return all(f" {phrase} " in f" {other} " for other in others)


def _negating(reading: Reading, required: Collection[str]) -> tuple[str, ...]:
    slot = range(reading.place.first, reading.place.last) if reading.place else range(0)
    return tuple(
        reading.heard[index].shown
        for index in range(reading.opens, reading.comparison.heard_last)
        if negates(reading.heard[index], required) and index not in slot
    )


def _negation_in_other_reading(reading: Reading, required: Collection[str]) -> bool:
    known = {*required, *(key for word in reading.heard for key in word.keys)}
    return any(
        negates(word, known) for text in reading.other_transcripts for word in split_words(text)
    )


def _surroundings(reading: Reading, *, begins: bool, ends: bool) -> Surroundings:
    before: list[Word] = []
    after: list[Sequence[Word]] = []
    if begins:
        before = [word for text in reading.earlier for word in split_words(text)]
        before += reading.heard[: reading.opens]
    if ends:
        last = reading.comparison.heard_last
        after = [reading.heard[last:], *map(split_words, reading.afterwards)]
    return Surroundings(
        negated_before=any(negates(word, ()) for word in before[-CLOSE:]),
        taken_back=takes_back(before, after),
        negated_after=bool(after) and any(negates(word, ()) for word in after[0][:CLOSE]),
        spoken_of_after=any(map(speaks_of_consent, after)),
        remark_after=bool(after) and is_remark(after[0]),
        withdrawal_log_likelihood_ratio=reading.withdrawal if begins or ends else None,
    )


def _shown(words: Sequence[Word]) -> str:
    return " ".join(word.shown for word in words)


def _keys(words: Sequence[Word]) -> str:
    return " ".join(key for word in words for key in word.keys)

"""Two independent readings of an opening against the statement that should be in it, and what they
measure, ungraded.

The free reading writes down what it hears and is compared with the statement. The forced
reading aligns the statement with the audio and says how probable each word is. Where the two
differ, the forced reading also weighs what was heard instead: by the log likelihood ratio, the
logarithm of how much more probable the required wording is than the other one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from palprep.consent import facts, whisper
from palprep.consent.compare import Comparison, Difference, compare
from palprep.consent.wording.names import Place, locate_name, read_name, without_title
from palprep.consent.wording.statement import Statement, without_code
from palprep.consent.wording.words import (
    Word,
    keys_of,
    negated,
    negates,
    replaced,
    similarity,
    split_words,
    text_of,
)
from palprep.media.sound import Samples
from palprep.speech import RATE_HZ, WINDOW_S, speech_spans

HYPOTHESES = 5
_FOUND = 0.5
"""Share of the statement that must be heard before it is looked at word by word."""
_AFTERWARDS_READINGS = 3
_LAST_WORDS_S = 1.0
"""The end of the statement is heard again, so that nothing of what follows is cut off."""
_LONG_WORD_S = 0.75
"""A word that is aligned with more may have taken in a remark that the transcript leaves out."""
_SAME_END = 0.5
"""Similarity from which a heard word can be the rest of one that the window cuts."""
_BEGUN = 8
"""So many of the statement's words tell where it begins."""


class Reading(NamedTuple):
    """Everything that was read of one window: of a statement, or of a part of one."""

    statement: Statement
    transcript: str
    heard: tuple[Word, ...]
    comparison: Comparison
    other_transcripts: tuple[str, ...] = ()
    aligned: tuple[facts.AlignedWord, ...] = ()
    """One per required word; empty when the statement is not in the window."""
    instead: tuple[facts.HeardInstead, ...] = ()
    """The differences of ``comparison``, without the name's place."""
    negated: tuple[facts.NegatedWording, ...] = ()
    lead: str = ""
    """What is heard before the statement in this window."""
    earlier: tuple[str, ...] = ()
    """What is heard before this window."""
    between: tuple[Word, ...] = ()
    """What is heard between the part before and this one."""
    afterwards: tuple[str, ...] = ()
    """Readings of what follows the statement, heard on its own; empty when nothing does."""
    name: facts.NameReading | None = None
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
        return bool(self.aligned)

    @property
    def after(self) -> tuple[Word, ...]:
        """What is heard after the statement in this window, but for its code."""
        return without_code(self.statement.code, self.heard[self.comparison.heard_last :])

    @property
    def said(self) -> str:
        """The words heard of a part; with those before it if it begins the statement, and those
        after it if it ends the statement."""
        begins, ends = not self.statement.offset, self.statement.ends
        if (begins and ends) or not self.found:
            return self.transcript
        first = 0 if begins else self.opens
        last = len(self.heard) if ends else self.comparison.heard_last
        return text_of((*self.between, *self.heard[first:last]))

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Those of the comparison, but around the name as its place has them."""
        if self.place is None:
            return self.comparison.differences
        near = self.place.words
        elsewhere = (
            one for one in self.comparison.differences if not near.start <= one.first <= near.stop
        )
        return tuple(sorted((*elsewhere, *self.place.sides)))


def read_window(
    model: whisper.Whisper,
    samples: Samples,
    statement: Statement,
    start_s: float,
    window_s: float = WINDOW_S,
) -> Reading:
    """Read ``window_s`` seconds, 30 at the most, of a recording, mono audio at 16 kHz, from
    ``start_s`` on; what follows the statement is heard beyond them, too.
    """
    samples = samples[int(start_s * RATE_HZ) :]
    offset_s = int(start_s * RATE_HZ) / RATE_HZ
    heard = model.hear(samples[: _at(window_s)])
    texts = model.transcribe(heard, statement.language, hypotheses=HYPOTHESES)
    words = without_title(split_words(texts[0]), statement.name_words)
    found = compare(statement.words, words)
    plain = Reading(statement, texts[0], words, found, texts[1:])
    if found.agreement < _FOUND:
        return plain
    if statement.name:
        plain = plain._replace(place=locate_name(found, statement.name, statement.words, words))
    lead = _lead(model, heard, plain)
    plain = plain._replace(lead=lead)
    tail = text_of(words[found.heard_last :])
    aligned = model.align(heard, statement.text, statement.language, lead=lead, tail=tail)
    # What follows the statement and how its name fits are read while its words are weighed.
    with ThreadPoolExecutor(whisper.WORKERS) as pool:
        afterwards = name = None
        words_aligned = _aligned(aligned, statement.words, offset_s)
        last = words_aligned[-1]
        end_s = min(last.end, last.start + _LONG_WORD_S) - offset_s
        following = samples[_at(end_s) : _at(end_s + facts.AFTERWARDS_S)]
        if statement.ends and (tail or speech_spans(following)):
            afterwards = pool.submit(_afterwards, model, samples, statement, end_s)
        if statement.name:
            name = pool.submit(read_name, model, heard, statement, texts, lead)
        weighed = _weighed(model, heard, plain)
        return weighed._replace(
            aligned=words_aligned,
            afterwards=afterwards.result() if afterwards else (),
            name=name.result() if name else None,
        )


def _weighed(model: whisper.Whisper, heard: whisper.Heard, plain: Reading) -> Reading:
    """What was heard instead of the statement, and what would negate it, weighed by the audio."""
    statement, differences = plain.statement, plain.differences
    instead = [
        replaced(
            *(statement.text, statement.words, one.first, one.last),
            text_of(plain.heard[one.heard_first : one.heard_last]),
        )
        for one in differences
    ]
    changes = negated(statement.text, statement.words)
    texts, unlikely = (statement.text, *instead), tuple(changes.values())
    score, *others = model.weigh(
        heard, texts, statement.language, lead=plain.lead, unlikely=unlikely
    )
    ratios = [score - other for other in others]
    return plain._replace(
        instead=tuple(
            heard_instead(plain, one, ratio)
            for one, ratio in zip(differences, ratios, strict=False)
        ),
        negated=tuple(
            facts.NegatedWording(word=word, heard=said, log_likelihood_ratio=ratio)
            for (word, said), ratio in zip(changes, ratios[len(instead) :], strict=True)
        ),
    )


def heard_instead(plain: Reading, one: Difference, ratio: float) -> facts.HeardInstead:
    said = plain.heard[one.heard_first : one.heard_last]
    phrase = keys_of(plain.heard[max(0, one.heard_first - 1) : one.heard_last])
    others = (keys_of(split_words(text)) for text in plain.other_transcripts)
    return facts.HeardInstead(
        first=one.first,
        last=one.last,
        heard=text_of(said),
        log_likelihood_ratio=ratio,
        in_every_reading=all(f" {phrase} " in f" {other} " for other in others),
    )


def _lead(model: whisper.Whisper, heard: whisper.Heard, plain: Reading) -> str:
    """The words before the statement, as heard: the audio is not cut there, for a cut can take
    a part of the name with it.

    A rare name is written down as anything, also as words that seem to stand before the
    statement. Then the lead is the one that makes the statement's first words most probable.
    """
    first = plain.opens if plain.place is None else min(plain.opens, plain.place.reach)
    leads = [
        plain.transcript[: plain.heard[count].begin].strip()
        for count in range(first, plain.opens + 1)
    ]
    if len(leads) == 1:
        return leads[0]
    statement = plain.statement
    begun = statement.text[: statement.words[min(len(statement.words), _BEGUN) - 1].end]
    texts = [f"{lead} {begun}".strip() for lead in leads]
    scores = model.weigh(heard, texts, statement.language, prompt=statement.said_name)
    return leads[max(range(len(leads)), key=scores.__getitem__)]


def _afterwards(
    model: whisper.Whisper, samples: Samples, statement: Statement, end_s: float
) -> tuple[str, ...]:
    """What follows the statement, heard on its own.

    In one go with the statement a model writes down "I would draw my consent": it bends words
    towards what came before.
    """
    rest = model.hear(samples[_at(end_s - _LAST_WORDS_S) : _at(end_s + facts.AFTERWARDS_S)])
    return model.transcribe(rest, statement.language, hypotheses=_AFTERWARDS_READINGS)


def _aligned(
    tokens: Sequence[whisper.Token], words: Sequence[Word], offset_s: float
) -> tuple[facts.AlignedWord, ...]:
    """Per word the geometric mean of its tokens' probabilities; punctuation says nothing."""
    found = []
    for word in words:
        own = [token for token in tokens if token.begin < word.end and token.end > word.begin]
        found.append(
            facts.AlignedWord(
                expected=word.shown,
                start=offset_s + own[0].start_s,
                end=offset_s + own[-1].end_s,
                probability=whisper.mean_probability(own, word.begin, word.end),
            )
        )
    return tuple(found)


def _at(seconds: float) -> int:
    return round(max(0.0, seconds) * RATE_HZ)


def part_reading(reading: Reading) -> facts.PartReading:
    statement = reading.statement
    expected = tuple(word.shown for word in statement.words)
    if not reading.found:
        return facts.PartReading(first_word=statement.offset, expected=expected)
    required = {key for word in statement.words for key in word.keys}
    known = {*required, *(key for word in reading.heard for key in word.keys)}
    heard = _heard(reading)
    return facts.PartReading(
        first_word=statement.offset,
        expected=expected,
        inserted=text_of(reading.between),
        aligned=tuple(
            word.model_copy(update={"heard": said})
            for word, said in zip(reading.aligned, heard, strict=True)
        ),
        instead=reading.instead,
        name=reading.name,
        negated=reading.negated,
        negating_words=_negating(reading, required),
        negation_in_other_reading=any(
            negates(word, known) for text in reading.other_transcripts for word in split_words(text)
        ),
    )


def _heard(reading: Reading) -> list[str | None]:
    statement = reading.statement
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


def _negating(reading: Reading, required: Collection[str]) -> tuple[str, ...]:
    slot = range(reading.place.first, reading.place.last) if reading.place else range(0)
    return tuple(
        reading.heard[index].shown
        for index in range(reading.opens, reading.comparison.heard_last)
        if negates(reading.heard[index], required) and index not in slot
    )


def without_end(said: Sequence[Word], required: Sequence[Word]) -> Sequence[Word]:
    """The heard words without the end of the required ones, which they may begin with. Where the
    audio is cut, the first of them can be the rest of a word.
    """
    for count in range(min(len(said), len(required)), 0, -1):
        ends = required[-count:]
        cut = similarity(keys_of(ends[:1]), keys_of(said[:1])) >= _SAME_END
        if cut and [word.keys for word in ends[1:]] == [word.keys for word in said[1:count]]:
            return said[count:]
    return said


def surroundings(first: Reading, last: Reading) -> facts.Surroundings:
    """What is heard before and after a statement, by the readings of its first and last part."""
    lead = split_words(first.lead)
    required = last.statement.words
    code = last.statement.code
    alone = (
        without_code(code, without_end(split_words(text), required)) for text in last.afterwards
    )
    return facts.Surroundings(
        before=" ".join((*first.earlier, first.lead)).strip(),
        perhaps_before=text_of(first.heard[len(lead) : first.opens]),
        after=tuple(map(text_of, (last.after, *alone))),
    )

"""From two readings to an outcome per word, and to one for the statement. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from palprep.consent.compare import Difference
from palprep.consent.facts import Grade, WordRecord
from palprep.consent.names import LIKE_SOUND, NameReading
from palprep.consent.readings import Reading, Script
from palprep.consent.withdrawal import CLOSE, is_remark, negates, speaks_of_consent, takes_back
from palprep.consent.words import Word, split_words

FLOOR = 0.02
"""A required word less probable than this was not said: published experience with forced
alignment by Whisper, confirmed on the project's own readings (scripts/evaluate_consent.py)."""
NEVER = 0.002
"""Under a tenth of that, it was not said however unlikely what was heard instead is."""
SURE = 0.05
CONTRADICTED = -6.0
"""What was heard instead is e^6 = 400 times as probable as what was required. Exact readings
stay above it in noise and reverberation, altered ones fall below (evaluate_consent.py)."""
EQUAL = -2.3
"""Beam search writes down one of several wordings of about the same probability; within a
factor of ten the free reading does not speak against a required word."""
UNCARRIED = -4.0
"""A word that the forced reading does not carry may still have been said if what was heard
instead is not e^4 = 55 times as probable: short words in noise and reverberation are like that."""
WHIM = -1.5
"""A word that nothing asked for has no required one to stand for: within a factor of e^1.5 = 4.5
it is a whim of the search, unless every reading of the search has it."""
TURNED = 2.0
"""A small word that turns the statement (can, cannot) must be e^2 = 7 times as probable as its
turn, since the model expects the fluent wording anyway: exact readings reach e^3.5 and more,
turned ones stay under e^1 (evaluate_consent.py)."""
RECOGNISED = 0.3
"""Every word of a spoken name reaches 0.3, and nearly always 0.6, once the model is told how it
is spelled; a word of another name stays under 0.2 unless it sounds alike."""
FAVOURED = 2.5
"""Told both spellings, the model holds the spoken name for e^2.5 = 12 times as probable as what
it first made of it; of two names that are merely alike the other one comes this far seldom."""
DISFAVOURED = -1.0
"""Below this what was heard is the name that was said ..."""
DISFAVOURED_CERTAIN = -3.0
"""... and below this if every word is recognised as surely as ``CERTAIN``, which takes a name
with sounds that English spells in many ways."""
CERTAIN = 0.8
Judged = tuple[Grade, list[str]]
"""An outcome and its reasons."""
_SEVERITY: dict[Grade, int] = {"pass": 0, "warn": 1, "unknown": 2, "fail": 3}


Decision = tuple[Grade, tuple[WordRecord, ...], list[str]]
"""The outcome, the words in the order of the statement, and the reasons."""


def decide(reading: Reading, script: Script, *, begins: bool = True, ends: bool = True) -> Decision:
    """What a reading says of a statement, or of a part of one that begins or ends elsewhere.

    ``reading.found`` must be true.
    """
    grades: list[Grade] = [_agreed(word.probability) for word in reading.forced]
    heard = _heard(reading, script)
    added: dict[int, WordRecord] = {}
    for difference, support in zip(reading.differences, reading.support, strict=True):
        words = range(difference.first, difference.last)
        said = reading.heard[difference.heard_first : difference.heard_last]
        if words:
            _grade_stretch(grades, words, reading, support)
        elif support < WHIM or _insisted(reading, difference):
            added[difference.first] = _added(said, reading, difference.first)
    reasons: list[str] = []
    if script.name:
        assert reading.name is not None  # noqa: S101 - read_window reads it with every name
        said_words = reading.name.heard.split()
        if len(said_words) != len(script.name):
            said_words = [reading.name.heard] * len(script.name)
        for index, said_word in zip(script.name, said_words, strict=True):
            grades[index] = _grade_name(reading, script, reading.name)
            heard[index] = said_word or None
        if grades[script.name.start] != "pass":
            reasons.append(_name_reason(script, reading.name, grades[script.name.start]))
    records = _records(script, reading, grades, heard, added)
    reasons += _word_reasons(records, script)
    turned, turns = _turned(reading, script)
    beside, remarks = _beside(reading, begins=begins, ends=ends)
    grades_of = (*(record.outcome for record in records), turned, beside)
    return worst(grades_of), records, [*reasons, *turns, *remarks]


def worst(grades: Iterable[Grade]) -> Grade:
    """The gravest of several outcomes."""
    return max(grades, key=_SEVERITY.__getitem__)


def _insisted(reading: Reading, added: Difference) -> bool:
    """Whether all readings have the added words after the word that stands before them."""
    first = max(0, added.heard_first - 1)
    phrase = _text(reading.heard[first : added.heard_last])
    others = [_text(split_words(text)) for text in reading.other_transcripts]
    return all(f" {phrase} " in f" {other} " for other in others)


def _text(words: Sequence[Word]) -> str:
    return " ".join(key for word in words for key in word.keys)


def _agreed(probability: float) -> Grade:
    return "pass" if probability >= FLOOR else "warn"


def _grade_stretch(grades: list[Grade], words: range, reading: Reading, support: float) -> None:
    """Words that were heard differently: the forced reading must carry every one of them, and
    a word that it does not carry is another one unless that is hardly more probable.
    """
    least = min(reading.forced[index].probability for index in words)
    grade: Grade = "warn"
    if support < CONTRADICTED or least < (FLOOR if support < UNCARRIED else NEVER):
        grade = "fail"
    elif support >= EQUAL and least >= SURE:
        grade = "pass"
    doubtful = [index for index in words if reading.forced[index].probability < SURE]
    for index in words:
        spared = grade == "fail" and doubtful and index not in doubtful
        grades[index] = "warn" if spared else grade


def _grade_name(reading: Reading, script: Script, name: NameReading) -> Grade:
    """By sound. Heard as the very name, or as one that sounds the same, it passes if the sound
    bears it out. Heard as something else, which is what a small model makes of a rare name,
    it is a doubt when the model recognises each word of it once told the spelling and does
    not hold what it heard for the better one, and otherwise another name.
    """
    least = min(reading.forced[index].probability for index in script.name)
    recognised = name.told >= RECOGNISED
    if name.same and (least >= SURE or (recognised and name.favour >= FAVOURED)):
        return "pass"
    if name.favour == math.inf:
        return "warn"
    alike = name.likeness >= LIKE_SOUND
    least_favour = DISFAVOURED_CERTAIN if name.told >= CERTAIN else DISFAVOURED
    return "warn" if alike and recognised and name.favour >= least_favour else "fail"


def _heard(reading: Reading, script: Script) -> list[str | None]:
    heard: list[str | None] = [None] * len(script.words)
    for index, other in (*reading.comparison.pairs, *reading.comparison.instead):
        shown = reading.heard[other].shown
        before = heard[index]
        heard[index] = shown if before is None else f"{before} {shown}"
    return heard


def _added(said: Sequence[Word], reading: Reading, before: int) -> WordRecord:
    """Words that nothing asked for, in the gap before the required word ``before``."""
    forced = reading.forced
    start = forced[before - 1].end_s if before else None
    end = forced[before].start_s if before < len(forced) else None
    return WordRecord(
        expected=None,
        heard=" ".join(word.shown for word in said),
        start=start,
        end=end if start is None or end is None else max(start, end),
        probability=None,
        outcome="fail",
    )


def _records(
    script: Script,
    reading: Reading,
    grades: Sequence[Grade],
    heard: Sequence[str | None],
    added: dict[int, WordRecord],
) -> tuple[WordRecord, ...]:
    records = []
    for index, word in enumerate(script.words):
        if index in added:
            records.append(added[index])
        forced = reading.forced[index]
        missing = heard[index] is None and grades[index] == "fail"
        records.append(
            WordRecord(
                expected=word.shown,
                heard=heard[index] if grades[index] != "pass" or heard[index] else word.shown,
                start=None if missing else round(forced.start_s, 2),
                end=None if missing else round(forced.end_s, 2),
                probability=round(forced.probability, 4),
                outcome=grades[index],
            )
        )
    if len(script.words) in added:
        records.append(added[len(script.words)])
    return tuple(records)


def _word_reasons(records: Sequence[WordRecord], script: Script) -> list[str]:
    reasons = []
    place = script.offset
    for record in records:
        if record.expected is None:
            reasons.append(f"Added: “{record.heard}”{_when(record)}.")
            continue
        place += 1
        if record.outcome == "pass" or place - 1 - script.offset in script.name:
            continue
        if record.outcome == "fail":
            said = f"heard as “{record.heard}”" if record.heard else "not heard"
            reasons.append(f"Word {place}, “{record.expected}”: {said}{_when(record)}.")
        else:
            reasons.append(
                f"Word {place}, “{record.expected}”: only one of two readings hears it"
                f"{_when(record)}."
            )
    return reasons


def _when(record: WordRecord) -> str:
    return f" at {record.start:.1f} s" if record.start is not None else ""


def _name_reason(script: Script, name: NameReading, grade: Grade) -> str:
    said = f"“{name.heard}” was heard" if name.heard else "nothing was heard"
    if grade == "fail":
        return f"The name {script.full_name} was not heard: in its place {said}."
    return f"The name {script.full_name} is not certain: in its place {said}."


def _turned(reading: Reading, script: Script) -> Judged:
    """Negations within the statement, by what is freely heard and by what fits the sound."""
    reasons = []
    for said, index, ratio in reading.turned:
        if ratio < TURNED:
            number, word = script.offset + index + 1, script.words[index].shown
            reasons.append(f"Word {number}, “{word}”: what is heard may well be “{said}”.")
    wanted = {key for word in script.words for key in word.keys}
    slot = range(reading.place.first, reading.place.last) if reading.place else range(0)
    reasons += [
        f"“{reading.heard[index].shown}” is heard within the statement."
        for index in range(reading.opens, reading.comparison.heard_last)
        if negates(reading.heard[index], wanted) and index not in slot
    ]
    if reasons:
        return "fail", reasons
    if _doubted(reading, wanted):
        return "warn", ["A less probable reading hears a negation within the statement."]
    return "pass", []


def _beside(reading: Reading, *, begins: bool, ends: bool) -> Judged:
    """Negations and withdrawals before and after the statement, by what is freely heard."""
    before: list[Word] = []
    after: list[Sequence[Word]] = []
    if begins:
        before = [word for text in reading.earlier for word in split_words(text)]
        before += reading.heard[: reading.opens]
    if ends:
        last = reading.comparison.heard_last
        after = [reading.heard[last:], *map(split_words, reading.afterwards)]
    if any(negates(word, ()) for word in before[-CLOSE:]):
        return "fail", ["A negation is heard right before the statement."]
    if takes_back(before, after):
        return "fail", ["The consent is withdrawn or put in doubt beside the statement."]
    if after and any(negates(word, ()) for word in after[0][:CLOSE]):
        return "warn", ["A negation is heard right after the statement."]
    if any(map(speaks_of_consent, after)):
        return "warn", ["Consent is spoken of again after the statement; listen to it."]
    if after and is_remark(after[0]):
        return "warn", ["A remark is heard after the statement; listen to it."]
    return "pass", []


def _doubted(reading: Reading, wanted: set[str]) -> bool:
    first = {key for word in reading.heard for key in word.keys}
    for text in reading.other_transcripts:
        for word in split_words(text):
            if negates(word, wanted | first):
                return True
    return False

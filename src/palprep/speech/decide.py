"""From two readings to an outcome per word, and to one for the statement. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from palprep.speech.facts import Grade, WordRecord
from palprep.speech.names import NameReading
from palprep.speech.readings import Reading, Script
from palprep.speech.words import Word, split_words

FLOOR = 0.02
"""A required word less probable than this was not said: published experience with forced
alignment by Whisper, confirmed on the project's own readings (scripts/evaluate_consent.py)."""
SURE = 0.05
CONTRADICTED = -6.0
"""What was heard instead is e^6 = 400 times as probable as what was required. Exact readings
stay above it in noise and reverberation, altered ones fall below (evaluate_consent.py)."""
EQUAL = -1.5
"""Beam search writes down one of several wordings of about the same probability; within a
factor of e^1.5 = 4.5 the free reading does not speak against the required one."""
TURNED = 2.0
"""A small word that turns the statement (can, cannot) must be e^2 = 7 times as probable as its
turn, since the model expects the fluent wording anyway: exact readings reach e^3.5 and more,
turned ones stay under e^1 (evaluate_consent.py)."""
NEAR = 0.75
"""From this similarity in sound on, what was heard may be another person's name."""
RECOGNISED = 0.5
"""Names that are spoken reach 0.5 and nearly always 0.8 once the model is told the spelling,
other names 0.2 unless they sound alike (evaluate_consent.py)."""
CERTAIN = 0.95
"""What only the name itself reaches, not its neighbours (Jane Dove for Jane Doe: 0.92)."""
_CLOSE = 8
"""How many words before and after the statement a negation counts for."""
_WITHDRAWING = (
    *("withdraw", "withdraws", "withdrawing", "withdrawal", "withdrew", "withdrawn"),
    *("revoke", "revokes", "revoking", "revoked", "revocation", "rescind", "retract"),
    *("refuse", "refuses", "decline", "deny", "denies", "object", "disagree"),
)
_NEGATING = ("not", "never", "no", "none", "without", "nor", "neither", *_WITHDRAWING)
_TAKES_BACK = re.compile(
    r"\b(withdraw\w*|withdrew|revok\w*|rescind\w*|retract\w*|disagree)\b"
    r"|\b(do|does|did|will|can) not (\w+ )?(agree|consent|give|allow|permit|authoriz\w*)\b"
    r"|\btake (that|it|this) back\b|\b(just )?(kidding|joking)\b"
)
_SPOKEN_OF = re.compile(r"\b(consent|permission|agree|agreement)\b")

_SEVERITY: dict[Grade, int] = {"pass": 0, "warn": 1, "unknown": 2, "fail": 3}


def decide(reading: Reading, script: Script) -> tuple[Grade, tuple[WordRecord, ...], list[str]]:
    """The outcome, the words in the order of the statement, and the reasons.

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
        elif support < EQUAL:
            # Nothing was asked for here: a word that is more than a whim of the search is one.
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
    reasons += _word_reasons(records, frozenset(script.name))
    extra, more = _negated(reading, script)
    outcome = max([*(record.outcome for record in records), extra], key=_SEVERITY.__getitem__)
    return outcome, records, [*reasons, *more]


def _agreed(probability: float) -> Grade:
    return "pass" if probability >= FLOOR else "warn"


def _grade_support(support: float) -> Grade:
    if support < CONTRADICTED:
        return "fail"
    return "pass" if support >= EQUAL else "warn"


def _grade_stretch(grades: list[Grade], words: range, reading: Reading, support: float) -> None:
    """Words that were heard differently: the forced reading must carry every one of them."""
    least = min(reading.forced[index].probability for index in words)
    grade = _grade_support(support)
    if least < FLOOR:
        grade = "fail"
    elif grade == "pass" and least < SURE:
        grade = "warn"
    doubtful = [index for index in words if reading.forced[index].probability < SURE]
    for index in words:
        spared = grade == "fail" and doubtful and index not in doubtful
        grades[index] = "warn" if spared else grade


def _grade_name(reading: Reading, script: Script, name: NameReading) -> Grade:
    """By sound. Heard as the very name, it must only not be improbable. Heard as a name that
    is merely like it, it must bear comparison with that one, as any other word must. Heard
    as something else, which is what a small model makes of a rare name, it is a doubt when
    the model recognises it once told its spelling, and otherwise another name.
    """
    probable = all(reading.forced[index].probability >= FLOOR for index in script.name)
    if name.same:
        return "pass" if probable or name.told >= RECOGNISED else "warn"
    if name.likeness >= NEAR and name.support < CONTRADICTED:
        return "warn" if name.told >= CERTAIN else "fail"
    return "warn" if name.told >= RECOGNISED else "fail"


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


def _word_reasons(records: Sequence[WordRecord], name: frozenset[int]) -> list[str]:
    reasons = []
    place = 0
    for record in records:
        if record.expected is None:
            reasons.append(f"Added: “{record.heard}”{_when(record)}.")
            continue
        place += 1
        if record.outcome == "pass" or place - 1 in name:
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


def _negated(reading: Reading, script: Script) -> tuple[Grade, list[str]]:
    """Negations and withdrawals: within the statement by what is freely heard and by what
    fits the sound better, around it by what is freely heard.
    """
    grade: Grade = "pass"
    reasons = []
    for said, index, ratio in reading.turned:
        if ratio < TURNED:
            grade = "fail"
            reasons.append(
                f"Word {index + 1}, “{script.words[index].shown}”: what is heard may well be "
                f"“{said}”."
            )
    wanted = {key for word in script.words for key in word.keys}
    found = reading.comparison
    place = reading.place
    slot = range(place.first, place.last) if place else range(0)
    for index in range(reading.opens, found.heard_last):
        negation = _negation(reading.heard[index], wanted)
        if negation and index not in slot:
            grade = "fail"
            reasons.append(f"“{reading.heard[index].shown}” is heard within the statement.")
    before = reading.heard[: reading.opens]
    after = reading.heard[found.heard_last :]
    if any(_negation(word, set()) for word in before[-_CLOSE:]):
        grade = "fail"
        reasons.append("A negation is heard right before the statement.")
    beside = [_keys(before), _keys(after), *(_keys(split_words(t)) for t in reading.afterwards)]
    if any(_TAKES_BACK.search(text) for text in beside):
        grade = "fail"
        reasons.append("The consent is withdrawn or put in doubt beside the statement.")
    elif grade == "pass" and any(_negation(word, set()) for word in after[:_CLOSE]):
        grade = "warn"
        reasons.append("A negation is heard right after the statement.")
    elif grade == "pass" and any(_SPOKEN_OF.search(text) for text in beside[1:]):
        grade = "warn"
        reasons.append("Consent is spoken of again after the statement; listen to it.")
    if grade == "pass" and _doubted(reading, wanted):
        grade = "warn"
        reasons.append("A less probable reading hears a negation within the statement.")
    return grade, reasons


def _negation(word: Word, wanted: set[str]) -> bool:
    return any(key in _NEGATING and key not in wanted for key in word.keys)


def _doubted(reading: Reading, wanted: set[str]) -> bool:
    first = {key for word in reading.heard for key in word.keys}
    for text in reading.other_transcripts:
        for word in split_words(text):
            if _negation(word, wanted | first):
                return True
    return False


def _keys(words: Sequence[Word]) -> str:
    return " ".join(key for word in words for key in word.keys)

"""The grade of a statement that was read: an outcome for each word, and one for all of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise, repeat
from operator import truediv
from statistics import median
from typing import NamedTuple

from palprep import consent
from palprep.consent import wording
from palprep.rules.consent import evidence
from palprep.rules.consent.remarks import Beside, grade_after, grade_before
from palprep.rules.profile import ConsentLimits
from palprep.rules.texts.words import consent_reason, some_of, stamp
from palprep.values import Outcome, Span, spans_within

_SEVERITY = (Outcome.PASS, Outcome.WARN, Outcome.UNKNOWN, Outcome.FAIL)

_Found = tuple[Outcome, str]
"""What a finding makes of the statement, and its sentence."""

_Odd = tuple[str, consent.WordRecord, int]
"""The key of the reason, the word that did not pass, and its number; 0 for an added word."""

_PACE_FACTOR = 2.0
"""The longest time for a letter, over the median of the speaker. Speech that takes longer holds
more than is made out (docs/accuracy.md)."""

_SEVERAL = 3
"""From so many words with the same reason on, one sentence tells them all."""


class Grade(NamedTuple):
    outcome: Outcome
    words: tuple[consent.WordRecord, ...]
    reasons: tuple[str, ...]


def grade_statement(
    reading: consent.StatementReading, limits: ConsentLimits
) -> consent.ConsentFacts:
    """Whether the required statement was spoken, by these limits."""
    beside: Mapping[str, Beside] = {}
    if reading.problem is not None:
        grade = Grade(Outcome.UNKNOWN, (), (reading.problem,))
    elif not reading.aligned:
        why = consent_reason("not_found" if reading.speech else "no_speech")
        required = (word.shown for word in wording.split_words(reading.statement))
        grade = Grade(Outcome.FAIL, _unheard(required), (why,))
    else:
        letter_s, beyond_s = _unheard_by_word(reading)
        more_at = _more_said_at(reading, beyond_s, limits)
        beside = _beside(reading, limits, letter_s, more_before=more_at == 0)
        grade = _grade_heard(reading, limits, beside, more_at)
    starts_at = next((word.start for word in grade.words if word.start is not None), None)
    ends_at = next((word.end for word in reversed(grade.words) if word.end is not None), None)
    if starts_at is not None and starts_at > consent.OPENING_S:
        late = consent_reason("late", start=f"{starts_at:.1f}", most=f"{consent.OPENING_S:g}")
        grade = Grade(Outcome.FAIL, grade.words, (late, *grade.reasons))
    elif grade.outcome.passed and (doubts := _doubts(reading, limits)):
        grade = Grade(Outcome.WARN, grade.words, (*grade.reasons, *doubts))
    return consent.ConsentFacts(
        outcome=grade.outcome,
        starts_at=starts_at,
        ends_at=ends_at,
        words=grade.words,
        reasons=grade.reasons,
        **{side: one.outcome for side, one in beside.items()},
        **reading.model_dump(include={*consent.Listening.model_fields}),
    )


def _grade_heard(
    reading: consent.StatementReading,
    limits: ConsentLimits,
    beside: Mapping[str, Beside],
    more_at: int | None,
) -> Grade:
    parts = [grade_part(part, reading.full_name, limits) for part in reading.parts]
    found = [(part.outcome, reason) for part in parts for reason in part.reasons]
    if more_at:
        why = _why(("within_unheard", reading.aligned[more_at - 1], more_at))
        found.append((Outcome.WARN, why))
    for side, one in beside.items():
        if one.outcome is not Outcome.PASS:
            key = f"{side}_{one.outcome if one.said else 'unheard'}"
            found.append((one.outcome, consent_reason(key, said=one.said)))
    outcome = worst((*(part.outcome for part in parts), *(grave for grave, _ in found)))
    # Without the code, which is no part of the statement's last word.
    code = reading.code and reading.code.spoken
    speech = spans_within(reading.speech, 0.0, code.start_s if code else math.inf)
    words = _clamped([word for part in parts for word in part.words], speech)
    return Grade(outcome, tuple(words), _reasons(outcome, _gravest_first(found), reading))


def _doubts(reading: consent.StatementReading, limits: ConsentLimits) -> tuple[str, ...]:
    doubts = code_doubts(reading.code) if reading.code else ()
    if _sounds_otherwise(reading, limits):
        named = {"name": reading.full_name, "spoken": reading.spoken_as}
        doubts += (consent_reason("other_sound", **named),)
    return doubts


def _sounds_otherwise(reading: consent.StatementReading, limits: ConsentLimits) -> bool:
    """Whether ``spoken_as`` does not sound like the name. The sound of other scripts is not known
    here: of a name with such letters, the Latin ones must sound like a part of ``spoken_as``. So a
    letter that only looks Latin cannot hide another name."""
    said, name = wording.split_words(reading.spoken_as or ""), reading.full_name
    if not said:
        return False
    runs = [said]
    if wording.beyond_latin(name):
        name = wording.latin_letters(name)
        runs = [said[begin:end] for begin, end in combinations(range(len(said) + 1), 2)]
    written = wording.keys_of(wording.split_words(name))
    alike = max(wording.similarity(wording.keys_of(run), written) for run in runs)
    return bool(written) and alike < limits.name_similarity.value


def code_doubts(code: wording.CodeReading) -> tuple[str, ...]:
    """Why a fresh code does not prove that the file was recorded since; empty where it does."""
    known = {
        "code": " ".join(code.words),
        "heard": code.heard,
        "given": stamp(code.given_at),
        "end": stamp(code.ends_at),
        "judged": stamp(code.judged_at),
        "file": code.spoken_in,
    }
    if code.spoken is None:
        return (consent_reason("other_code" if code.heard else "no_code", **known),)
    keys = {"late_code": code.judged_at > code.ends_at, "used_code": code.spoken_in is not None}
    return tuple(consent_reason(key, **known) for key, holds in keys.items() if holds)


def _beside(
    reading: consent.StatementReading, limits: ConsentLimits, letter_s: float, *, more_before: bool
) -> dict[str, Beside]:
    """What is said before and after the statement. A letter takes ``letter_s`` seconds at the most;
    ``more_before`` says that more is said before the statement than is made out."""
    required = wording.split_words(reading.statement)
    name = next((part.name for part in reading.parts if part.name), None)
    known = (reading.spoken_as, reading.full_name, name.heard if name else None)
    names = [each for each in known if each]
    sure = name is None or name.likeness >= wording.NEAR_SOUND
    ends_s = max(word.end for word in reading.aligned)
    talk = _spoken_s(reading, ends_s, math.inf) >= limits.talk_s.value
    around = reading.surroundings
    before = grade_before(around, required, names, sure=sure)
    if more_before and before.outcome is Outcome.PASS:
        before = Beside(Outcome.WARN, "")
    after = grade_after(around, required, names, talk=talk)
    made_out = max(map(_letters, filter(None, around.after)), default=0)
    code = reading.code and reading.code.spoken
    asked = code or reading.code is None
    if after.outcome is Outcome.PASS and asked and not (talk and made_out):
        heard_s = ends_s + consent.AFTERWARDS_S if talk else math.inf
        spoken_s = _spoken_s(reading, max(ends_s, code.end_s) if code else ends_s, heard_s)
        if spoken_s > letter_s * made_out + limits.unheard_s.value:
            after = Beside(Outcome.WARN, "")
    return {"before": before, "after": after}


def _spoken_s(reading: consent.StatementReading, start_s: float, end_s: float) -> float:
    return sum(each.duration_s for each in spans_within(reading.speech, start_s, end_s))


def _more_said_at(
    reading: consent.StatementReading, beyond_s: Sequence[float], limits: ConsentLimits
) -> int | None:
    """The index of the word before which more is said than is made out, by the seconds that words
    last too long; None where there is none, and where letters are not Latin."""
    if len(beyond_s) < 2 or wording.beyond_latin(reading.statement):
        return None
    most_s, at = max((sum(pair), at) for at, pair in enumerate(pairwise(beyond_s)))
    return at if most_s > limits.unheard_s.value else None


def _unheard_by_word(reading: consent.StatementReading) -> tuple[float, list[float]]:
    """The most seconds that the speaker takes for a letter, and how many seconds longer each word
    lasts than its letters can. Alignment lays required words over speech that is not made out, as
    in another language. What is heard before the statement counts to its first word."""
    words = reading.aligned
    begins = [0.0, *(word.start for word in words[1:])]
    lasted = [
        _spoken_s(reading, begin, word.end) for begin, word in zip(begins, words, strict=True)
    ]
    letters = [_letters(word.expected) for word in words]
    letters[0] += _letters(reading.surroundings.before + reading.surroundings.perhaps_before)
    first = 0
    for part in reading.parts:
        for one in part.instead:
            if one.first == one.last:  # Words that were added, and made out.
                letters[min(first + one.first, len(words) - 1)] += _letters(one.heard)
        first += len(part.aligned)
    letter_s = _PACE_FACTOR * median(map(truediv, lasted, letters))
    return letter_s, [had - letter_s * each for had, each in zip(lasted, letters, strict=True)]


def _letters(text: str | None) -> int:
    """How many letters a text has, and one for a space."""
    return 1 + sum(map(str.isalnum, text or ""))


def _reasons(
    outcome: Outcome, reasons: tuple[str, ...], reading: consent.StatementReading
) -> tuple[str, ...]:
    """The reasons, or a single one that says that only the name is in doubt."""
    name = next((part.name for part in reading.parts if part.name and part.aligned), None)
    # Without a ratio the very name was heard: the doubt is about the audio.
    if outcome is not Outcome.WARN or name is None or name.log_likelihood_ratio is None:
        return reasons
    if reasons != (evidence.name_reason(reading.full_name, name, Outcome.WARN),):
        return reasons
    heard = name.heard.strip(wording.MARKS)
    key = "only_name" if heard else "only_no_name"
    return (consent_reason(key, heard=heard, name=reading.full_name),)


def grade_part(part: consent.PartReading, full_name: str, limits: ConsentLimits) -> Grade:
    if not part.aligned:
        first, last = part.first_word + 1, part.first_word + len(part.expected)
        why = consent_reason("part_unheard", first=first, last=last)
        return Grade(Outcome.FAIL, _unheard(part.expected), (why,))
    part = evidence.together(part)
    grades = [
        Outcome.PASS if word.probability >= limits.never_said_probability.value else Outcome.WARN
        for word in part.aligned
    ]
    added: dict[int, consent.WordRecord] = {}
    seconds = part.second.instead if part.second else (0.0,) * len(part.instead)
    for one, second in zip(part.instead, seconds, strict=True):
        if one.first < one.last:
            evidence.grade_stretch(grades, one, part.aligned, limits, second)
        elif record := evidence.added_words(one, part, limits):
            added[one.first] = record
    found: list[_Found] = []
    if part.name is not None:
        unheard = evidence.in_other_letters(part, part.name)
        grade = Outcome.UNKNOWN if unheard else evidence.grade_name(part, part.name, limits)
        grades[part.name.first : part.name.last] = [grade] * (part.name.last - part.name.first)
        if grade is not Outcome.PASS:
            found.append((grade, evidence.name_reason(full_name, part.name, grade)))
    words, changes = _records(part, grades, added)
    negations = _negations(part, limits)
    outcome = worst((*(word.outcome for word in words), *(grade for grade, _ in negations)))
    reasons = _gravest_first([*found, *changes, *negations])
    if not part.inserted:
        return Grade(outcome, words, reasons)
    inserted = consent.WordRecord(expected=None, heard=part.inserted, outcome=Outcome.FAIL)
    why = consent_reason("added", heard=part.inserted, when="")
    return Grade(Outcome.FAIL, (inserted, *words), (why, *reasons))


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    return max(outcomes, key=_SEVERITY.index)


def _gravest_first(found: Iterable[_Found]) -> tuple[str, ...]:
    """The reasons, each once, the gravest first: where there is room for one alone, it is told."""
    ordered = sorted(found, key=lambda each: -_SEVERITY.index(each[0]))
    return tuple(dict.fromkeys(why for _, why in ordered))


def _records(
    part: consent.PartReading, grades: Sequence[Outcome], added: dict[int, consent.WordRecord]
) -> tuple[tuple[consent.WordRecord, ...], list[_Found]]:
    """The words of a part and those added, and why some did not pass, except for the name."""
    named = range(part.name.first, part.name.last) if part.name else range(0)
    records: list[consent.WordRecord] = []
    odd: list[_Odd] = []
    for index in range(len(grades) + 1):
        if index in added:
            records.append(added[index])
            key = "added" if added[index].outcome is Outcome.FAIL else "maybe_added"
            odd.append((key, added[index], 0))
        if index == len(grades):
            break
        record = _record(part.aligned[index], grades[index])
        records.append(record)
        if record.outcome is not Outcome.PASS and index not in named:
            otherwise = "changed" if record.heard else "missing"
            key = otherwise if record.outcome is Outcome.FAIL else "one_reading"
            odd.append((key, record, part.first_word + index + 1))
    return tuple(records), [(each[1].outcome, _why(each, odd)) for each in odd]


def _record(word: consent.AlignedWord, grade: Outcome) -> consent.WordRecord:
    missing = word.heard is None and grade is Outcome.FAIL
    heard_it = word.heard is None and grade is Outcome.PASS
    return consent.WordRecord(
        expected=word.expected,
        heard=word.expected if heard_it else word.heard,
        start=None if missing else round(word.start, 2),
        end=None if missing else round(word.end, 2),
        probability=round(word.probability, 4),
        outcome=grade,
    )


def _why(odd: _Odd, others: Sequence[_Odd] = ()) -> str:
    """Why a word did not pass. Several required words with the same reason share a sentence; added
    words are told one by one."""
    key, record, number = odd
    alike = [word for why, word, _ in others if why == key]
    when = f" at {record.start:.1f} s" if record.start is not None else ""
    if len(alike) < _SEVERAL or record.expected is None:
        said = {"number": number, "word": record.expected, "heard": record.heard}
        return consent_reason(key, **said, when=when)
    heard = [f" as “{each.heard}”" if key == "changed" else "" for each in alike]
    words = [f"“{each.expected}”{other}" for each, other in zip(alike, heard, strict=True)]
    return consent_reason(f"many_{key}", count=len(alike), words=some_of(words))


def _negations(part: consent.PartReading, limits: ConsentLimits) -> list[_Found]:
    """Negations within the statement, by what is freely heard and by what fits the audio. One that
    nobody wrote down is a doubt if both models together prefer the required word as clearly as the
    limit asks of each.
    """
    found = [(Outcome.FAIL, consent_reason("negation", heard=word)) for word in part.negating_words]
    least = limits.negation_ratio.value
    seconds = part.second.negated if part.second and part.second.negated else repeat(0.0)
    for one, second in zip(part.negated, seconds, strict=False):
        if one.log_likelihood_ratio < least:
            both = one.log_likelihood_ratio + second
            said = {"word": part.expected[one.word], "heard": one.heard}
            why = consent_reason("maybe_negation", number=part.first_word + one.word + 1, **said)
            found.append((Outcome.WARN if both >= 2 * least else Outcome.FAIL, why))
    if part.negation_in_other_reading and not found:
        found.append((Outcome.WARN, consent_reason("other_negation")))
    return found


def _unheard(required: Iterable[str]) -> tuple[consent.WordRecord, ...]:
    return tuple(consent.WordRecord(expected=word, outcome=Outcome.FAIL) for word in required)


def _clamped(
    words: Sequence[consent.WordRecord], speech: Sequence[Span]
) -> list[consent.WordRecord]:
    """The words without the silence around them: the first and the last one can reach into it."""
    changed = list(words)
    timed = [at for at, word in enumerate(words) if word.start is not None and word.end is not None]
    for at, side in ((timed[0], "start"), (timed[-1], "end")) if timed else ():
        word = changed[at]
        spoken = spans_within(speech, word.start or 0.0, word.end or 0.0)
        if spoken:
            edge_s = spoken[0].start_s if side == "start" else spoken[-1].end_s
            changed[at] = word.model_copy(update={side: round(edge_s, 2)})
    return changed

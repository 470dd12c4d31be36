"""Whether words, other wordings and the name bear the required statement out, as all who listened
heard them.

Two models were trained apart and hear the same audio in ways of their own. So their log likelihood
ratios are added up, as those of two witnesses who have not talked to each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from palprep.consent import (
    AlignedWord,
    HeardInstead,
    NameReading,
    PartReading,
    WordRecord,
    beyond_latin,
)
from palprep.rules.profile import ConsentLimits
from palprep.rules.texts import consent_reason
from palprep.values import Outcome

MARKS = " ,.;:?!"
"""What a name that was heard is told without, before and after it."""
_SEVERAL = 3
"""So many words have a duration. One or two short ones can be aligned with one moment of 20 ms."""
_MORE_WORDS = 2
"""A long word is written down as two; so many more are others."""


def together(part: PartReading) -> PartReading:
    """The part as both models hear it, where a second one was asked.

    Of each word the greater probability counts. Of another wording the second model counts where
    it speaks for the required one: what the first model lets pass was heard already, and where it
    hears something else, only a second model that hears the required words can turn that. Of added
    words it counts either way: what was added may be an accident of one model, but not of both.
    """
    second = part.second
    if second is None:
        return part
    probabilities = [
        max(word.probability, other)
        for word, other in zip(part.aligned, second.probabilities, strict=True)
    ]
    if part.name is not None:
        place = slice(part.name.first, part.name.last)
        own = [word.probability for word in part.aligned[place]]
        # Each can take one half of a wrong name for the right one: no name is put together of both.
        probabilities[place] = max(own, second.probabilities[place], key=min)
    return part.model_copy(
        update={
            "aligned": tuple(
                word.model_copy(update={"probability": probability})
                for word, probability in zip(part.aligned, probabilities, strict=True)
            ),
            "instead": tuple(
                one.model_copy(
                    update={
                        "log_likelihood_ratio": one.log_likelihood_ratio
                        + (other if one.first == one.last else max(0.0, other))
                    }
                )
                for one, other in zip(part.instead, second.instead, strict=True)
            ),
        }
    )


def grade_stretch(
    grades: list[Outcome],
    one: HeardInstead,
    aligned: Sequence[AlignedWord],
    limits: ConsentLimits,
    second: float,
) -> None:
    """Words that were heard differently pass where they fit the audio as well as what was heard,
    and a second model, whose ratio is ``second``, does not hear the same. The worse they fit, the
    more the forced reading must support each of them. What sounds much the same is judged by its
    sound: it may be another spelling, or a rare word that was misheard.
    """
    words, ratio = range(one.first, one.last), one.log_likelihood_ratio
    if _squeezed(one, aligned, limits) or _swollen(one, aligned, limits):
        for index in words:
            grades[index] = Outcome.FAIL
        return
    least = min(aligned[index].probability for index in words)
    by_sound = _by_sound(one, least, limits)
    alike = one.likeness >= limits.same_sound_likeness.value
    misheard = one.likeness >= limits.misheard_word_likeness.value
    unsaid = limits.unsaid_word_probability.value
    unsupported = ratio < limits.unsupported_word_ratio.value and not alike
    floor = unsaid if unsupported else limits.never_said_probability.value
    likely = ratio >= limits.equal_wordings_ratio.value and least >= unsaid
    other_said = (max(ratio, by_sound) if alike else ratio) < limits.other_wording_ratio.value
    grade = Outcome.WARN
    if misheard and by_sound >= limits.misheard_word_ratio.value:
        grade = Outcome.PASS
    elif other_said or least < floor:
        grade = Outcome.FAIL
    elif likely or ratio >= 0:
        grade = Outcome.PASS
    if grade is Outcome.PASS and second < -limits.sure_ratio.value:
        grade = Outcome.WARN
    doubtful = [i for i in words if aligned[i].probability < limits.sure_word_probability.value]
    for index in words:
        spared = grade is Outcome.FAIL and doubtful and index not in doubtful
        grades[index] = Outcome.WARN if spared else grade


def _squeezed(one: HeardInstead, aligned: Sequence[AlignedWord], limits: ConsentLimits) -> bool:
    """Whether several words are aligned with a moment in which nobody can say them. The forced
    reading holds them for probable where they are said elsewhere: a sentence in another's place.
    """
    count = one.last - one.first
    if one.heard or count < _SEVERAL:
        return False
    lasts_s = aligned[one.last - 1].end - aligned[one.first].start
    return lasts_s < count * limits.shortest_word_s.value


def _swollen(one: HeardInstead, aligned: Sequence[AlignedWord], limits: ConsentLimits) -> bool:
    """Whether so much more was heard than is required, and a required word so hardly, that words
    may have been added among those that were misheard.
    """
    least = min(word.probability for word in aligned[one.first : one.last])
    more = len(one.heard.split()) - (one.last - one.first)
    return more >= _MORE_WORDS and least < limits.unsaid_word_probability.value


def _by_sound(one: HeardInstead, least: float, limits: ConsentLimits) -> float:
    """The log likelihood ratio, less how much more the model expects what it wrote down without any
    audio: of two words that sound alike it writes down the commoner one. That tells something of
    one word, as probable as those that are heard: of several, one can hide that was not said.
    ``least`` is the probability of the least word.
    """
    if one.last - one.first != 1 or least < limits.heard_word_probability.value:
        return -math.inf
    return one.log_likelihood_ratio - min(0.0, one.log_prior_ratio)


def added_words(one: HeardInstead, part: PartReading, limits: ConsentLimits) -> WordRecord:
    """Words that nothing asked for, in the gap before the required word ``one.first``. Where the
    statement without it fits much better, one word is a doubt; next to the name, where it may
    belong to another one, only if the name itself was misheard, of which it can be a piece.
    """
    aligned = part.aligned
    start = aligned[one.first - 1].end if one.first else None
    end = aligned[one.first].start if one.first < len(aligned) else None
    named = part.name is not None and one.first in (part.name.first, part.name.last)
    single = len(one.heard.split()) == 1
    misheard = part.name is not None and not part.name.same
    likely = misheard if named else one.log_likelihood_ratio >= limits.sure_ratio.value
    return WordRecord(
        expected=None,
        heard=one.heard,
        start=start,
        end=end if start is None or end is None else max(start, end),
        outcome=Outcome.WARN if single and likely else Outcome.FAIL,
    )


def in_other_letters(part: PartReading, name: NameReading) -> bool:
    """Whether the name is in letters of another script, and the statement in Latin ones. It is not
    known then how the name would be written down.
    """
    others = (*part.expected[: name.first], *part.expected[name.last :])
    return beyond_latin("".join(part.expected)) and not beyond_latin("".join(others))


def grade_name(part: PartReading, name: NameReading, limits: ConsentLimits) -> Outcome:
    """By sound; ``part`` is the part of the statement that holds the name, as all who listened
    heard it. A small model writes a rare name down as something else, so what it wrote down is one
    witness of three. It is another name where it neither sounds like anything that was heard nor is
    recognised once the model is prompted with its spelling. It passes where it is recognised, holds
    without a prompt, too, and fits the audio better than all that was heard in its place. The rest
    is a doubt: names that are much alike differ by less than voices do.
    """
    recognised = name.prompted_probability >= limits.name_prompted_probability.value
    if not recognised and name.likeness < limits.name_similarity.value:
        return Outcome.FAIL
    least = min(word.probability for word in part.aligned[name.first : name.last])
    second = part.second.name if part.second else None
    ratios = [one for one in (name.least_log_likelihood_ratio, second) if one is not None]
    favoured = sum(ratios) >= limits.name_log_likelihood_ratio.value if ratios else name.same
    supported = least >= limits.name_aligned_probability.value
    return Outcome.PASS if recognised and supported and favoured else Outcome.WARN


def name_reason(full_name: str, name: NameReading, grade: Outcome) -> str:
    """Why the name did not pass, with what was heard."""
    if grade is Outcome.UNKNOWN:
        return consent_reason("other_script", name=full_name)
    heard = name.heard.strip(MARKS)
    key = "weak_name" if name.log_likelihood_ratio is None else "maybe_name"
    if grade is Outcome.FAIL:
        key = "other_name"
    return consent_reason(key if heard else "no_name", heard=heard, name=full_name)

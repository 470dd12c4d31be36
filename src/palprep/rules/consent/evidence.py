"""Grades of required words, of other wordings and of the name, by what both models heard.

The models were trained apart, and err in different ways. So their log likelihood ratios are added,
like those of independent witnesses.
"""

from __future__ import annotations

from collections.abc import Sequence

from palprep.consent import AlignedWord, HeardInstead, NameReading, PartReading, WordRecord
from palprep.consent.wording import MARKS, beyond_latin, keys_of, split_words
from palprep.rules.consent.remarks import is_grave, is_slip
from palprep.rules.profile import ConsentLimits
from palprep.rules.texts.words import consent_reason
from palprep.values import Outcome

_MORE_WORDS = 2
"""One word more can be a long word that was written down as two; so many more are other words."""


def together(part: PartReading) -> PartReading:
    """The part as both models hear it, where a second one was asked.

    A word has the greater of its two probabilities. For another wording the second ratio counts
    only in favour of the required words: it can clear a doubt of the first model, and adds none.
    For added words it counts either way: one model may invent a word, but seldom both the same.
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
        # Each can take one half of a wrong name for the right one: the halves are not put together.
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
    """Set the grades of required words that were heard otherwise. ``second`` is the ratio of the
    second model.

    They pass if both models find them about as probable as what was heard, and the forced reading
    supports each of them. They fail if what was heard is far more probable, or if the forced
    reading gives one of them hardly any probability; it must give more where far more words were
    heard. Otherwise they are in doubt, also where a condition may be among what was heard.
    """
    words, ratio = range(one.first, one.last), one.log_likelihood_ratio
    least = min(aligned[index].probability for index in words)
    unsaid, sure = limits.unsaid_word_probability.value, limits.sure_ratio.value
    added = len(one.heard.split()) - len(words) >= _MORE_WORDS
    conditional = added and is_grave(one.heard)
    unsupported = added or ratio < limits.unsupported_word_ratio.value
    grade = Outcome.WARN
    if ratio < limits.other_wording_ratio.value or least < (
        unsaid if unsupported else limits.never_said_probability.value
    ):
        grade = Outcome.FAIL
    elif second >= -sure and ratio >= -sure and least >= unsaid and not conditional:
        grade = Outcome.PASS
    doubtful = [index for index in words if aligned[index].probability < unsaid]
    for index in words:
        spared = grade is Outcome.FAIL and doubtful and index not in doubtful
        grades[index] = Outcome.WARN if spared else grade


def added_words(one: HeardInstead, part: PartReading, limits: ConsentLimits) -> WordRecord | None:
    """The record of words that were added before the required word ``one.first``.

    They fail, except for two doubts. One is a slip, which repeats the words next to it. The other
    is a single word without which the statement fits much better. Next to the name that word can
    make it another name. There it is a doubt only if the name was misheard, so that it can be a
    piece of it, or if the statement has the same word next to the name.

    Where the audio speaks against them, and one reading alone has them, a single word is dropped.
    Several are a doubt, and fail if they change what the statement means: a model that is given the
    statement passes over what that does not hold.
    """
    aligned = part.aligned
    unlikely = one.log_likelihood_ratio >= -limits.sure_ratio.value and not one.in_every_reading
    grave, several = is_grave(one.heard), len(one.heard.split()) > 1
    if unlikely and not (grave or several):
        return None
    start = aligned[one.first - 1].end if one.first else None
    end = aligned[one.first].start if one.first < len(aligned) else None
    slip = is_slip(one.heard, part.expected[: one.first], part.expected[one.first :])
    likely = one.log_likelihood_ratio >= limits.sure_ratio.value
    name = part.name
    if name is not None and one.first in (name.first, name.last):
        around = (*part.expected[: name.first][-1:], *part.expected[name.last :][:1])
        own = {keys_of(split_words(word)) for word in around}
        likely = not name.same or keys_of(split_words(one.heard)) in own
    doubtful = not (grave and several) if unlikely else likely and not several
    return WordRecord(
        expected=None,
        heard=one.heard,
        start=start,
        end=end if start is None or end is None else max(start, end),
        outcome=Outcome.WARN if doubtful or slip else Outcome.FAIL,
    )


def in_other_letters(part: PartReading, name: NameReading) -> bool:
    """Whether the name is in another script than the rest of the statement, which is in Latin
    letters. Then it is not known how a model would write the name down.
    """
    others = (*part.expected[: name.first], *part.expected[name.last :])
    return beyond_latin("".join(part.expected)) and not beyond_latin("".join(others))


def grade_name(part: PartReading, name: NameReading, limits: ConsentLimits) -> Outcome:
    """The grade of the name, in the ``part`` that holds it, as both models hear that.

    A small model misspells rare names, so what it wrote down is one witness of three. The name
    fails if nothing that was heard sounds like it, and the model does not recognise it when
    prompted with its spelling. It passes if the model recognises it, it is probable without a
    prompt, too, and it fits the audio better than all that was heard in its place. The rest is a
    doubt: some names differ by less than voices do.
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
    if grade is Outcome.UNKNOWN:
        return consent_reason("other_script", name=full_name)
    heard = name.heard.strip(MARKS)
    key = "weak_name" if name.log_likelihood_ratio is None else "maybe_name"
    if grade is Outcome.FAIL:
        key = "other_name"
    return consent_reason(key if heard else "no_name", heard=heard, name=full_name)

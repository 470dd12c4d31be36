"""Whether words, other wordings and the name bear the required statement out, as all who listened
heard them.

Two models were trained apart and hear the same audio in ways of their own. So their log likelihood
ratios are added up, as those of two witnesses who have not talked to each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from palprep.consent import AlignedWord, HeardInstead, NameReading, PartReading, WordRecord
from palprep.consent.wording import beyond_latin, keys_of, split_words
from palprep.rules.consent.remarks import is_grave, is_slip
from palprep.rules.profile import ConsentLimits
from palprep.rules.texts.words import consent_reason
from palprep.values import Outcome

MARKS = " ,.;:?!"
"""Signs that are left out before and after a name when it is told."""
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
    a second model, whose ratio is ``second``, does not hear the same, and the forced reading
    supports each of them. Without that support they are in doubt, and where a condition or the like
    may be among what was heard besides. They fail where they fit badly as well, or where far more
    was heard, among which words may have been added.
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
    """Words that nothing asked for, in the gap before the required word ``one.first``. A slip is a
    doubt: it changes nothing. Where the statement without it fits much better, one word is a doubt;
    next to the name, where it may belong to another one, only if the name itself was misheard, of
    which it can be a piece, or if the statement has it there, before or after the name.

    Where the audio speaks against them, and one reading alone has them, a single word is dropped.
    Several are a doubt, and fail if they change what it means: a model that is given the statement
    passes over what it does not hold.
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

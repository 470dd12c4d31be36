"""Whether the name in a statement of consent was said."""

from __future__ import annotations

from palprep.consent import SAME_SOUND, NameReading, PartReading
from palprep.rules.profile import ConsentLimits
from palprep.values import Outcome


def grade_name(part: PartReading, name: NameReading, limits: ConsentLimits) -> Outcome:
    """By sound; ``part`` is the part of the statement that holds the name, as all who listened
    heard it. The name passes when it was heard, by its letters or by its sound, and the audio
    bears it out. A small model hears rare names as something else. Such a name passes where it
    fits the audio better than every free reading: a little better if they sound much like it,
    far better if not. It is a doubt where the transcript has another name that is much alike. It
    is a doubt, too, when the model recognises each word once prompted with its spelling, and does
    not hold what it heard for the better one. What sounds much like the name needs less
    recognition: a short name gives the model little to recognise. Otherwise it is another name.
    """
    least = min(word.probability for word in part.aligned[name.first : name.last])
    second = part.second.name if part.second else None
    both = _of_both(name, second)
    if second is not None and _confirmed(both, least, second, limits):
        return Outcome.PASS
    if _borne_out(both, least, limits):
        return Outcome.WARN if _written_alike(name, limits) else Outcome.PASS
    # A second model that hears another name keeps this one from passing, and does not fail it.
    ratio = name.log_likelihood_ratio if second is None or second < 0 else both.log_likelihood_ratio
    least_ratio = name.least_log_likelihood_ratio
    if _written_alike(name, limits) and _another(least_ratio, second, limits):
        return Outcome.FAIL
    if ratio is None:
        return Outcome.WARN
    surely = name.prompted_probability >= limits.name_recognised_surely.value
    nearest = name.likeness >= limits.name_alike_surely.value
    floor = limits.name_disfavoured_surely if surely or nearest else limits.name_disfavoured
    if ratio < floor.value:
        return Outcome.FAIL
    spared = nearest and least_ratio is not None and least_ratio >= 0
    needed = limits.name_recognised_alike if spared else limits.name_recognised
    recognised = name.prompted_probability >= needed.value
    alike = name.likeness >= limits.name_alike.value
    return Outcome.WARN if surely or (alike and recognised) else Outcome.FAIL


def _of_both(name: NameReading, second: float | None) -> NameReading:
    """The name with the log likelihood ratios of both models added up."""
    ratio, least_ratio = name.log_likelihood_ratio, name.least_log_likelihood_ratio
    if second is None:
        return name
    return name.model_copy(
        update={
            "log_likelihood_ratio": None if ratio is None else ratio + second,
            "least_log_likelihood_ratio": None if least_ratio is None else least_ratio + second,
        }
    )


def _confirmed(name: NameReading, least: float, second: float, limits: ConsentLimits) -> bool:
    """Whether a second model holds the name for the better one where the first wrote down another,
    and both together favour it. Where the first one heard the very name, there is nothing to weigh.
    """
    least_ratio = name.least_log_likelihood_ratio
    return (
        not name.same
        and second >= limits.name_confirmed.value
        and name.prompted_probability >= limits.name_recognised_surely.value
        and least >= limits.name_supported.value
        and least_ratio is not None
        and least_ratio >= limits.name_favoured.value
    )


def _another(least_ratio: float | None, second: float | None, limits: ConsentLimits) -> bool:
    """Whether both models hold another name that was heard for the better one."""
    if least_ratio is None or second is None:
        return False
    return least_ratio < 0 and second < limits.heard_by_both.value


def _borne_out(name: NameReading, least: float, limits: ConsentLimits) -> bool:
    """Whether the audio bears the name out; ``least`` is the probability of its least word."""
    ratio, least_ratio = name.log_likelihood_ratio, name.least_log_likelihood_ratio
    supported = least >= limits.word_sure.value
    recognised = name.prompted_probability >= limits.name_recognised.value
    surely = name.prompted_probability >= limits.name_recognised_surely.value
    needed = limits.name_disfavoured_surely if ratio is None else limits.name_favoured
    favoured = ratio is None if least_ratio is None else least_ratio >= needed.value
    if name.same:
        rather = least_ratio is not None and least_ratio >= limits.name_favoured_rather.value
        return supported or (recognised and favoured) or (surely and rather)
    if name.likeness >= limits.name_alike_surely.value and supported and recognised and favoured:
        return True
    return (
        surely
        and least >= limits.name_supported.value
        and least_ratio is not None
        and least_ratio >= limits.name_favoured_surely.value
    )


def _written_alike(name: NameReading, limits: ConsentLimits) -> bool:
    """Whether the transcript has a name that is much alike, and another one."""
    return limits.name_written_alike.value <= name.transcript_likeness < SAME_SOUND


def name_reason(full_name: str, name: NameReading, grade: Outcome) -> str:
    """Why the name did not pass, with what was heard."""
    heard = name.heard.strip(" ,.;:?!")
    if not heard:
        return f"Nothing was heard in the place of the name {full_name}."
    if grade is Outcome.FAIL:
        return f"The name {full_name} was not heard. “{heard}” was heard in its place."
    if name.log_likelihood_ratio is None:
        return f"The name was heard as “{heard}”, but the audio supports it weakly. Listen to it."
    return f"The name was heard as “{heard}”; it may be {full_name}. Listen to it."


def only_name_reason(full_name: str, name: NameReading) -> str:
    """Why a reading is in doubt whose every other word was heard, with what was heard."""
    heard = name.heard.strip(" ,.;:?!")
    said = f"it was heard as “{heard}”" if heard else "nothing was heard in its place"
    return f"Only the name is in doubt: {said}, and {full_name} is required. Listen to it."

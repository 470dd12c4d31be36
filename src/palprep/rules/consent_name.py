"""Whether the name in a statement of consent was said."""

from __future__ import annotations

from collections.abc import Sequence

from palprep.consent.facts import NamePlace, RequiredWord
from palprep.rules.consent_limits import ConsentLimits
from palprep.values import Outcome


def grade_name(name: NamePlace, aligned: Sequence[RequiredWord], limits: ConsentLimits) -> Outcome:
    """By sound. The name passes when it was heard, by its letters or by its sound, and the audio
    bears it out. A small model hears rare names as something else. Such a name passes only when
    what was heard sounds much like it, both forced readings support it, and it fits the audio
    better than every free reading. It is a doubt when the model recognises each word once
    prompted with its spelling, and does not hold what it heard for the better one. What sounds
    much like the name needs less recognition: a short name gives the model little to recognise.
    Otherwise it is another name.
    """
    least = min(word.probability for word in aligned[name.first : name.last])
    supported = least >= limits.word_sure.value
    recognised = name.prompted_probability >= limits.name_recognised.value
    ratio, least_ratio = name.log_likelihood_ratio, name.least_log_likelihood_ratio
    needed = limits.name_disfavoured_surely if ratio is None else limits.name_favoured
    favoured = ratio is None if least_ratio is None else least_ratio >= needed.value
    if name.same and (supported or (recognised and favoured)):
        return Outcome.PASS
    surely_alike = name.likeness >= limits.name_alike_surely.value
    if surely_alike and supported and recognised and favoured:
        return Outcome.PASS
    if ratio is None:
        return Outcome.WARN
    if surely_alike and least_ratio is not None and least_ratio >= 0:
        recognised = name.prompted_probability >= limits.name_recognised_alike.value
    surely = name.prompted_probability >= limits.name_recognised_surely.value
    floor = limits.name_disfavoured_surely if surely else limits.name_disfavoured
    alike = name.likeness >= limits.name_alike.value
    return Outcome.WARN if alike and recognised and ratio >= floor.value else Outcome.FAIL


def name_reason(full_name: str, name: NamePlace, grade: Outcome) -> str:
    """Why the name did not pass, with what was heard."""
    heard = name.heard.strip(" ,.;:?!")
    if not heard:
        return f"Nothing was heard in the place of the name {full_name}."
    if grade is Outcome.FAIL:
        return f"The name {full_name} was not heard. “{heard}” was heard in its place."
    if name.log_likelihood_ratio is None:
        return f"The name was heard as “{heard}”, but the audio supports it weakly. Listen to it."
    return f"The name was heard as “{heard}”; it may be {full_name}. Listen to it."

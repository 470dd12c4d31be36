"""What a rule is: the facts that it needs, what it answers where they are missing, and a measure
that is held against limits.

A rule only measures. Its limits stand in a profile, as data that users extend. Its words stand in
:mod:`palprep.rules.texts`, under the same id.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from palprep import media
from palprep.facts import Facts
from palprep.rules.profile import Limit
from palprep.rules.report import Check
from palprep.rules.texts.words import (
    ABOVE,
    BELOW,
    MET,
    OTHERWISE,
    REASONS,
    TEXTS,
    Measure,
    RuleText,
    Unmeasured,
    measure_words,
)
from palprep.values import Outcome, Rect, Value

F = TypeVar("F")
G = TypeVar("G")
H = TypeVar("H")


class Measured(Value):
    """What a rule found. ``value`` is what the limits are held against.

    ``shown`` replaces the value in the report where the bare value says too little. ``words``
    fill the places of all of the rule's sentences, whichever is said. ``way`` names the sentence,
    where the side of the broken limit does not tell. ``advice`` replaces the rule's general advice
    where this file's own is known. ``cause`` says that ``value`` stands for something that cannot
    be measured, and why: its reason and its advice are told instead of the rule's.
    """

    value: Measure
    shown: str | None = None
    words: Mapping[str, str] = {}
    way: str | None = None
    advice: str | None = None
    region: Rect | None = None
    cause: Unmeasured | None = None


Answer = Measured | Unmeasured | None
"""A measure, why there is none, or None where the rule does not apply to such a file."""


@dataclass(frozen=True, slots=True)
class Need(Generic[F]):
    """The facts that a rule needs, and the answer where they are missing.

    ``get`` takes them out of a file's facts. In their place it may return an answer: a reason,
    a measure where it is the absence that counts, or None where the rule does not apply.
    """

    get: Callable[[Facts], F | Answer]

    def then(
        self, part: Callable[[F], G | Answer], missing: Measured | Unmeasured | None = None
    ) -> Need[G]:
        """The need of a part of these facts; ``missing`` is the answer where it is None."""

        def get(facts: Facts) -> G | Answer:
            whole = self.get(facts)
            if whole is None or isinstance(whole, Measured | Unmeasured):
                return whole
            found = part(whole)
            return missing if found is None else found

        return Need(get)

    def beside(self, other: Need[H]) -> Need[tuple[F, H]]:
        """These facts and others; where both are missing, the answer is of these."""

        def get(facts: Facts) -> tuple[F, H] | Answer:
            both = self.then(lambda these: other.then(lambda those: (these, those)).get(facts))
            return both.get(facts)

        return Need(get)


@dataclass(frozen=True)
class BaseRule:
    """An id, its words, and how a measure is held against limits."""

    id: str

    @property
    def texts(self) -> RuleText:
        return TEXTS.rules[self.id]

    def check(
        self, found: Measured | Unmeasured, limits: Sequence[Limit], *, label: str | None = None
    ) -> Check:
        """Hold a measure against every limit; the worst broken limit decides. Where all hold, the
        first one is shown.

        ``label`` stands in the check instead of the rule's own.
        """
        broken = []
        if isinstance(found, Measured):
            broken = [limit for limit in limits if not limit.holds(found.value)]
        decisive = min(broken, key=lambda limit: limit.level is not Outcome.FAIL, default=limits[0])
        common = {
            "id": self.id,
            "label": label or self.texts.label,
            "limit": self.texts.limit or decisive.words(self.texts.unit),
            "at_least": max((each.min for each in limits if each.min is not None), default=None),
            "at_most": min((each.max for each in limits if each.max is not None), default=None),
            "source": decisive.source,
        }
        if isinstance(found, Unmeasured):
            return Check(
                outcome=Outcome.UNKNOWN, sentence=found.reason, advice=found.advice, **common
            )
        shown = found.value if found.shown is None else found.shown
        caused = found.cause.advice if found.cause else None
        return Check(
            outcome=decisive.level if broken else Outcome.PASS,
            sentence=self._sentence(found, shown, decisive, kept=not broken),
            measured=shown,
            advice=(caused or found.advice or self.texts.advice) if broken else None,
            region=found.region,
            **common,
        )

    def _sentence(self, found: Measured, shown: Measure, limit: Limit, *, kept: bool) -> str:
        """The finding in words: the cause, what was measured, or how it breaks the limit.

        Of a yes or no, the value chooses the sentence, and not whether the limit is kept.
        """
        if found.cause is not None:
            return found.cause.reason
        said = kept if not isinstance(found.value, bool) else found.value
        way = MET if said else found.way or _way(found.value, limit)
        sentence = self.texts.sentence(way, limit.level)
        return sentence.format_map({"measured": measure_words(shown), **found.words})


def _way(value: Measure, limit: Limit) -> str:
    """On which side of a broken limit the value lies."""
    if not isinstance(value, int | float) or (limit.min is None and limit.max is None):
        return OTHERWISE
    return BELOW if limit.min is not None and value < limit.min else ABOVE


@dataclass(frozen=True)
class Rule(BaseRule):
    """One rule of one file, and its measure: a pure function of the facts that it needs."""

    measure: Need[Measured]
    place: Callable[[Facts], Rect | None] | None = None
    """Where the file shows what was measured, unless the measure itself says it."""
    fixes: Callable[[Facts, str], bool] | None = None
    """Whether ``palprep fix`` answers the check of that id in such a file, if not in every one."""

    def judge(self, facts: Facts, limits: Sequence[Limit]) -> Check | None:
        """The check of a file against its limits; None where the rule does not apply."""
        found = self.measure.get(facts)
        if self.place and isinstance(found, Measured) and found.region is None:
            found = found.model_copy(update={"region": self.place(facts)})
        if found is None:
            return None
        check = self.check(found, limits)
        if check.advice != self.texts.advice or not (self.fixes and self.fixes(facts, self.id)):
            return check
        return check.model_copy(update={"advice": f"{check.advice} {self.texts.fix}"})


def rule(
    needs: Need[F],
    place: Callable[[Facts], Rect | None] | None = None,
    fixes: Callable[[Facts, str], bool] | None = None,
) -> Callable[[Callable[[F], Answer]], Rule]:
    """Makes a rule of the function that measures what it ``needs``: the measure, why there is none,
    or None where the rule does not apply. The function's name is the rule's id.
    """

    def made(measure: Callable[[F], Answer]) -> Rule:
        return Rule(measure.__name__, needs.then(measure), place, fixes)

    return made


def plain(
    rule_id: str,
    needs: Need[F],
    value: Callable[[F], Measure | Unmeasured],
    shown: str | tuple[str, str] | None = None,
) -> Rule:
    """A rule that holds one value against limits, and does not apply where it is None. In place of
    the value it may be told why there is none.

    ``shown`` is how a report shows it: a format, or the words for true and for false. None shows
    the bare value. What a format rounds is judged as it is shown.
    """
    rounded = re.search(r"\.(\d)([f%])", shown) if isinstance(shown, str) else None
    digits = int(rounded[1]) + 2 * (rounded[2] == "%") if rounded else None

    def measure(found: Measure) -> Measured:
        words = (shown[0] if found else shown[1]) if isinstance(shown, tuple) else shown
        if digits is not None and isinstance(found, float):
            # What is shown as 60.0 s is not said to be less than 60 s.
            found = round(found, digits)
        return Measured(value=found, shown=words and words.format(found))

    valued: Need[Measure] = needs.then(value)
    return Rule(rule_id, valued.then(measure))


def sides(
    rule_id: str,
    needs: Need[media.ImageFacts] | Need[media.VideoFacts],
    chosen: Callable[[int, int], int],
) -> Rule:
    """A rule of the shorter or longer side of an image or of frames, shown with the other one."""

    def measure(picture: media.ImageFacts | media.VideoFacts) -> Measured:
        width, height = picture.width, picture.height
        return Measured(value=chosen(width, height), shown=f"{width} x {height} px")

    return Rule(rule_id, needs.then(measure))


@dataclass(frozen=True)
class PairRule(BaseRule):
    """One rule of two files, whose limits stand in the profile's table ``pairs``, and not under a
    role. ``unknown`` names the reason to give where one of the files has nothing to compare.
    """

    unknown: str

    def judge(
        self, first: str, second: str, similarity: float | None, limits: Sequence[Limit]
    ) -> Check:
        """The check of the files with these names.

        ``similarity`` is the cosine similarity of their embeddings, -1 to 1, None where one of
        them has none. ``limits`` is not empty.
        """
        label = f"{self.texts.label} in {first} and {second}"
        if similarity is None:
            return self.check(REASONS[self.unknown], limits, label=label)
        measured = Measured(value=similarity, words={"first": first, "second": second})
        found = self.check(measured, limits, label=label)
        return found.model_copy(update={"measured": round(similarity, 3)})


SAME_PERSON = PairRule("same_person", "no_face_to_compare")
"""Compares the SFace embeddings of faces."""

SAME_VOICE = PairRule("same_voice", "no_voice_to_compare")
"""Compares the CAM++ embeddings of voices."""

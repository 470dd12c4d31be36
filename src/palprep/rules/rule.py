"""What a rule is: the facts that it needs, and a measure that is held against limits.

A rule only measures; the comparison stands in the profile as data. So a user's profile can
move a limit, change its level or add a stricter one without touching code.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from palprep.facts import Facts
from palprep.rules.measures import Measure, measure_words
from palprep.rules.profile import Limit
from palprep.rules.report import Check
from palprep.rules.sentences import ABOVE, BELOW, OTHERWISE, Sentences
from palprep.values import Outcome, Rect, Value

F = TypeVar("F")
G = TypeVar("G")


class Unmeasured(Value):
    """The rule could not measure.

    ``reason`` says why, in a sentence. Checks with the same reason are told once, so a reason that
    several rules can have is one constant (:mod:`palprep.rules.needs`). ``advice`` says how the
    measure can be had.
    """

    reason: str
    advice: str | None = None


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


class Described(ABC):
    """What every rule says of itself. Its docstring is the text that every output shows."""

    id: ClassVar[str]
    label: ClassVar[str]
    unit: ClassVar[str] = ""
    predicts: ClassVar[str | None] = None
    """The check or refusal of the service that a failure here predicts."""
    sentences: ClassVar[Sentences]
    """What it says of a file. A rule that never measures has none."""
    advice: ClassVar[str]
    """What to do when it does not pass: the fix, or the retake."""

    @classmethod
    def text(cls) -> str:
        """The rule in a sentence or two: its docstring."""
        return inspect.cleandoc(cls.__doc__ or "")

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
            "label": label or self.label,
            "limit": decisive.words(self.unit),
            "at_least": max((each.min for each in limits if each.min is not None), default=None),
            "at_most": min((each.max for each in limits if each.max is not None), default=None),
            "source": decisive.source,
        }
        if isinstance(found, Unmeasured):
            return Check(
                outcome=Outcome.UNKNOWN, sentence=found.reason, advice=found.advice, **common
            )
        return Check(
            outcome=decisive.level if broken else Outcome.PASS,
            sentence=self._sentence(found, decisive, kept=not broken),
            measured=_shown(found),
            advice=self._advice(found) if broken else None,
            region=found.region,
            **common,
        )

    def _sentence(self, found: Measured, limit: Limit, *, kept: bool) -> str:
        """The finding in words: the cause, what was measured, or how it breaks the limit.

        A yes or no says itself, whichever of them a profile asks for.
        """
        if found.cause is not None:
            return found.cause.reason
        said = kept if not isinstance(found.value, bool) else found.value
        way = found.way or _way(found.value, limit)
        sentence = self.sentences.met if said else self.sentences.when(way, limit.level)
        return sentence.format_map({"measured": measure_words(_shown(found)), **found.words})

    def _advice(self, found: Measured) -> str:
        caused = found.cause.advice if found.cause else None
        return caused or found.advice or self.advice


def _shown(found: Measured) -> Measure:
    return found.value if found.shown is None else found.shown


def _way(value: Measure, limit: Limit) -> str:
    """On which side of a limit that it breaks a value lies."""
    if not isinstance(value, int | float) or (limit.min is None and limit.max is None):
        return OTHERWISE
    return BELOW if limit.min is not None and value < limit.min else ABOVE


class Rule(Described, Generic[F]):
    """One rule of one file. Subclasses are stateless.

    ``measure`` is a pure function of the facts that ``needs`` names.
    """

    needs: Need[F]

    @abstractmethod
    def measure(self, facts: F, /) -> Answer:
        """The measure of these facts, why there is none, or None where the rule does not apply."""

    def found(self, facts: Facts) -> Answer:
        """What the rule finds in a file's facts."""
        needed = self.needs.get(facts)
        if needed is None or isinstance(needed, Measured | Unmeasured):
            return needed
        return self.measure(needed)

    def judge(self, facts: Facts, limits: Sequence[Limit]) -> Check | None:
        """The check of a file against its limits; None where the rule does not apply."""
        found = self.found(facts)
        return None if found is None else self.check(found, limits)

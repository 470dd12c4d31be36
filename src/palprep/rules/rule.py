"""What a rule is: the facts that it needs, and a measure that is held against limits.

A rule only measures; the comparison stands in the profile as data. So a user's profile can
move a limit, change its level or add a stricter one without touching code.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from palprep.facts.facts import Facts
from palprep.rules.measures import Measure
from palprep.rules.profile import Limit
from palprep.rules.report import Check
from palprep.values import Outcome, Rect, Value

F = TypeVar("F")
G = TypeVar("G")


class Measured(Value):
    """What a rule found. ``value`` is what the limits are held against.

    ``shown`` replaces the value in the report where the bare value says too little. ``advice``
    replaces the rule's general advice where this file's own is known.
    """

    value: Measure
    shown: str | None = None
    advice: str | None = None
    region: Rect | None = None


class Unmeasured(Value):
    """The rule could not measure; ``reason`` says what is missing, and how to get it."""

    reason: str


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
    advice: ClassVar[str]
    """What to do when it does not pass: the fix, or the retake."""

    @classmethod
    def text(cls) -> str:
        """The rule in a sentence or two: its docstring."""
        return inspect.cleandoc(cls.__doc__ or "")

    def check(
        self, found: Measured | Unmeasured, limits: Sequence[Limit], *, label: str | None = None
    ) -> Check:
        """Hold a measure against every limit; the worst broken limit decides.

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
            return Check(outcome=Outcome.UNKNOWN, advice=found.reason, **common)
        return Check(
            outcome=decisive.level if broken else Outcome.PASS,
            measured=found.shown if found.shown is not None else found.value,
            advice=(found.advice or self.advice) if broken else None,
            region=found.region,
            **common,
        )


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

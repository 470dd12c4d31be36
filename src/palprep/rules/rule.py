"""What a rule is, and how a measure is held against the limits of a profile.

A rule only measures; the comparison stands in the profile as data. So a user's profile can
move a limit, change its level or add a stricter one without touching code.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from palprep.facts.facts import Facts
from palprep.rules.profile import Limit
from palprep.rules.report import Check, Measure
from palprep.values import Outcome, Rect, Value


class Measured(Value):
    """What a rule found. ``value`` is what the limits are held against.

    ``shown`` replaces the value in the report when the bare value says too little, ``advice``
    the rule's general advice when this file's own is known.
    """

    value: Measure
    shown: str | None = None
    advice: str | None = None
    region: Rect | None = None


class Unmeasured(Value):
    """The rule could not measure; ``reason`` tells what is missing, and how to get it."""

    reason: str


class Rule(ABC):
    """One rule. The docstring of a subclass is the text that every output shows.

    Subclasses are stateless; ``measure`` is a pure function of the facts and returns None
    when the rule does not apply to such a file (no check is then reported).
    """

    id: ClassVar[str]
    label: ClassVar[str]
    unit: ClassVar[str] = ""
    predicts: ClassVar[str | None] = None
    """The check or refusal of the service that a failure here foretells."""
    advice: ClassVar[str]
    """What to do when it does not pass: the repair, or the retake."""

    @abstractmethod
    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        """The measure, why there is none, or None where the rule does not apply."""

    @classmethod
    def text(cls) -> str:
        """The rule in a sentence or two: its docstring."""
        return inspect.cleandoc(cls.__doc__ or "")

    def judge(self, facts: Facts, limits: Sequence[Limit]) -> Check | None:
        """Hold the measure against every limit; the worst broken limit decides."""
        found = self.measure(facts)
        if found is None:
            return None
        if isinstance(found, Unmeasured):
            return Check(
                id=self.id,
                label=self.label,
                outcome=Outcome.UNKNOWN,
                advice=found.reason,
                limit=limits[0].words(self.unit),
                source=limits[0].source,
            )
        broken = sorted(
            (limit for limit in limits if not limit.holds(found.value)),
            key=lambda limit: limit.level is not Outcome.FAIL,
        )
        decisive = broken[0] if broken else limits[0]
        return Check(
            id=self.id,
            label=self.label,
            outcome=decisive.level if broken else Outcome.PASS,
            measured=found.shown if found.shown is not None else found.value,
            limit=decisive.words(self.unit),
            source=decisive.source,
            advice=(found.advice or self.advice) if broken else None,
            region=found.region,
        )

"""The report: what was checked of a file, against which limit, with which outcome."""

from __future__ import annotations

from typing import Any

from pydantic import computed_field

from palprep.rules.facts import Facts
from palprep.rules.roles import Outcome, Role
from palprep.values import Value

_REPORT_KEYS = ("path", "role", "profile", "verdict", "passed", "error", "checks", "facts")
_CHECK_KEYS = (
    *("id", "label", "outcome", "passed", "measured"),
    *("limit", "source", "advice", "region"),
)

Measure = bool | int | float | str | tuple[str, ...] | None
"""What a rule can have measured; JSON-able."""


class Region(Value):
    """A rectangle of the picture in pixels as shown, origin at the top left."""

    x: float
    y: float
    width: float
    height: float


class Check(Value):
    """One rule's judgement of one file."""

    id: str
    label: str
    outcome: Outcome
    measured: Measure = None
    limit: str | None = None
    """The limit in words, for example ``at least 512 px``."""
    source: str | None = None
    """Where the limit comes from."""
    advice: str | None = None
    """How to mend it; None when nothing is wrong."""
    region: Region | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def passed(self) -> bool | None:
        """True for pass and warn, False for fail, None for unknown."""
        return self.outcome.passed


class ReportError(Value):
    """Why a file could not be judged at all."""

    code: str
    message: str


class Report(Value):
    """All checks of one file. ``error`` is set when the file could not be read."""

    path: str
    role: Role | None
    profile: str
    error: ReportError | None = None
    checks: tuple[Check, ...] = ()
    facts: Facts | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> Outcome:
        """``fail`` when anything failed or the file is unreadable, else ``warn`` when
        anything warned, else ``pass``; ``unknown`` when nothing at all could be measured.
        """
        outcomes = {check.outcome for check in self.checks}
        if self.error is not None or Outcome.FAIL in outcomes:
            return Outcome.FAIL
        for outcome in (Outcome.WARN, Outcome.PASS):
            if outcome in outcomes:
                return outcome
        return Outcome.UNKNOWN

    @computed_field  # type: ignore[prop-decorator]
    @property
    def passed(self) -> bool:
        """True when nothing failed."""
        return self.verdict is not Outcome.FAIL

    def check(self, check_id: str) -> Check:
        """The check of that id. Raises KeyError when the report has none."""
        for check in self.checks:
            if check.id == check_id:
                return check
        raise KeyError(check_id)

    def having(self, *outcomes: Outcome) -> tuple[Check, ...]:
        """The checks with one of these outcomes, in the report's order."""
        return tuple(check for check in self.checks if check.outcome in outcomes)

    def to_json(self) -> dict[str, Any]:
        """The JSON object that ``palprep check --json`` prints, keys in the documented order."""
        data = self.model_dump(mode="json")
        order = ("path", "role", "profile", "verdict", "passed", "error", "checks", "facts")
        keys = (
            "id",
            "label",
            "outcome",
            "passed",
            "measured",
            "limit",
            "source",
            "advice",
            "region",
        )
        data["checks"] = [{key: check[key] for key in keys} for check in data["checks"]]
        return {key: data[key] for key in order}

"""The report: what was checked of a file, against which limit, with which outcome."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import Any, Self

from pydantic import Field, computed_field

from palprep.consent import ConsentFacts
from palprep.errors import PalprepError
from palprep.escaping import escaped
from palprep.facts import Facts
from palprep.rules.texts.words import TEXTS, Measure, counted, measure_words, unit_words
from palprep.values import Outcome, Rect, Role, Value

_REPORT_KEYS = ("path", "role", "profile", "verdict", "passed", "error", "checks", "facts")
_CHECK_KEYS = (
    *("id", "label", "outcome", "passed", "sentence", "measured"),
    *("limit", "source", "advice", "follows", "region"),
)


class Check(Value):
    """One rule's judgement of one file."""

    id: str
    label: str
    outcome: Outcome
    sentence: str = Field(default_factory=lambda check: check["label"])
    """The finding in words. The label stands for it in records that were written without."""
    measured: Measure = None
    limit: str | None = None
    """The limit in words, for example ``at least 512 px``."""
    source: str | None = None
    """Where the limit comes from."""
    at_least: float | None = None
    """The largest of the rule's lower bounds: a smaller measure does not pass."""
    at_most: float | None = None
    """The smallest of the rule's upper bounds: a larger measure does not pass."""
    advice: str | None = None
    """What to do about it; None when nothing is wrong."""
    follows: str | None = None
    """The id of the check that tells the same finding, where this one only follows from it."""
    region: Rect | None = None
    files: tuple[str, ...] = ()
    """The SHA-256, in hex, of both files that the check compares; empty for a check of one file."""

    @property
    def message(self) -> str:
        """The finding and what to do about it."""
        return f"{self.sentence} {self.advice}" if self.advice else self.sentence

    @property
    def measure_words(self) -> str:
        """What was measured, as people read it; a number with its unit."""
        rule, found = TEXTS.rules.get(self.id), self.measured
        if rule is None or isinstance(found, bool) or not isinstance(found, int | float):
            return measure_words(found)
        scale, suffix = unit_words(rule.unit)
        return f"{measure_words(found * scale)}{suffix}"

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
    checks: tuple[Check, ...] = Field(default=(), repr=False)
    left_out: tuple[str, ...] = ()
    """Ids of checks that were not asked for: those of the consent that another video holds."""
    facts: Facts | None = Field(default=None, repr=False)

    @classmethod
    def of_error(
        cls, path: str | Path, error: PalprepError, *, role: Role | None, profile: str
    ) -> Self:
        """The report on a file that could not be judged because of this error."""
        why = ReportError(code=error.code, message=error.message)
        return cls(path=str(path), role=role, profile=profile, error=why)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def verdict(self) -> Outcome:
        """``fail`` when anything failed or the file is unreadable, else ``warn`` when
        anything warned, else ``pass``; ``unknown`` when nothing at all could be measured.
        """
        outcomes = {check.outcome for check in self.checks}
        if self.error is not None:
            return Outcome.FAIL
        worst_first = (Outcome.FAIL, Outcome.WARN, Outcome.PASS)
        return next((each for each in worst_first if each in outcomes), Outcome.UNKNOWN)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def passed(self) -> bool:
        """True when nothing failed."""
        return self.verdict is not Outcome.FAIL

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed, in the report's order."""
        return self.having(Outcome.FAIL)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the file does not pass, a sentence for each finding; none where it passes."""
        if self.error is not None:
            return (self.error.message,)
        return tuple(check.sentence for check in self.told(Outcome.FAIL))

    @property
    def consent(self) -> ConsentFacts | None:
        """What was heard of the consent; None where nobody listened, or it is another video's."""
        return self.facts.consent if self.facts and not self.left_out else None

    def check(self, check_id: str) -> Check:
        """The check of that id. Raises KeyError when the report has none."""
        return {check.id: check for check in self.checks}[check_id]

    def having(self, *outcomes: Outcome) -> tuple[Check, ...]:
        """The checks with one of these outcomes, in the report's order."""
        return tuple(check for check in self.checks if check.outcome in outcomes)

    def told(self, *outcomes: Outcome) -> tuple[Check, ...]:
        """The checks with one of these outcomes that do not follow from another check: what is
        to be told, each finding once."""
        return tuple(check for check in self.having(*outcomes) if check.follows is None)

    def following(self, check: Check) -> tuple[Check, ...]:
        """The checks that follow from this one."""
        return tuple(each for each in self.checks if each.follows == check.id)

    def why(self, check: Check) -> str:
        """The check's sentence; of a statement of consent all its reasons, not the first alone."""
        consent = self.consent if check.id == "consent_spoken" else None
        return " ".join(consent.reasons if consent else ()) or check.sentence

    def to_json(self) -> dict[str, Any]:
        """The JSON object that ``palprep check --json`` prints, keys in the documented order."""
        data = self.model_dump(mode="json")
        data["checks"] = [{key: check[key] for key in _CHECK_KEYS} for check in data["checks"]]
        return {key: data[key] for key in _REPORT_KEYS}

    def __str__(self) -> str:
        """The report as plain text, as wide as the terminal: the verdict, then what was found,
        worst first, with what to do in a line of its own; how many checks passed.
        """
        role = f"{self.role.value}, " if self.role else ""
        lines = [f"{self.verdict.value.upper()}  {self.path}  ({role}{self.profile})"]
        if self.error is not None:
            lines += _wrapped("", self.error.message)
        for outcome in (Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN):
            for check in self.told(outcome):
                lines += _wrapped(f"{outcome.value:<8}", self.why(check))
                lines += _wrapped(" " * 8, check.advice or "")
        if passed := len(self.told(Outcome.PASS)):
            lines.append(f"pass    {counted(passed, 'check', 'checks')}")
        return escaped("\n".join(lines))


def _wrapped(mark: str, text: str) -> list[str]:
    """Text behind a mark, in lines that fit the terminal; none where it is empty."""
    # Longer lines are hard to read.
    columns = min(shutil.get_terminal_size().columns, 100)
    return textwrap.wrap(text, columns, initial_indent=mark, subsequent_indent=" " * len(mark))

"""What became of one person's file: the prepared output, or why there is none."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from palprep.consent.facts import ConsentFacts
from palprep.preflight.prepared import Prepared
from palprep.rules.report import Report
from palprep.values import Role, Value


class Asset(Value):
    """One file in one role: either ``prepared``, or with the report of the source.

    ``problem`` says why it could not be prepared, where no check of the report says it.
    """

    role: Role
    source: str
    source_sha256: str | None
    """None for a source that could not be read."""
    prepared: Prepared | None = None
    source_report: Report | None = None
    problem: str | None = None
    problem_in_file: bool = False
    """The file itself is why: the same file can be prepared no better another time."""
    seconds: float
    """Time spent on it, of the wall clock."""

    @model_validator(mode="after")
    def _one_report(self) -> Self:
        if (self.prepared is None) == (self.source_report is None):
            raise ValueError("an asset has the report of its output or of its source")
        return self

    @property
    def report(self) -> Report:
        """The report that counts: the output's if there is one."""
        report = self.prepared.report if self.prepared else self.source_report
        assert report is not None  # noqa: S101 -- by _one_report
        return report

    @property
    def consent(self) -> ConsentFacts | None:
        """What was heard of the consent statement; None where it was not listened for."""
        return self.report.facts.consent if self.report.facts else None

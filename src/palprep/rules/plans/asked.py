"""Which fixes the checks of a report ask for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from palprep.rules.plans.values import Reason
from palprep.rules.report import Report
from palprep.values import Outcome


def reasons_for(report: Report, fixes: Mapping[str, Iterable[str]]) -> tuple[Reason, ...]:
    """The fixes, in their order, that a check which did not pass asks for."""
    asking = not_passed(report)
    return tuple(
        Reason(fix=fix, answers=answered)
        for fix, checks in fixes.items()
        if (answered := tuple(check for check in checks if check in asking))
    )


def not_passed(report: Report) -> frozenset[str]:
    """Ids of the checks that failed or warned."""
    return frozenset(check.id for check in report.having(Outcome.FAIL, Outcome.WARN))

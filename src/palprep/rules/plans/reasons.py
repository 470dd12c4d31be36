"""Which checks ask for a fix, and which of the fixes that a plan knows answer them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from palprep.rules.plans.plan import Reason
from palprep.rules.profile import Profile
from palprep.rules.report import Report
from palprep.values import Outcome, Role


def reasons_for(report: Report, fixes: Mapping[str, Iterable[str]]) -> tuple[Reason, ...]:
    """The fixes, in their order, that a check which did not pass asks for."""
    wanting = wanting_of(report)
    return tuple(
        Reason(fix=fix, answers=answered)
        for fix, checks in fixes.items()
        if (answered := tuple(check for check in checks if check in wanting))
    )


def wanting_of(report: Report) -> frozenset[str]:
    """Ids of the checks that failed or warned."""
    return frozenset(check.id for check in report.having(Outcome.FAIL, Outcome.WARN))


def tightest_maximum(profile: Profile, role: Role, rule_id: str) -> float | None:
    """The smallest upper bound that the profile sets for the rule, if it sets one."""
    limits = profile.for_role(role).get(rule_id, ())
    return min((limit.max for limit in limits if limit.max is not None), default=None)


def tightest_minimum(
    profile: Profile, role: Role, rule_id: str, level: Outcome | None = None
) -> float | None:
    """The largest lower bound that the profile sets for the rule, at that level or at any."""
    limits = [each for each in profile.for_role(role).get(rule_id, ()) if each.min is not None]
    return max(
        (each.min for each in limits if each.min is not None and level in {None, each.level}),
        default=None,
    )

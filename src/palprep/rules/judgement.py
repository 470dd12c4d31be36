"""Judgement: the facts of one file against all limits of its role."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from palprep.facts import Facts
from palprep.rules.catalogue import RULES
from palprep.rules.consent_grading import grade_statement
from palprep.rules.profile import Profile
from palprep.rules.report import Check, Report
from palprep.rules.rule import Rule
from palprep.values import Outcome, Role


def report_on(
    path: str, facts: Facts, role: Role, profile: Profile, *, left_out: Collection[str] = ()
) -> Report:
    """The report on a file with these facts, its statement of consent graded by the profile.

    ``left_out`` are ids of checks that are not asked for.
    """
    known = facts
    if facts.statement is not None:
        consent = grade_statement(facts.statement, profile.consent)
        known = facts.model_copy(update={"consent": consent})
    return Report(
        path=path,
        role=role,
        profile=profile.name,
        checks=judge(known, role, profile, left_out=left_out),
        left_out=tuple(sorted(left_out)),
        facts=known,
    )


def judge(
    facts: Facts, role: Role, profile: Profile, *, left_out: Collection[str] = ()
) -> tuple[Check, ...]:
    """Every check that the profile asks for in that role, in the profile's order.

    A rule that does not apply to such a file gives no check, and neither does one that is
    ``left_out``.
    """
    checks = (
        rule.judge(facts, limits)
        for rule_id, limits in profile.for_role(role).items()
        if rule_id not in left_out and isinstance(rule := RULES[rule_id], Rule)
    )
    return _told_once([check for check in checks if check is not None])


_GRAVEST_FIRST = (Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN)


def _told_once(checks: Sequence[Check]) -> tuple[Check, ...]:
    """The checks, with those marked that follow from another one.

    Checks that say the same sentence have one cause. The gravest of them tells it, and of
    several the first.
    """
    telling: dict[str, str] = {}
    for outcome in _GRAVEST_FIRST:
        for check in checks:
            if check.outcome is outcome:
                telling.setdefault(check.sentence, check.id)

    def marked(check: Check) -> Check:
        teller = telling.get(check.sentence, check.id)
        follows = check.outcome is not Outcome.PASS and teller != check.id
        return check.model_copy(update={"follows": teller}) if follows else check

    return tuple(map(marked, checks))

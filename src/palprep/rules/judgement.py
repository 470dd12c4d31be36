"""Judgement: the facts of one file against all limits of its role."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from palprep.errors import ProfileError
from palprep.facts import Facts
from palprep.rules.catalogue import RULES
from palprep.rules.consent_grading import graded
from palprep.rules.profile import Profile
from palprep.rules.report import Check, Report
from palprep.rules.rule import Checked, Rule
from palprep.values import Outcome, Role


def report_on(
    path: str, facts: Facts, role: Role, profile: Profile, *, left_out: Collection[str] = ()
) -> Report:
    """The report on a file with these facts, its statement of consent graded by the profile.

    ``left_out`` are ids of checks that are not asked for. Raises ProfileError when the profile
    names a rule that does not exist.
    """
    known = graded(facts, profile.consent)
    return Report(
        path=path,
        role=role,
        profile=profile.name,
        checks=judge(known, role, profile, left_out=left_out),
        left_out=tuple(sorted(left_out)),
        facts=known,
    )


def judge(
    facts: Facts,
    role: Role,
    profile: Profile,
    rules: Mapping[str, Checked] = RULES,
    *,
    left_out: Collection[str] = (),
) -> tuple[Check, ...]:
    """Every check that the profile asks for in that role, in the profile's order.

    A rule that does not apply to such a file gives no check, and neither does one that is
    ``left_out``. Raises ProfileError when the profile names a rule that does not exist.
    """
    asked = {
        rule_id: limits
        for rule_id, limits in profile.for_role(role).items()
        if rule_id not in left_out
    }
    checks = (
        _rule(rule_id, profile, rules).judge(facts, limits) for rule_id, limits in asked.items()
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


def _rule(rule_id: str, profile: Profile, rules: Mapping[str, Checked]) -> Rule[Any]:
    rule = rules.get(rule_id)
    if isinstance(rule, Rule):
        return rule
    if rule is not None:
        raise ProfileError(
            f"Profile {profile.name} asks for {rule_id} under a role, but it compares two files: "
            f"write [[pairs.{rule_id}]]"
        )
    near = difflib.get_close_matches(rule_id, rules, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ProfileError(f"Profile {profile.name} asks for an unknown rule {rule_id!r}{hint}")

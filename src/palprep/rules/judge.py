"""Judgement: the facts of one file against all limits of its role."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from palprep.errors import ProfileError
from palprep.facts.facts import Facts
from palprep.rules.profile import Profile
from palprep.rules.registry import RULES
from palprep.rules.report import Check
from palprep.rules.rule import Rule
from palprep.values import Role


def judge(
    facts: Facts, role: Role, profile: Profile, rules: Mapping[str, Rule] = RULES
) -> tuple[Check, ...]:
    """Every check that the profile asks for in that role, in the profile's order.

    A rule that does not apply to such a file gives no check. Raises ProfileError when the
    profile names a rule that does not exist.
    """
    checks = (
        _rule(rule_id, profile, rules).judge(facts, limits)
        for rule_id, limits in profile.for_role(role).items()
    )
    return tuple(check for check in checks if check is not None)


def _rule(rule_id: str, profile: Profile, rules: Mapping[str, Rule]) -> Rule:
    try:
        return rules[rule_id]
    except KeyError:
        near = difflib.get_close_matches(rule_id, rules, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ProfileError(
            f"Profile {profile.name} asks for an unknown rule {rule_id!r}{hint}"
        ) from None

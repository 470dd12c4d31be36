"""The limits of a profile, as rows to read."""

from __future__ import annotations

from typing import NamedTuple

from palprep.rules.profile import Limit, Profile
from palprep.rules.registry import RULES
from palprep.values import Role


class Row(NamedTuple):
    """One limit of one check."""

    check: str
    label: str
    words: str
    limit: Limit


def limits_by_role(profile: Profile) -> tuple[tuple[Role, tuple[Row, ...]], ...]:
    """Every role that the profile knows, with its limits in the order of reports."""
    return tuple(
        (
            role,
            tuple(
                Row(check, RULES[check].label, limit.words(RULES[check].unit), limit)
                for check, limits in profile.for_role(role).items()
                for limit in limits
            ),
        )
        for role in Role
        if profile.for_role(role)
    )

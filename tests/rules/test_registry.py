"""Every id that can stand in a report is known wherever people look it up."""

from __future__ import annotations

import re

from palprep.api.records.replies import FACE_CHECKS
from palprep.rules.catalogue import PORTRAIT_CHECKS, RULES
from palprep.rules.consent.checks import CONSENT_CHECKS
from palprep.rules.profile import PAIR_CHECKS
from palprep.rules.rule import Rule
from palprep.rules.texts.words import TEXTS


def test_rules_are_found_by_their_modules() -> None:
    assert set(FACE_CHECKS) <= PORTRAIT_CHECKS <= set(RULES)
    assert set(RULES) >= CONSENT_CHECKS
    assert "same_person" in RULES
    assert all(re.fullmatch(r"[a-z][a-z0-9_]+", rule_id) for rule_id in RULES)
    assert set(RULES) == set(TEXTS.rules)
    assert {rule_id for rule_id, rule in RULES.items() if not isinstance(rule, Rule)} == PAIR_CHECKS

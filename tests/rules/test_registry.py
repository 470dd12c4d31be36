"""Every id that can stand in a report is known wherever people look it up."""

from __future__ import annotations

import re

import pytest

from palprep.api import FACE_CHECKS
from palprep.errors import ProfileError
from palprep.rules.catalogue import PORTRAIT_CHECKS, RULES
from palprep.rules.consent import CONSENT_CHECKS
from palprep.rules.judgement import judge
from palprep.rules.profile import load_profile
from palprep.rules.texts import TEXTS
from palprep.values import Role


def test_rules_are_found_by_their_modules() -> None:
    assert set(FACE_CHECKS) <= PORTRAIT_CHECKS <= set(RULES)
    assert set(RULES) >= CONSENT_CHECKS
    assert "same_person" in RULES
    assert all(re.fullmatch(r"[a-z][a-z0-9_]+", rule_id) for rule_id in RULES)
    assert set(RULES) == set(TEXTS.rules)


def test_a_rule_of_two_files_has_no_place_under_a_role(image_facts) -> None:
    profile = load_profile()
    wrong = profile.model_copy(update={"limits": {Role.FACE_IMAGE: profile.pairs}})
    with pytest.raises(ProfileError, match=r"\[\[pairs.same_person\]\]"):
        judge(image_facts(), Role.FACE_IMAGE, wrong)

"""The check of the statement's words, as reports hold it."""

from __future__ import annotations

from palprep.rules import Check
from palprep.values import Outcome


def spoken(outcome):
    """The check of the statement's words."""
    return Check(id="consent_spoken", label="Consent statement", outcome=outcome, measured="x")


GIVEN = (spoken(Outcome.PASS),)
"""The checks of a video in which consent was heard."""

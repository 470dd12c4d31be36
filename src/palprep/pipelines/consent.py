"""The consent gate: whether a replica may be made of a video.

Consent is given in the opening of the training video, or in a video of its own. The
statement must have been heard, and the files must show one person. Pure functions of reports.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from palprep.rules.consent import CONSENT_CHECKS, lacks_consent
from palprep.rules.report import Check, Report
from palprep.values import Outcome


class Judged(Protocol):
    """A file of the user's with the report that counts: an asset, or a prepared file."""

    @property
    def source(self) -> str: ...
    @property
    def report(self) -> Report: ...


def missing_consent(video: Judged | None, apart: Judged | None) -> tuple[str, ...]:
    """What is missing of the consent, one sentence each; empty when it was heard and matches.

    ``video`` is what a replica would be trained from, ``apart`` a video of the statement alone.
    What failed in either is missing, also where the other one would do: what was listened for is
    never passed over. Without ``video`` nothing is trained, and nothing has to be heard.
    """
    failed = tuple(
        f"{named(each)}: {check.message}"
        for each in (video, apart)
        if each is not None
        for check in each.report.having(Outcome.FAIL)
        if check.id in CONSENT_CHECKS
    )
    if failed or video is None:
        return failed
    lacking = lacks_consent(video.report, apart.report if apart else None)
    return (f"{named(video)}: {lacking}",) if lacking else ()


def different_people(compared: Iterable[Check]) -> tuple[str, ...]:
    """Which files show different people, one sentence each; empty when none are known to."""
    return tuple(check.message for check in compared if check.outcome is Outcome.FAIL)


def named(judged: Judged) -> str:
    """The file as its owner knows it, with its role."""
    role = judged.report.role
    name = Path(judged.source).name
    return f"{name} ({role.value})" if role else name

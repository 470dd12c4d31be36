"""From a report to the smallest fix that answers it.

Only checks that did not pass ask for something. Each fix names the checks it answers. A file
in which nothing can be fixed gets no plan at all.
"""

from __future__ import annotations

from palprep.rules.plans import image, values, video, voice
from palprep.rules.profile import Profile
from palprep.rules.report import Report
from palprep.values import Role


def plan(report: Report, profile: Profile) -> values.Plan | None:
    """The smallest fix for this report, or None when nothing can be fixed or nothing needs it."""
    if report.facts is None:
        return None
    if report.role is Role.FACE_IMAGE:
        return image.plan_image(report, report.facts, profile)
    make = voice.plan_voice if report.role is Role.VOICE_AUDIO else video.plan_video
    return make(report, report.facts, profile)


def answered(report: Report, profile: Profile) -> frozenset[str]:
    """The ids of the checks that the smallest fix for this report answers."""
    planned = plan(report, profile)
    reasons = planned.reasons if planned else ()
    return frozenset(each for reason in reasons for each in reason.answers)

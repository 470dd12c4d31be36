"""From a report to the smallest repair that answers it.

Only checks that did not pass ask for something, each fix names the checks it answers, and a
file about which nothing can be mended gets no plan at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from palprep.errors import UsageError
from palprep.facts.facts import Facts
from palprep.rules.plans.image import mend
from palprep.rules.plans.plan import ImagePlan, Plan
from palprep.rules.plans.reasons import reasons_for, tightest_maximum, wanting_of
from palprep.rules.plans.video import plan_video
from palprep.rules.plans.voice import plan_voice
from palprep.rules.profile import Profile
from palprep.rules.report import Report
from palprep.values import Role

SERVICE_BASE64_CHARS = 29_360_128
"""Validate Face Image takes no more, whatever a profile leaves out."""

_STILL_FIXES = {
    "convert": ("image_format", "image_training_format"),
    "orient": ("image_upright",),
    "to_srgb": ("image_colour",),
    "flatten": ("image_alpha",),
    "first_frame": ("image_frames",),
    "scale_down": ("image_long_side",),
    "fit_base64": ("image_base64_length",),
    "strip_metadata": ("image_metadata",),
}


def plan(report: Report, profile: Profile) -> Plan | None:
    """The smallest repair for this report, or None when nothing can or need be mended.

    Raises UsageError for a report without facts or role: there is nothing to plan for.
    """
    if report.facts is None or report.role is None:
        raise UsageError(f"{report.path} could not be read, so no repair can be planned for it")
    return _PLANNERS[report.role](report, report.facts, profile)


def _plan_still(report: Report, facts: Facts, profile: Profile) -> ImagePlan | None:
    reasons, mending = reasons_for(report, _STILL_FIXES), {}
    if facts.portrait is not None:
        why, found = mend(facts.portrait, wanting_of(report))
        reasons, mending = (*reasons, *why), found._asdict()
    if facts.image is None or not reasons:
        return None
    return ImagePlan(
        **mending,
        reasons=reasons,
        formats=("png", "jpeg") if facts.image.format == "png" else ("jpeg",),
        max_base64_chars=_whole(profile, "image_base64_length") or SERVICE_BASE64_CHARS,
        max_side_px=_whole(profile, "image_long_side"),
    )


def _whole(profile: Profile, rule_id: str) -> int | None:
    maximum = tightest_maximum(profile, Role.FACE_IMAGE, rule_id)
    return None if maximum is None else int(maximum)


_PLANNERS: Mapping[Role, Callable[[Report, Facts, Profile], Plan | None]] = {
    Role.FACE_IMAGE: _plan_still,
    Role.VOICE_AUDIO: plan_voice,
    Role.TRAINING_VIDEO: plan_video,
    Role.CONSENT_VIDEO: plan_video,
}

"""From a report to the smallest fix that answers it.

Only checks that did not pass ask for something. Each fix names the checks it answers. A file
in which nothing can be fixed gets no plan at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from palprep.api import MAX_IMAGE_BASE64_CHARS
from palprep.errors import UsageError
from palprep.facts import Facts
from palprep.rules.image import image_memory
from palprep.rules.plans.image import adjustments
from palprep.rules.plans.values import ImagePlan, Plan, not_passed, reasons_for
from palprep.rules.plans.video import plan_video
from palprep.rules.plans.voice import plan_voice
from palprep.rules.profile import Profile
from palprep.rules.report import Report
from palprep.values import Outcome, Role

_IMAGE_FIXES = {
    "convert": ("image_format", "image_training_format"),
    "orient": ("image_upright",),
    "to_srgb": ("image_srgb",),
    "flatten": ("image_alpha",),
    "first_frame": ("image_frames",),
    "scale_down": ("image_long_side",),
    "fit_base64": ("image_base64_length",),
    "strip_metadata": ("image_metadata",),
}


def plan(report: Report, profile: Profile) -> Plan | None:
    """The smallest fix for this report, or None when nothing can be fixed or nothing needs it.

    Raises UsageError for a report without facts or role: there is nothing to plan for.
    """
    if report.facts is None or report.role is None:
        raise UsageError(f"{report.path} could not be read, so no fix can be planned for it")
    return _PLANNERS[report.role](report, report.facts, profile)


def _plan_image(report: Report, facts: Facts, profile: Profile) -> ImagePlan | None:
    reasons, adjusted = reasons_for(report, _IMAGE_FIXES), {}
    if facts.portrait is not None:
        why, found = adjustments(facts.portrait, not_passed(report))
        reasons, adjusted = (*reasons, *why), found._asdict()
    if facts.image is None or not reasons:
        return None
    return ImagePlan(
        **adjusted,
        reasons=reasons,
        formats=("png", "jpeg") if facts.image.format == "png" else ("jpeg",),
        max_base64_chars=_whole(profile, "image_base64_length") or MAX_IMAGE_BASE64_CHARS,
        max_side_px=_whole(profile, "image_long_side"),
        max_memory_mb=profile.tightest_maximum(Role.FACE_IMAGE, image_memory.id, Outcome.FAIL),
    )


def _whole(profile: Profile, rule_id: str) -> int | None:
    maximum = profile.tightest_maximum(Role.FACE_IMAGE, rule_id)
    return None if maximum is None else int(maximum)


_PLANNERS: Mapping[Role, Callable[[Report, Facts, Profile], Plan | None]] = {
    Role.FACE_IMAGE: _plan_image,
    Role.VOICE_AUDIO: plan_voice,
    Role.TRAINING_VIDEO: plan_video,
    Role.CONSENT_VIDEO: plan_video,
}

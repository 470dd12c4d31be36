"""A local report in the shape of the service's own face image validation result.

So that what reads the service's verdicts reads local ones too. Some of the service's
``details`` describe problems: there, true is not well. Checks that stayed unknown are left
out of both lists, as a service that does not run a check leaves it out.
"""

from __future__ import annotations

from typing import Any, Final

from palprep.rules.report import Check, Report

SERVICE_CHECKS: Final = (
    "image_quality_acceptable",
    "human_like_subject",
    "appears_under_18",
    "only_one_person_visible",
    "person_centered",
    "head_fully_in_frame",
    "looking_straight_at_camera",
    "pose_suitable_for_replica",
    "face_substantially_obscured",
    "chest_up_framing_acceptable",
    "no_nudity",
    "celebrity_or_copyright_character",
)
"""The check ids that the specification shows, in its order."""

PROBLEMS: Final = frozenset(
    {"appears_under_18", "face_substantially_obscured", "celebrity_or_copyright_character"}
)
"""Details that are true when something is wrong."""


def validation_result(report: Report, *, legacy: bool = False) -> dict[str, Any]:
    """``passed``, ``message``, ``checks`` and ``details`` as the specification shows them.

    ``legacy`` names the pose in ``details`` as the legacy endpoint does; the check ids are the
    same on both. A file that could not be read fails with its error as the message.
    """
    by_id = {check.id: check for check in report.checks}
    measured = [
        by_id[name] for name in SERVICE_CHECKS if name in by_id and by_id[name].passed is not None
    ]
    failed = [check for check in measured if not check.passed]
    if report.error is not None:
        message = report.error.message
    elif failed:
        message = f"{len(failed)} of {len(measured)} checks failed."
    else:
        message = f"All {len(measured)} checks that ran locally passed."
    return {
        "passed": report.error is None and not failed,
        "message": message,
        "checks": [
            {"id": check.id, "label": check.label, "passed": check.passed} for check in measured
        ],
        "details": {
            "scene_description": _scene(report),
            **{_detail(check, legacy=legacy): _observed(check) for check in measured},
            "issues": [_issue(check) for check in failed],
        },
    }


def _detail(check: Check, *, legacy: bool) -> str:
    if check.id == "pose_suitable_for_replica" and not legacy:
        return "pose_suitable_for_face"
    return check.id


def _observed(check: Check) -> bool:
    return bool(check.passed) is not (check.id in PROBLEMS)


def _issue(check: Check) -> str:
    return f"{check.label}: {check.measured}, {check.limit} wanted. {check.advice or ''}".strip()


def _scene(report: Report) -> str:
    picture = report.facts.portrait if report.facts else None
    if picture is None:
        return "The picture was not looked at."
    if picture.framing is None:
        return f"A picture of {picture.width} x {picture.height} px without a face."
    count = "one person" if picture.people == 1 else f"{picture.people} people"
    share = picture.framing.face_height_share
    return (
        f"A picture of {picture.width} x {picture.height} px with {count}; "
        f"the largest face takes {share:.0%} of the height."
    )

"""From a report to the smallest repair that answers it.

Only checks that did not pass ask for something, each fix names the checks it answers, and a
file about which nothing can be mended gets no plan at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from palprep.errors import UsageError
from palprep.rules.facts import Facts
from palprep.rules.plan import Plan, Reason, SoundPlan, StillPlan, VideoPlan
from palprep.rules.profile import Profile
from palprep.rules.reframe import mend
from palprep.rules.report import Report
from palprep.rules.roles import Outcome, Role

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
_SOUND_FIXES = {"extract": ("audio_only",), "convert": ("audio_format", "audio_channels")}
_VIDEO_FIXES = {
    "remux": ("video_format", "video_index_in_front"),
    "transcode_video": ("video_codec", "video_pixel_format", "video_constant_frame_rate"),
    "transcode_audio": ("video_audio_codec",),
}
_COPY_CONTAINERS = {
    "aac": "m4a",
    "mp3": "mp3",
    "flac": "flac",
    "opus": "ogg",
    "vorbis": "ogg",
    "pcm_s16le": "wav",
    "pcm_s24le": "wav",
}
"""Container for a stream copy of each codec that the service's file types can hold."""


def plan(report: Report, profile: Profile) -> Plan | None:
    """The smallest repair for this report, or None when nothing can or need be mended.

    Raises UsageError for a report without facts or role: there is nothing to plan for.
    """
    if report.facts is None or report.role is None:
        raise UsageError(f"{report.path} could not be read, so no repair can be planned for it")
    return _PLANNERS[report.role](report, report.facts, profile)


def _plan_still(report: Report, facts: Facts, profile: Profile) -> StillPlan | None:
    reasons, mending = _reasons(report, _STILL_FIXES), {}
    if facts.picture is not None:
        wanting = frozenset(check.id for check in report.having(Outcome.FAIL, Outcome.WARN))
        why, found = mend(facts.picture, wanting)
        reasons, mending = (*reasons, *why), found._asdict()
    if facts.still is None or not reasons:
        return None
    return StillPlan(
        **mending,
        reasons=reasons,
        formats=("png", "jpeg") if facts.still.format == "png" else ("jpeg",),
        max_base64_chars=_maximum(profile, "image_base64_length") or SERVICE_BASE64_CHARS,
        max_side_px=_maximum(profile, "image_long_side"),
    )


def _plan_sound(report: Report, facts: Facts, profile: Profile) -> SoundPlan | None:  # noqa: ARG001
    reasons = _reasons(report, _SOUND_FIXES)
    sound = facts.audio
    if sound is None or not reasons:
        return None
    container = _COPY_CONTAINERS.get(sound.stream.codec)
    copy = container is not None and all(reason.fix == "extract" for reason in reasons)
    return SoundPlan(
        reasons=reasons,
        stream=sound.stream.index,
        copy_codec=copy,
        container=container if copy else "wav",
    )


def _plan_video(report: Report, facts: Facts, profile: Profile) -> VideoPlan | None:  # noqa: ARG001
    reasons = _reasons(report, _VIDEO_FIXES)
    if facts.video is None or not reasons:
        return None
    asked = {reason.fix for reason in reasons}
    return VideoPlan(
        reasons=reasons,
        copy_video="transcode_video" not in asked,
        copy_audio="transcode_audio" not in asked,
    )


_PLANNERS: Mapping[Role, Callable[[Report, Facts, Profile], Plan | None]] = {
    Role.FACE_IMAGE: _plan_still,
    Role.VOICE_AUDIO: _plan_sound,
    Role.TRAINING_VIDEO: _plan_video,
    Role.CONSENT_VIDEO: _plan_video,
}


def _reasons(report: Report, fixes: Mapping[str, Iterable[str]]) -> tuple[Reason, ...]:
    wanting = {check.id for check in report.having(Outcome.FAIL, Outcome.WARN)}
    return tuple(
        Reason(fix=fix, answers=answered)
        for fix, checks in fixes.items()
        if (answered := tuple(check for check in checks if check in wanting))
    )


def _maximum(profile: Profile, rule_id: str) -> int | None:
    """The tightest upper bound that the profile sets for a portrait, if it sets one."""
    limits = profile.for_role(Role.FACE_IMAGE).get(rule_id, ())
    return min((int(limit.max) for limit in limits if limit.max is not None), default=None)

"""What mends a training or consent video."""

from __future__ import annotations

from palprep.rules.facts import Facts
from palprep.rules.plan import Reason, VideoPlan, Window
from palprep.rules.profile import Profile
from palprep.rules.reasons import reasons_for, tightest_maximum
from palprep.rules.report import Report
from palprep.rules.roles import Role
from palprep.speech.facts import Span

_FIXES = {
    "remux": ("video_format", "video_index_in_front"),
    "transcode_video": ("video_codec", "video_pixel_format", "video_constant_frame_rate"),
    "transcode_audio": ("video_audio_codec",),
    "resync": ("video_sound_offset",),
    "fit_size": ("file_size",),
}

LEAD_S = 0.3
"""Kept before the first word of a statement, so that its onset is not cut."""

TAIL_S = 0.5
"""Kept after the last word of a statement."""

BYTES_PER_MB = 1_000_000


def plan_video(report: Report, facts: Facts, profile: Profile) -> VideoPlan | None:
    """Copy what is right, encode what is not, and cut where the statement or the length asks.

    A picture that is cut at its start has to be encoded: packets begin at key frames only.
    """
    video = facts.video
    if video is None or report.role is None:
        return None
    reasons = reasons_for(report, _FIXES)
    trim = _trim(facts, report.role, profile)
    if trim is not None:
        reasons = (*reasons, _trimming(trim, facts))
    if not reasons:
        return None
    fixes = {reason.fix for reason in reasons}
    cut_inside = trim is not None and trim.start_s > 0
    fitted = "fit_size" in fixes
    resync = "resync" in fixes and video.timing is not None and not fitted
    limit_mb = tightest_maximum(profile, report.role, "file_size")
    return VideoPlan(
        reasons=reasons,
        copy_video=not ("transcode_video" in fixes or cut_inside or fitted),
        copy_audio=not ("transcode_audio" in fixes or cut_inside or fitted or resync),
        audio_stream=video.sound.stream.index if video.sound else None,
        trim=trim,
        audio_delay_s=_delay(facts) if resync else 0.0,
        max_size_bytes=int(limit_mb * BYTES_PER_MB) if fitted and limit_mb else None,
    )


def _delay(facts: Facts) -> float:
    timing = facts.video.timing if facts.video else None
    offset = timing.sound_offset_s if timing else None
    return 0.0 if offset is None else -round(offset, 3)


def _trim(facts: Facts, role: Role, profile: Profile) -> Window | None:
    """The window to keep, None when the whole is right."""
    video = facts.video
    if video is None:
        return None
    start, end = 0.0, video.duration_s
    consent = facts.consent
    spoken = consent is not None and consent.outcome in {"pass", "warn"}
    if spoken and consent and consent.starts_at is not None and consent.said_before:
        start = max(0.0, consent.starts_at - LEAD_S)
    longest = tightest_maximum(profile, role, "video_duration")
    if longest is not None and end - start > longest:
        end = start + longest
        if role is Role.CONSENT_VIDEO:
            statement_end = consent.ends_at if spoken and consent else None
            if statement_end is None or statement_end + TAIL_S > end:
                return None  # Cutting might cut the statement.
            end = statement_end + TAIL_S
        else:
            end = _pause_before(end, facts)
    if start == 0.0 and end == video.duration_s:
        return None
    return Window(start_s=round(start, 3), end_s=round(end, 3))


def _pause_before(moment: float, facts: Facts) -> float:
    """The last moment, at ``moment`` or before, at which nobody speaks."""
    speech: tuple[Span, ...] = facts.voice.speech if facts.voice else ()
    inside = next((span for span in speech if span.start_s < moment < span.end_s), None)
    return moment if inside is None else inside.start_s


def _trimming(trim: Window, facts: Facts) -> Reason:
    opens = ("consent_first", "consent_start") if trim.start_s > 0 else ()
    shortened = facts.video is not None and trim.end_s < facts.video.duration_s
    return Reason(fix="trim", answers=(*opens, *(("video_duration",) if shortened else ())))

"""Plans for a training or consent video, and for the statement cut out as a video of its own."""

from __future__ import annotations

import math

from palprep.facts import Facts, Timeline
from palprep.media import VideoFacts
from palprep.rules.consent.checks import consent_spoken
from palprep.rules.plans import values
from palprep.rules.plans.takes import TAIL_S, before_word, best_take, possible_starts
from palprep.rules.plans.voice import mix_of
from palprep.rules.profile import Profile
from palprep.rules.report import Report
from palprep.rules.video import base_layer_shows
from palprep.rules.video_person import facing_limits
from palprep.values import Outcome, Role, Span

_FIXES = {
    "remux": ("video_format", "video_faststart", "single_streams"),
    "transcode_video": (
        *("video_codec", "video_pixel_format", "video_constant_frame_rate"),
        *("video_dynamic_range", "video_upright", "video_progressive"),
    ),
    "transcode_audio": ("video_audio_codec",),
    "mix": ("voice_stereo",),
    "resync": ("av_sync_offset", "av_sync_drift"),
    "fit_size": ("file_size",),
}

_ENCODE_VIDEO = frozenset({"transcode_video", "turn"})
"""Fixes that change the picture."""

_ENCODE_AUDIO = frozenset({"resync", "transcode_audio", "mix"})

_CUT_AWAY = ("video_cuts", "video_freezes", "video_black", "video_exposure_steps")
"""Checks that a stretch of the video may pass where the whole does not."""

_OPENS = ("consent_first", "consent_start")
"""Checks that pass where the video opens with the statement."""

_AFTER_S = 0.2
"""Sound often lasts a little longer than the picture."""

_NOT_FOR_A_CLIP = frozenset({"trim", "fit_size"})
"""Fixes of the whole that the clip gets by being cut, or does not need."""


def plan_video(report: Report, facts: Facts, profile: Profile) -> values.VideoPlan | None:
    """Copy what is right, encode what is not, and cut for the statement or the length. What only
    has tags that tell of a person or a place is copied without them.

    A video that is cut at its start must be encoded: packets begin at key frames only. None
    where nothing can be fixed, as in Dolby Vision whose colours other players cannot read, and
    where all but the first of joined recordings would be lost.
    """
    video = facts.video
    if video is None or video.joined or report.role is None or not base_layer_shows(video):
        return None
    reasons = values.reasons_for(report, _FIXES)
    trim, why = _trimming(report, facts, profile) or _to_last_picture(report, facts) or (None, None)
    if why:
        reasons = (*reasons, why)
    turned_deg = facts.footage.turned_deg if facts.footage else 0
    if turned_deg:
        reasons = (*reasons, values.Reason(fix="turn", answers=("head_level",)))
    if video.described:
        reasons = (*reasons, values.Reason(fix="strip_metadata"))
    if not reasons:
        return None
    fixes = {reason.fix for reason in reasons}
    if "resync" in fixes and (why is None or "av_sync_end" in why.answers):
        trim = _from_first_frame(facts) or trim
    encoded = "fit_size" in fixes or (trim is not None and trim.start_s > 0)
    limit_mb = profile.tightest_maximum(report.role, "file_size")
    return values.VideoPlan(
        reasons=reasons,
        turned_deg=turned_deg,
        **_copied(video, fixes, encoded=encoded),
        mix=mix_of(facts.voice) if facts.voice and "mix" in fixes else "keep",
        trim=trim,
        max_size_bytes=int(limit_mb * 1e6) if "fit_size" in fixes and limit_mb else None,
    )


def _copied(video: VideoFacts, fixes: set[str], *, encoded: bool) -> dict[str, bool]:
    """Which streams need no encoding: those that MP4 holds, and no fix changes."""
    audio = video.audio is None or video.audio.stream.codec in values.MP4_AUDIO
    return {
        "copy_video": video.codec in values.MP4_VIDEO and not (encoded or fixes & _ENCODE_VIDEO),
        "copy_audio": audio and not (encoded or fixes & _ENCODE_AUDIO),
    }


def _from_first_frame(facts: Facts) -> Span | None:
    """The video without the audio before its first frame; None where no audio is so early.

    Late audio needs no cut: its encode begins with silence.
    """
    line, timing = facts.timeline, facts.video.timing if facts.video else None
    early_s = -(timing.audio_offset_s or 0.0) if timing else 0.0
    if line is None or early_s <= 0:
        return None
    # Rounded up, it would leave the first frame out.
    return Span(start_s=math.floor(1000 * early_s) / 1000, end_s=round(line.duration_s, 3))


def _trimming(report: Report, facts: Facts, profile: Profile) -> tuple[Span, values.Reason] | None:
    """What to keep and why; None when the whole is right, or no better part is known."""
    line, role = facts.timeline, report.role
    if line is None or role is None or _doubted_beside(facts):
        return None
    longest = profile.tightest_maximum(role, "video_duration") or math.inf
    open_checks = values.not_passed(report) & {"video_duration", *_OPENS, *_CUT_AWAY}
    # The statement was heard, and something else, or a long silence, before it.
    said_before = facts.consent is not None and bool(facts.consent.said_before)
    late = _stated(facts) is not None and (said_before or bool(open_checks & {*_OPENS}))
    if role is Role.CONSENT_VIDEO:
        found = _around_statement(facts, line, longest, late=late)
    elif late or open_checks & {*_CUT_AWAY} or round(line.duration_s, 1) > longest:
        found = _best_window(report, facts, line, profile, longest, late=late)
    else:
        return None
    return found and (
        found[0],
        values.Reason(fix="trim", answers=tuple(sorted(open_checks)), why=found[1]),
    )


def _to_last_picture(report: Report, facts: Facts) -> tuple[Span, values.Reason] | None:
    """All of the video without the audio after it; of a consent video only where it is known that
    nothing is said there: a cut would hide it."""
    video, voice = facts.video, facts.voice
    if video is None or video.timing is None or "av_sync_end" not in values.not_passed(report):
        return None
    late_s = video.timing.audio_offset_s or 0.0
    unheard = voice is None or any(late_s + each.end_s > video.duration_s for each in voice.speech)
    if report.role is Role.CONSENT_VIDEO and unheard:
        return None
    why = "the audio goes on after the last picture"
    reason = values.Reason(fix="trim", answers=("av_sync_end",), why=why)
    # A player begins with audio that comes first.
    end_s = video.duration_s - min(0.0, late_s)
    return Span(start_s=0.0, end_s=round(end_s, 3)), reason


def _around_statement(
    facts: Facts, line: Timeline, longest_s: float, *, late: bool
) -> tuple[Span, str] | None:
    """From the statement's first word; only to its last one where the rest is too long."""
    stated, code = _stated(facts), _code(facts)
    if stated is None:
        return None  # Cutting might cut the statement.
    start = before_word(line, stated.start_s) if late else 0.0
    end = min(line.duration_s, code.start_s) if code else line.duration_s
    if round(end - start, 1) > longest_s:
        end = stated.end_s + TAIL_S
        # What is said later was perhaps not listened to: a cut would hide it.
        if round(end - start, 1) > longest_s or any(span.end_s > end for span in line.speech):
            return None
    if start == 0.0 and end == line.duration_s:
        return None
    why = "holds the whole statement" + (", and not the code after it" if code else "")
    return Span(start_s=round(start, 3), end_s=round(end, 3)), why


def _best_window(
    report: Report, facts: Facts, line: Timeline, profile: Profile, longest_s: float, *, late: bool
) -> tuple[Span, str] | None:
    stated, starts = _stated(facts), _starts(report, facts, line, late=late)
    to_end_s = line.duration_s - starts[0]
    stated_s = stated.end_s - starts[0] if stated else 0.0
    least_s = profile.tightest_minimum(Role.TRAINING_VIDEO, "video_duration", Outcome.FAIL) or 0.0
    take = best_take(
        line,
        shortest_s=min(max(least_s, stated_s), to_end_s),
        longest_s=longest_s,
        wanted_s=profile.tightest_minimum(Role.TRAINING_VIDEO, "video_duration") or 0.0,
        facing=facing_limits(report),
        starts=starts,
    )
    if take is None or (take.start_s == 0.0 and take.end_s >= round(line.duration_s, 3)):
        return None
    why = "opens with the statement of consent, " if stated else ""
    return Span(start_s=take.start_s, end_s=take.end_s), why + take.words()


def _starts(report: Report, facts: Facts, line: Timeline, *, late: bool) -> tuple[float, ...]:
    """Where the take may start. A video that was not listened to may open with the statement."""
    if (stated := _stated(facts)) is not None:
        start = before_word(line, stated.start_s)
        return (start,) if late else (0.0, start)
    apart = consent_spoken.id in report.left_out
    if apart or (facts.consent is not None and facts.consent.outcome is Outcome.FAIL):
        return possible_starts(line)
    first = line.speech[0].start_s if line.speech else line.duration_s
    return tuple(start for start in possible_starts(line) if start <= first)


def _stated(facts: Facts) -> Span | None:
    """When the statement is spoken, by the timeline; None where it was not heard as required, or
    goes on after the last picture."""
    line, consent = facts.timeline, facts.consent
    stated = line.consent if line and consent and consent.outcome.passed else None
    within = stated and line and stated.end_s <= line.duration_s + _AFTER_S
    return stated if within else None


def _doubted_beside(facts: Facts) -> bool:
    """Whether a remark beside the statement can change it: a cut would hide it from who decides."""
    consent = facts.consent
    return consent is not None and {consent.before, consent.after} != {Outcome.PASS}


def _code(facts: Facts) -> Span | None:
    """When the fresh code is spoken, by the timeline; None where it was not heard."""
    code = facts.consent.code if facts.consent else None
    return code.spoken if code and code.kept_in is None else None


def plan_consent_clip(
    report: Report, facts: Facts, profile: Profile, *, with_code: bool = False
) -> values.VideoPlan | None:
    """Cut out the statement with a little air, and fix what a consent video must have.

    ``report`` judges the whole video as a consent video. None where the statement was not heard as
    required, and where a remark stands beside it: cutting out something else would prove nothing.
    None for a Dolby Vision video without a base layer, too: its colours would be wrong. The clip
    ends before the fresh code. ``with_code`` includes the code, and gives None if none was heard.
    """
    line, stated, code = facts.timeline, _stated(facts), _code(facts)
    if line is None or stated is None or _doubted_beside(facts):
        return None
    if facts.video is None or not base_layer_shows(facts.video):
        return None
    if with_code and code is None:
        return None
    first, last = stated.start_s, code.end_s if code and with_code else stated.end_s
    # A shot that begins next to the statement is no part of it.
    start = max(before_word(line, first), *(cut for cut in line.cuts if cut <= first), 0.0)
    end = min(_after_word(line, last), *(cut for cut in line.cuts if cut >= last), line.duration_s)
    if code and not with_code:
        end = min(end, code.start_s)
    span = Span(start_s=round(start, 3), end_s=round(end, 3))
    whole = plan_video(report, facts, profile)
    kept = tuple(
        reason for reason in (whole.reasons if whole else ()) if reason.fix not in _NOT_FOR_A_CLIP
    )
    fixes = {reason.fix for reason in kept}
    beside = "with its fresh code, in one take" if with_code else "on its own"
    # Copied packets begin at key frames only; what precedes would stay inside.
    encoded = span.start_s > 0
    return values.VideoPlan(
        reasons=(*kept, values.Reason(fix="trim", why=f"the statement of consent {beside}")),
        turned_deg=whole.turned_deg if whole else 0,
        **_copied(facts.video, fixes, encoded=encoded),
        mix=whole.mix if whole else "keep",
        trim=span,
    )


def _after_word(line: Timeline, word_s: float) -> float:
    """A breath after the word, and at most half way to the next one."""
    nexts = [span.start_s for span in line.speech if span.start_s > word_s]
    pause_s = (nexts[0] if nexts else line.duration_s) - word_s
    return word_s + min(TAIL_S, pause_s / 2 if nexts else pause_s)

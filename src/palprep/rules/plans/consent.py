"""The statement of consent as a video of its own, cut out of the training video it opens."""

from __future__ import annotations

from palprep.facts import Facts, Timeline
from palprep.rules.plans.takes import TAIL_S, before_word
from palprep.rules.plans.values import Reason, VideoPlan
from palprep.rules.plans.video import plan_video
from palprep.rules.profile import Profile
from palprep.rules.report import Report
from palprep.values import Span

_WHY = "the statement of consent on its own"

_NOT_FOR_A_CLIP = frozenset({"trim", "fit_size"})
"""Fixes of the whole that the clip gets by being cut, or does not need."""


def plan_consent_clip(report: Report, facts: Facts, profile: Profile) -> VideoPlan | None:
    """Cut out the statement with a little air, and fix what a consent video must have.

    ``report`` judges the whole video as a consent video. None where the statement was not
    heard as required: cutting out something else would prove nothing.
    """
    line, consent = facts.timeline, facts.consent
    if line is None or consent is None or consent.outcome.passed is not True:
        return None
    span = _span(line)
    if span is None:
        return None
    whole = plan_video(report, facts, profile)
    kept = tuple(
        reason for reason in (whole.reasons if whole else ()) if reason.fix not in _NOT_FOR_A_CLIP
    )
    fixes = {reason.fix for reason in kept}
    # Copied packets begin at key frames only; what precedes would stay inside.
    encoded = span.start_s > 0
    return VideoPlan(
        reasons=(*kept, Reason(fix="trim", why=_WHY)),
        copy_video=not encoded and "transcode_video" not in fixes,
        copy_audio=not encoded and not fixes & {"transcode_audio", "resync"},
        audio_stream=facts.audio.stream.index if facts.audio else None,
        trim=span,
    )


def _span(line: Timeline) -> Span | None:
    if line.consent is None:
        return None
    first, last = line.consent.start_s, line.consent.end_s
    # A shot that begins next to the statement is no part of it.
    start = max(before_word(line, first), *(cut for cut in line.cuts if cut <= first), 0.0)
    end = min(_after_word(line, last), *(cut for cut in line.cuts if cut >= last), line.duration_s)
    return Span(start_s=round(start, 3), end_s=round(end, 3))


def _after_word(line: Timeline, word_s: float) -> float:
    """A breath after the word, and at most half way to the next one."""
    nexts = [span.start_s for span in line.speech if span.start_s > word_s]
    pause_s = (nexts[0] if nexts else line.duration_s) - word_s
    return word_s + min(TAIL_S, pause_s / 2 if nexts else pause_s)

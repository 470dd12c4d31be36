"""The plan for a recording of a voice: its track, its levels, and which stretches to keep."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from palprep.facts import Facts
from palprep.rules.plans import values
from palprep.rules.profile import Profile
from palprep.rules.report import Report
from palprep.speech import LOWEST_VOICE_HZ, TARGET_RMS_DBFS, VoiceFacts
from palprep.values import Role, Span, spans_within

_CONTAINER_FIXES = {"extract": ("audio_only", "single_streams"), "convert": ("audio_format",)}
_AUDIO_FIXES = {
    "mix": ("voice_stereo", "audio_channels"),
    "high_pass": ("voice_hum", "voice_dc_offset"),
    "level": ("voice_level", "voice_true_peak", "audio_sample_peak"),
}
COPY_CONTAINERS: Mapping[str, str] = {
    "aac": "m4a",
    "mp3": "mp3",
    "flac": "flac",
    "opus": "ogg",
    "vorbis": "ogg",
    "pcm_s16le": "wav",
    "pcm_s24le": "wav",
}
"""Container for a stream copy of each codec that the service's file types can hold."""

TRUE_PEAK_DBTP = -3.5
"""The ceiling of the true peak, unless the profile asks for less."""

LOWEST_PEAK_DBTP = -20.0
"""The lowest such ceiling, whatever a profile asks for."""

LOSSY_DB, LEVEL_ROOM_DB = 0.5, 1.0
"""Distances that peaks and levels keep from their limits. Lossy coding may use up the first."""

MARGIN_S = 1.0
"""A selection ends this much short of the longest length, for what joins and coding add."""

LOUDNESS_RANGE_LUFS = (-40.0, -10.0)
"""The range of loudness that can be set, whatever the recording's own crest."""

_JOIN_GAP_S = 0.8
"""Shorter pauses belong to the flow of speech and stay in."""
_AROUND_SPEECH_S = 0.15
"""Kept on both sides of speech, so that no consonant is cut and joins fall into silence."""
_LEAST_S = 2.0
"""Shorter stretches are left out while there are enough longer ones: each is a join."""
_DROPOUT_GUARD_S = 0.25
_END_S = 0.05
"""A span ends so much before the end, which is rounded."""


def plan_voice(report: Report, facts: Facts, profile: Profile) -> values.VoicePlan | None:
    """The audio track alone where that is all; else one pass that cuts, cleans and levels."""
    audio = facts.audio
    if audio is None:
        return None
    asked = values.reasons_for(report, _CONTAINER_FIXES)
    cleaning = values.reasons_for(report, _AUDIO_FIXES)
    voice = facts.voice
    # With spans it is written as it was measured. ffmpeg alone drops what is stamped with a time
    # that has passed, and writes hours of silence where timestamps jump.
    odd = audio.joined or audio.has_long_gaps
    whole = (Span(start_s=0.0, end_s=audio.duration_s - _END_S),) if odd else ()
    if voice is not None:
        spans: tuple[Span, ...] = ()
        lengths = {"voice_speech_length": voice.speech_s, "audio_duration": audio.duration_s}
        limits = {each: profile.tightest_maximum(Role.VOICE_AUDIO, each) for each in lengths}
        answers = tuple(
            each for each, most in limits.items() if most and round(lengths[each], 1) > most
        )
        if answers:
            # The pauses of a recorder that was left running are no speech.
            longest_s = min(most for most in limits.values() if most)
            spans = choose_spans(voice, min_s=longest_s / 2, max_s=longest_s - MARGIN_S)
        if spans:
            cleaning = (values.Reason(fix="select", answers=answers), *cleaning)
        if cleaning:
            return _cleaned(voice, (*asked, *cleaning), spans or whole, profile)
    copies = not whole and audio.stream.codec in COPY_CONTAINERS
    if audio.described and copies:
        asked = (*asked, values.Reason(fix="strip_metadata"))
    if not asked and not cleaning:
        return None
    copies = copies and {reason.fix for reason in asked} <= {"extract", "strip_metadata"}
    return values.VoicePlan(reasons=(*asked, *cleaning), spans=whole, mix="keep", copies=copies)


def _cleaned(
    voice: VoiceFacts, reasons: tuple[values.Reason, ...], spans: tuple[Span, ...], profile: Profile
) -> values.VoicePlan:
    fixes = {reason.fix for reason in reasons}
    answered = {each for reason in reasons for each in reason.answers}
    most = partial(profile.tightest_maximum, Role.VOICE_AUDIO)
    limits = (most("voice_true_peak"), most("audio_sample_peak"))
    peaks = (each - LOSSY_DB for each in limits if each is not None)
    floor, limit = voice.noise_floor_dbfs, most("voice_noise_floor")
    mix = mix_of(voice) if "mix" in fixes else "keep" if voice.channels <= 2 else "average"
    # The channel that speaks is louder alone than the mean of it and silence.
    levels = "level" in fixes or mix in {"first", "second"}
    return values.VoicePlan(
        reasons=reasons,
        spans=spans,
        mix=mix,
        high_pass_hz=LOWEST_VOICE_HZ if "high_pass" in fixes else None,
        hum_hz=voice.hum_hz if "voice_hum" in answered else None,
        loudness_lufs=_loudness(voice, profile, mix) if levels else None,
        true_peak_dbtp=max(LOWEST_PEAK_DBTP, min((TRUE_PEAK_DBTP, *peaks))),
        noise_dbfs=None if floor is None or limit is None else (floor, limit),
    )


def levelled_anew(plan: values.Plan, made: Report, profile: Profile) -> values.VoicePlan | None:
    """The plan with the level that the speech has once it is cleaned; None where what was ``made``
    by the plan needs none. Hum counts as level and as noise until it is gone.
    """
    asked = values.reasons_for(made, {"level": _AUDIO_FIXES["level"]})
    if not isinstance(plan, values.VoicePlan) or plan.high_pass_hz is None or not asked:
        return None
    voice = made.facts.voice if made.facts else None
    wanted = _loudness(voice, profile, "keep") if voice else None
    if voice is None or voice.integrated_lufs is None or wanted is None:
        return None
    floor = voice.noise_floor_dbfs
    limit = profile.tightest_maximum(Role.VOICE_AUDIO, "voice_noise_floor")
    if floor is not None and limit is not None:
        wanted = min(wanted, voice.integrated_lufs + max(0.0, limit - floor))
    others = tuple(each for each in plan.reasons if each.fix != "level")
    update = {"reasons": (*others, *asked), "loudness_lufs": round(wanted, 1), "noise_dbfs": None}
    return plan.model_copy(update=update)


def _loudness(voice: VoiceFacts, profile: Profile, mix: str) -> float | None:
    """The integrated loudness at which the speech stands at its target level, or as near to it as
    the profile allows.

    Levels of speech are advised in RMS and set in LUFS; the recording's own difference is kept.
    """
    if voice.integrated_lufs is None or voice.speech_rms_dbfs is None:
        return None
    least = profile.tightest_minimum(Role.VOICE_AUDIO, "voice_level")
    most = profile.tightest_maximum(Role.VOICE_AUDIO, "voice_level")
    target = TARGET_RMS_DBFS if least is None else max(TARGET_RMS_DBFS, least + LEVEL_ROOM_DB)
    target = target if most is None else min(target, most - LEVEL_ROOM_DB)
    wanted = voice.integrated_lufs + target - voice.speech_rms_dbfs
    if mix != "keep" and voice.channels > 1:
        # Loudness is the sum of both channels, RMS their mean.
        wanted -= 10 * math.log10(2)
    low, high = LOUDNESS_RANGE_LUFS
    return round(min(high, max(low, wanted)), 1)


def mix_of(voice: VoiceFacts) -> values.Mix:
    """What makes one channel of the two without losing the voice."""
    if voice.silent_channel is not None:
        return "second" if voice.silent_channel == 0 else "first"
    return "difference" if voice.inverted else "average"


def choose_spans(voice: VoiceFacts, *, min_s: float, max_s: float) -> tuple[Span, ...]:
    """The stretches to keep, in the order of the recording. Their lengths sum to at most
    ``max_s``, and to at least ``min_s`` where there is so much speech.

    One stretch without joins is best: the longest run of speech with ordinary pauses is
    taken if it reaches ``min_s``. Otherwise runs are joined, longest
    first; once ``min_s`` is reached, only whole ones. Runs end before dropouts. Every span
    begins and ends in a pause of the recording, except where a run had to be shortened to
    ``max_s``: that cut, too, falls into a pause whenever one lies within its last quarter.
    Empty when no one speaks.
    """
    runs = _runs(voice)
    if not runs:
        return ()
    longest = max(runs, key=lambda run: (_length(run), -run[0].start_s))
    if _length(longest) >= min_s:
        return (_shortened(longest, max_s, voice.duration_s),)
    chosen: list[Span] = []
    left = max_s
    for run in sorted(runs, key=_length, reverse=True):
        enough = max_s - left >= min_s
        if left < _LEAST_S or (enough and not _LEAST_S <= _length(run) <= left):
            continue
        span = _shortened(run, left, voice.duration_s)
        chosen.append(span)
        left -= span.duration_s
    return _apart(sorted(chosen, key=lambda span: span.start_s))


Run = tuple[Span, ...]
"""Stretches of speech with only ordinary pauses between."""


def _runs(voice: VoiceFacts) -> list[Run]:
    runs: list[list[Span]] = []
    holes = voice.dropouts or ()
    starts = [hole.start_s for hole in holes]
    for span in _without_dropouts(voice.speech, holes):
        last_s = runs[-1][-1].end_s if runs else -math.inf
        broken = bisect_left(starts, last_s) < bisect_left(starts, span.start_s)
        if 0 <= span.start_s - last_s <= _JOIN_GAP_S and not broken:
            runs[-1].append(span)
        else:
            runs.append([span])
    return [tuple(run) for run in runs]


def _without_dropouts(speech: Sequence[Span], holes: Sequence[Span]) -> Iterator[Span]:
    """Speech without its holes, and without what is right next to them; all in order."""
    starts, ends = [each.start_s for each in speech], [each.end_s for each in speech]
    begins = [0.0, *(hole.end_s + _DROPOUT_GUARD_S for hole in holes)]
    stops = [*(hole.start_s - _DROPOUT_GUARD_S for hole in holes), math.inf]
    for begin, stop in zip(begins, stops, strict=True):
        near = speech[bisect_right(ends, begin) : bisect_left(starts, stop)]
        yield from spans_within(near, begin, stop)


def _length(run: Run) -> float:
    return run[-1].end_s - run[0].start_s + 2 * _AROUND_SPEECH_S


def _shortened(run: Run, max_s: float, duration_s: float) -> Span:
    start = max(0.0, run[0].start_s - _AROUND_SPEECH_S)
    end = min(duration_s, run[-1].end_s + _AROUND_SPEECH_S)
    if end - start > max_s:
        latest = start + max_s
        pauses = [
            before.end_s + min(_AROUND_SPEECH_S, (after.start_s - before.end_s) / 2)
            for before, after in pairwise(run)
        ]
        fitting = [pause for pause in pauses if latest - max_s / 4 <= pause <= latest]
        end = max(fitting, default=latest)
    return Span(start_s=round(start, 3), end_s=round(end, 3))


def _apart(spans: list[Span]) -> tuple[Span, ...]:
    """Margins of neighbours may touch; the later one gives way."""
    apart: list[Span] = []
    for span in spans:
        begin = max(span.start_s, apart[-1].end_s) if apart else span.start_s
        if span.end_s > begin:
            apart.append(Span(start_s=begin, end_s=span.end_s))
    return tuple(apart)

"""Rules of a video's file, its frames and its timing."""

from __future__ import annotations

from collections.abc import Sequence

from palprep.facts import Timeline
from palprep.media import FileFacts, VideoFacts
from palprep.rules.needs import EVERY_FRAME, FILE, FOOTAGE, SIGNAL, TIMELINE, TIMING, VIDEO
from palprep.rules.rule import Measured, plain, rule, sides
from palprep.rules.texts.words import REASONS, counted, degrees, some_of
from palprep.values import Span
from palprep.vision import OverlayFacts

SLOW_MOTION, SLOWED = 100.0, 1.5
"""Frames taken a second that only slow motion has, and the least ratio to the rate shown. In dim
light a phone shows half of the 30 or 60 frames that it states."""


@rule(FILE)
def video_format(file: FileFacts) -> Measured:
    return Measured(value=file.type.format, shown=file.type.description)


@rule(VIDEO)
def video_codec(video: VideoFacts) -> Measured:
    shown = f"{video.codec} {video.codec_profile}" if video.codec_profile else video.codec
    return Measured(value=video.codec, shown=shown)


video_pixel_format = plain(
    "video_pixel_format",
    VIDEO.then(lambda video: video.pixel_format, REASONS["no_pixel_format"]),
    lambda pixel_format: pixel_format,
)
video_progressive = plain(
    "video_progressive", VIDEO, lambda video: not video.interlaced, ("progressive", "interlaced")
)
video_audio_codec = plain(
    "video_audio_codec", VIDEO.then(lambda video: video.audio), lambda audio: audio.stream.codec
)
video_duration = plain("video_duration", VIDEO, lambda video: video.duration_s, "{:.1f} s")
video_constant_frame_rate = plain(
    "video_constant_frame_rate",
    VIDEO,
    lambda video: video.frame_rate_constant,
    ("constant", "variable"),
)


@rule(VIDEO)
def video_complete(video: VideoFacts) -> Measured:
    shown = "joined" if video.joined else "cut off" if video.truncated else "complete"
    cause = REASONS["joined"] if video.joined else None
    return Measured(value=shown == "complete", shown=shown, cause=cause)


@rule(VIDEO)
def video_dynamic_range(video: VideoFacts) -> Measured:
    kind = f"Dolby Vision {video.dolby_vision}" if video.dolby_vision else video.color_transfer
    return Measured(value=not video.hdr, shown=f"HDR ({kind})" if video.hdr else "SDR")


@rule(VIDEO)
def video_dolby_vision(video: VideoFacts) -> Measured | None:
    if video.dolby_vision is None:
        return None
    readable = base_layer_shows(video)
    layer = "with a base layer for others" if readable else "no base layer for others"
    return Measured(value=readable, shown=f"profile {video.dolby_vision}, {layer}")


@rule(VIDEO)
def video_upright(video: VideoFacts) -> Measured:
    notes = [f"turned by {video.rotation_deg}°"] if video.rotation_deg else []
    notes += ["mirrored"] if video.mirrored else []
    ways = {(True, False): "turned", (False, True): "mirrored", (True, True): "both"}
    return Measured(
        value=not notes,
        shown=" and ".join(notes) or "upright",
        way=ways.get((bool(video.rotation_deg), video.mirrored)),
        words={"degrees": degrees(video.rotation_deg)},
    )


@rule(VIDEO)
def video_frame_rate(video: VideoFacts) -> Measured:
    # Timestamps of 30000/1001 in milliseconds round to 29.97 and 23.976 to 23.98.
    rate, taken = f"{video.frame_rate:.2f}", video.taken_rate or 0.0
    words = {"rate": rate, "taken": f"{taken:.0f}"}
    if taken >= SLOW_MOTION and taken >= SLOWED * video.frame_rate:
        shown = f"{taken:.0f} fps, shown at {rate}"
        return Measured(value=round(taken, 2), shown=shown, way="slowed", words=words)
    return Measured(value=round(video.frame_rate, 2), shown=f"{rate} fps", words=words)


video_resolution = sides("video_resolution", VIDEO, min)


@rule(VIDEO)
def video_faststart(video: VideoFacts) -> Measured | None:
    if video.moov_position is None:
        return None
    place = video.moov_position
    return Measured(value=place == "front", shown=f"moov: {place}", way=place)


def base_layer_shows(video: VideoFacts) -> bool:
    """Whether players without Dolby Vision show the right colours; True for other videos."""
    return video.dolby_vision is None or not video.dolby_vision.endswith(".0")


_SHOWN = 3
"""Moments that are listed before the rest is counted."""

_LINE = EVERY_FRAME.beside(TIMELINE).then(lambda seen: seen[1])


@rule(_LINE)
def video_cuts(line: Timeline) -> Measured:
    return listed(line.cuts, cuts=counted(len(line.cuts), "cut", "cuts"))


@rule(_LINE)
def video_freezes(line: Timeline) -> Measured:
    return _total(line.freezes)


@rule(SIGNAL.beside(TIMELINE).then(lambda seen: seen[1]))
def video_black(line: Timeline) -> Measured:
    return _total(line.black)


@rule(_LINE)
def video_exposure_steps(line: Timeline) -> Measured:
    changes = counted(len(line.exposure_steps), "sudden change", "sudden changes")
    return listed(line.exposure_steps, changes=changes)


video_flicker = plain(
    "video_flicker",
    EVERY_FRAME.then(lambda signal: signal.flicker_percent, REASONS["too_few_frames"]),
    lambda percent: round(percent, 2),
)
video_steadiness = plain(
    "video_steadiness",
    EVERY_FRAME.then(lambda signal: signal.shake_percent, REASONS["no_texture"]),
    lambda percent: round(percent, 2),
)


@rule(FOOTAGE.then(lambda footage: footage.overlay, REASONS["too_few_looks"]))
def no_burned_in_text(overlay: OverlayFacts) -> Measured:
    region, places = overlay.region, ("at the top", "in the middle", "at the bottom")
    place = places[int(3 * (region.y + region.height / 2))] if region else ""
    seen = f"in {overlay.with_text} of {overlay.frames} frames"
    return Measured(
        value=round(overlay.with_text / overlay.frames, 3),
        shown=f"{seen}, {place}" if region else seen,
        words={"seen": seen, "place": place},
    )


@rule(VIDEO)
def video_dropped_frames(video: VideoFacts) -> Measured | None:
    if video.timing is None or not video.frame_rate_constant:
        return None
    dropped = video.timing.dropped_frames
    total = video.frames + dropped
    share = 100 * dropped / total if total else 0.0
    return Measured(value=round(share, 2), shown=f"{dropped} of {total:,}")


@rule(TIMING.then(lambda timing: timing.audio_offset_s))
def av_sync_offset(offset_s: float) -> Measured:
    return Measured(value=round(offset_s, 3), words={"time": f"{abs(offset_s):.3g} s"})


@rule(TIMING.then(lambda timing: timing.audio_drift_s))
def av_sync_drift(drift_s: float) -> Measured:
    return Measured(value=round(drift_s, 3), way="apart", words={"time": f"{abs(drift_s):.3g} s"})


@rule(VIDEO)
def av_sync_end(video: VideoFacts) -> Measured | None:
    late_s = video.timing.audio_offset_s if video.timing else None
    if video.audio is None or late_s is None:
        return None
    more_s = round(late_s + video.audio.duration_s - video.duration_s, 1)
    return Measured(value=more_s, shown=f"{more_s:.1f} s", words={"time": f"{more_s:.1f} s"})


def listed(times: Sequence[float], **words: str) -> Measured:
    """How many moments there are. ``{measured}`` lists them."""
    return Measured(value=len(times), shown=_moments(times), words=words)


def _total(spans: Sequence[Span]) -> Measured:
    seconds = sum(span.duration_s for span in spans)
    moments, lasts = _moments([span.start_s for span in spans]), f"{seconds:.1f} s"
    return Measured(
        value=round(seconds, 2),
        shown=f"{lasts} at {moments}" if spans else lasts,
        words={"seconds": lasts, "moments": moments},
    )


def _moments(times: Sequence[float]) -> str:
    return some_of([f"{time:.1f} s" for time in times], _SHOWN) or "none"

"""Rules of a video's frames and timing: one steady take, with audio and lips together."""

from __future__ import annotations

from collections.abc import Sequence

from palprep.media import SignalFacts, VideoFacts
from palprep.rules.measures import counted
from palprep.rules.needs import EVERY_FRAME, KEY_FRAMES_ONLY, SIGNAL, TIMING, VIDEO
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.rules.sentences import Sentences
from palprep.values import Span

TOO_FEW_FRAMES = Unmeasured(reason="The video has too few frames to see whether it flickers.")
NO_TEXTURE = Unmeasured(reason="The background is too smooth to see whether the camera moves.")

_SHOWN = 3
"""Moments that are listed before the rest is counted."""


class VideoCuts(Rule[tuple[float, ...]]):
    """One continuous take: at a cut the head jumps, and the model learns the jump."""

    needs = EVERY_FRAME.then(lambda signal: signal.cuts, KEY_FRAMES_ONLY)
    id = "video_cuts"
    label = "Shot cuts"
    unit = "cuts"
    sentences = Sentences("The video has {cuts}.", above="The video has {cuts}, at {moments}.")
    advice = "Record it in one take, or keep only the longest stretch between two cuts."

    def measure(self, cuts: tuple[float, ...]) -> Measured:
        return _listed(cuts, cuts=counted(len(cuts), "cut", "cuts"))


class VideoFreezes(Rule[tuple[Span, ...]]):
    """The frames change all the time. A second in which none does is a recorder that stalled."""

    needs = EVERY_FRAME.then(lambda signal: signal.freezes, KEY_FRAMES_ONLY)
    id = "video_freezes"
    label = "Frozen frames"
    unit = "s"
    sentences = Sentences(
        "The video stands still for {seconds}.",
        above="The video freezes for {seconds}, at {moments}.",
    )
    advice = "Record it again with other programs closed and enough free space on the device."

    def measure(self, freezes: tuple[Span, ...]) -> Measured:
        return _total(freezes)


class VideoBlack(Rule[SignalFacts]):
    """The video is never black: black frames show no one."""

    needs = SIGNAL
    id = "video_black"
    label = "Black frames"
    unit = "s"
    sentences = Sentences(
        "The video is black for {seconds}.",
        above="The video is black for {seconds}, at {moments}.",
    )
    advice = "Cut the black parts off."

    def measure(self, signal: SignalFacts) -> Measured:
        return _total(signal.black)


class VideoExposureSteps(Rule[tuple[float, ...]]):
    """The light stays as it is. A sudden change that lasts is automatic exposure, or a lamp that
    was switched."""

    needs = EVERY_FRAME.then(lambda signal: signal.exposure_steps, KEY_FRAMES_ONLY)
    id = "video_exposure_steps"
    label = "Steps of exposure"
    unit = "steps"
    sentences = Sentences(
        "The light has {changes}.", above="The light has {changes}, at {moments}."
    )
    advice = "Lock exposure and white balance in the camera, and keep the light as it is."

    def measure(self, steps: tuple[float, ...]) -> Measured:
        return _listed(steps, changes=counted(len(steps), "sudden change", "sudden changes"))


class VideoFlicker(Rule[float]):
    """The brightness does not alternate from frame to frame, as under lamps whose frequency does
    not fit the shutter."""

    needs = EVERY_FRAME.then(lambda signal: signal.flicker_percent, TOO_FEW_FRAMES)
    id = "video_flicker"
    label = "Flicker"
    unit = "% of the brightness"
    sentences = Sentences(
        "The brightness flickers by {measured}%.", above="The light flickers, by {measured}%."
    )
    advice = "Set the shutter to a multiple of the mains period, 1/50 or 1/60 s, or use daylight."

    def measure(self, flicker_percent: float) -> Measured:
        return Measured(value=round(flicker_percent, 2))


class VideoSteadiness(Rule[float]):
    """The camera stands still, so that only the person moves."""

    needs = EVERY_FRAME.then(lambda signal: signal.shake_percent, NO_TEXTURE)
    id = "video_steadiness"
    label = "Camera shake"
    unit = "% of the width"
    sentences = Sentences(
        "The camera moves by {measured}% of the width.",
        above="The camera is not steady: it moves by {measured}% of the width.",
    )
    advice = "Put the camera on a tripod or a table. Do not hold it."

    def measure(self, shake_percent: float) -> Measured:
        return Measured(value=round(shake_percent, 2))


class VideoDroppedFrames(Rule[VideoFacts]):
    """The recorder left no frame out of an otherwise constant rate."""

    needs = VIDEO
    id = "video_dropped_frames"
    label = "Dropped frames"
    unit = "% of the frames"
    predicts = "video_fps"
    sentences = Sentences(
        "The recorder left out {measured} frames.",
        above="The recorder left out too many frames: {measured}.",
    )
    advice = "Record it again with other programs closed, to a fast disk."

    def measure(self, video: VideoFacts) -> Measured | None:
        if video.timing is None or not video.frame_rate_constant:
            return None
        dropped = video.timing.dropped_frames
        total = video.frames + dropped
        share = 100 * dropped / total if total else 0.0
        return Measured(value=round(share, 2), shown=f"{dropped} of {total:,}")


class AvSyncOffset(Rule[float]):
    """Audio and video start together. The measure is negative where the audio starts first.

    Some players ignore the time stamps; they would shift one against the other.
    """

    needs = TIMING.then(lambda timing: timing.audio_offset_s)
    id = "av_sync_offset"
    label = "Start of audio after video"
    unit = "s"
    sentences = Sentences(
        "Audio and video start together, within {time}.",
        below="The audio starts {time} before the video.",
        above="The audio starts {time} after the video.",
    )
    advice = "palprep fix lets both start together. Look at the lips afterwards."

    def measure(self, offset_s: float) -> Measured:
        return Measured(value=round(offset_s, 3), words={"time": _milliseconds(offset_s)})


class AvSyncDrift(Rule[float]):
    """Audio and video stay together. The measure is how much longer the audio lasts by its time
    stamps than by its samples: samples are missing, or the recorder's clocks ran apart."""

    needs = TIMING.then(lambda timing: timing.audio_drift_s)
    id = "av_sync_drift"
    label = "Drift of audio against video"
    unit = "s"
    sentences = Sentences(
        "Audio and video stay together, within {time}.",
        apart="Audio and video drift apart: they are off by {time} at the end.",
    )
    advice = "palprep fix fills gaps in the audio with silence. Look at the lips near the end."

    def measure(self, drift_s: float) -> Measured:
        words = {"time": _milliseconds(drift_s)}
        return Measured(value=round(drift_s, 3), way="apart", words=words)


def _listed(times: Sequence[float], **words: str) -> Measured:
    moments = _moments(times)
    return Measured(value=len(times), shown=moments, words={"moments": moments, **words})


def _total(spans: Sequence[Span]) -> Measured:
    seconds = sum(span.duration_s for span in spans)
    moments, lasts = _moments([span.start_s for span in spans]), f"{seconds:.1f} s"
    return Measured(
        value=round(seconds, 2),
        shown=f"{lasts} at {moments}" if spans else lasts,
        words={"seconds": lasts, "moments": moments},
    )


def _milliseconds(seconds: float) -> str:
    return f"{abs(seconds) * 1000:.0f} ms"


def _moments(times: Sequence[float]) -> str:
    if not times:
        return "none"
    listed = ", ".join(f"{time:.1f} s" for time in times[:_SHOWN])
    return listed if len(times) <= _SHOWN else f"{listed} and {len(times) - _SHOWN} more"

"""Rules of a video's picture signal and timing: one steady take, with sound and lips together."""

from __future__ import annotations

from collections.abc import Sequence

from palprep.facts.facts import Facts
from palprep.media.facts import VideoFacts
from palprep.media.signal_facts import SignalFacts, TimingFacts
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.values import Span

_NOT_TOLD = "Key frames alone do not tell; run the check without --quick."
_SHOWN = 3
"""Moments that are listed before the rest is counted."""


class SignalRule(Rule):
    """A rule of what the frames show, whoever is in them."""

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        if facts.video is None:
            return None
        if facts.video.signal is None:
            return Unmeasured(reason=_NOT_TOLD)
        return self.measure_signal(facts.video.signal)

    def measure_signal(self, signal: SignalFacts) -> Measured | Unmeasured | None:
        """The measure of the signal; every subclass gives one."""
        raise NotImplementedError


class TimingRule(Rule):
    """A rule of the timestamps of picture and sound."""

    def measure(self, facts: Facts) -> Measured | Unmeasured | None:
        if facts.video is None or facts.video.timing is None:
            return None
        return self.measure_timing(facts.video, facts.video.timing)

    def measure_timing(
        self, video: VideoFacts, timing: TimingFacts
    ) -> Measured | Unmeasured | None:
        """The measure of the timing; every subclass gives one."""
        raise NotImplementedError


class VideoCuts(SignalRule):
    """One continuous take: at a cut the head jumps, and the model learns the jump."""

    id = "video_cuts"
    label = "Shot cuts"
    unit = "cuts"
    advice = "Record it in one take, or keep only the longest stretch between two cuts."

    def measure_signal(self, signal: SignalFacts) -> Measured | Unmeasured:
        if signal.cuts is None:
            return Unmeasured(reason=_NOT_TOLD)
        return Measured(value=len(signal.cuts), shown=_moments(signal.cuts))


class VideoFreezes(SignalRule):
    """A picture that does not change at all for a second is a recorder that stalled."""

    id = "video_freezes"
    label = "Frozen picture"
    unit = "s"
    advice = "Record it again with other programs closed and enough free space on the device."

    def measure_signal(self, signal: SignalFacts) -> Measured | Unmeasured:
        if signal.freezes is None:
            return Unmeasured(reason=_NOT_TOLD)
        return _total(signal.freezes)


class VideoBlack(SignalRule):
    """Black stretches show nobody."""

    id = "video_black"
    label = "Black picture"
    unit = "s"
    advice = "Cut the black parts off."

    def measure_signal(self, signal: SignalFacts) -> Measured:
        return _total(signal.black)


class VideoExposureSteps(SignalRule):
    """Brightness that steps and stays is automatic exposure at work, or a lamp switched."""

    id = "video_exposure_steps"
    label = "Steps of exposure"
    unit = "steps"
    advice = "Lock exposure and white balance in the camera, and keep the light as it is."

    def measure_signal(self, signal: SignalFacts) -> Measured | Unmeasured:
        if signal.exposure_steps is None:
            return Unmeasured(reason=_NOT_TOLD)
        return Measured(value=len(signal.exposure_steps), shown=_moments(signal.exposure_steps))


class VideoFlicker(SignalRule):
    """Brightness that alternates from frame to frame: a lamp out of step with the shutter."""

    id = "video_flicker"
    label = "Flicker"
    unit = "% of the brightness"
    advice = "Set the shutter to a multiple of the mains period, 1/50 or 1/60 s, or use daylight."

    def measure_signal(self, signal: SignalFacts) -> Measured | Unmeasured:
        if signal.flicker_percent is None:
            return Unmeasured(reason="Too few frames to tell.")
        return Measured(value=round(signal.flicker_percent, 2))


class VideoSteadiness(SignalRule):
    """The camera stands still: what moves is then the person alone."""

    id = "video_steadiness"
    label = "Camera shake"
    unit = "% of the width"
    advice = "Put the camera on a tripod or a table; do not hold it."

    def measure_signal(self, signal: SignalFacts) -> Measured | Unmeasured:
        if signal.shake_percent is None:
            return Unmeasured(reason="The background has no texture to follow.")
        return Measured(value=round(signal.shake_percent, 2))


class VideoDroppedFrames(TimingRule):
    """Frames that the recorder left out of an otherwise constant rate."""

    id = "video_dropped_frames"
    label = "Dropped frames"
    unit = "% of the frames"
    predicts = "video_fps"
    advice = "Record it again with other programs closed, to a fast disk."

    def measure_timing(self, video: VideoFacts, timing: TimingFacts) -> Measured | None:
        if not video.frame_rate_constant:
            return None
        total = video.frames + timing.dropped_frames
        share = 100 * timing.dropped_frames / total if total else 0.0
        return Measured(value=round(share, 2), shown=f"{timing.dropped_frames} of {total:,}")


class VideoSoundOffset(TimingRule):
    """Sound that starts before the picture (negative) or after it (positive).

    Players that go by the time stamps keep both together; those that do not, do not.
    """

    id = "video_sound_offset"
    label = "Sound against picture"
    unit = "s"
    advice = "palprep fix lets both start together; look at the lips afterwards."

    def measure_timing(self, video: VideoFacts, timing: TimingFacts) -> Measured | None:  # noqa: ARG002
        offset = timing.audio_offset_s
        return None if offset is None else Measured(value=round(offset, 3))


class VideoSoundDrift(TimingRule):
    """Sound that lasts longer by its time stamps than by its samples, or shorter: samples are
    missing, or the recorder's clocks ran apart, and lips and voice part on the way."""

    id = "video_sound_drift"
    label = "Sound keeps step"
    unit = "s"
    advice = "palprep fix puts silence where sound is missing; look at the lips towards the end."

    def measure_timing(self, video: VideoFacts, timing: TimingFacts) -> Measured | None:  # noqa: ARG002
        drift = timing.audio_drift_s
        return None if drift is None else Measured(value=round(drift, 3))


def _total(spans: Sequence[Span]) -> Measured:
    seconds = sum(span.duration_s for span in spans)
    where = f" at {_moments([span.start_s for span in spans])}" if spans else ""
    return Measured(value=round(seconds, 2), shown=f"{seconds:.1f} s{where}")


def _moments(times: Sequence[float]) -> str:
    if not times:
        return "none"
    listed = ", ".join(f"{time:.1f} s" for time in times[:_SHOWN])
    return listed if len(times) <= _SHOWN else f"{listed} and {len(times) - _SHOWN} more"


SIGNAL_RULES: tuple[type[Rule], ...] = (
    VideoCuts,
    VideoFreezes,
    VideoBlack,
    VideoExposureSteps,
    VideoFlicker,
    VideoSteadiness,
    VideoDroppedFrames,
    VideoSoundOffset,
    VideoSoundDrift,
)

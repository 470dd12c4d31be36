"""What can be known of a video's timing and of its signal, without judging it."""

from __future__ import annotations

from palprep.values import Span, Value


class TimingFacts(Value):
    """How regular the timestamps of the frames are, and how the sound lies against them."""

    interval_s: float
    """Median interval between frames."""
    longest_interval_s: float
    """Reported only: no rule judges it, as dropped frames say the same."""
    jitter_s: float
    """Standard deviation of the intervals."""
    dropped_frames: int
    """Frames that are missing from gaps of one and a half intervals or more; at a variable
    rate such gaps are what the rate varies by, and the number says little."""
    key_frames: int
    longest_key_interval_s: float
    audio_offset_s: float | None = None
    """Start of the sound less the start of the first frame; positive when the sound is late."""
    audio_end_s: float | None = None
    """End of the sound less the end of the last frame. Reported only: no rule judges it."""
    audio_drift_s: float | None = None
    """Length of the sound by its timestamps less its length by its samples. Positive when
    samples are missing, or the recorder's clocks ran apart. Where the sound was not decoded,
    its packets' lengths are counted, which tell gaps alone."""
    edited: bool = False
    """An edit list hides or shifts more than an encoder's priming (a quarter of a second)."""


class SignalSecond(Value):
    """One second of the signal, from the frames that were looked at."""

    at_s: float
    luma: float
    """Mean luma, 0 (black) to 255."""
    contrast: float
    """Standard deviation of luma within a frame, averaged. Reported only: no rule judges it."""
    change: float
    """Largest mean absolute difference of luma between frames that follow each other."""


class SignalFacts(Value):
    """The signal over time. A part that key frames alone cannot tell is None."""

    frames: int
    """How many frames were looked at."""
    seconds: tuple[SignalSecond, ...]
    black: tuple[Span, ...]
    """Where at least 98% of the pixels are black; of key frames, at both ends of the stretch."""
    cuts: tuple[float, ...] | None = None
    """Times of the first frame after a shot cut."""
    freezes: tuple[Span, ...] | None = None
    """Where nothing at all changes for a second or more."""
    repeated_frames: int | None = None
    """Frames that equal the one before to the last bit, as a recorder repeats them that cannot
    keep up; of the frames that were looked at, and without those of a freeze. Reported only:
    no rule judges it."""
    exposure_steps: tuple[float, ...] | None = None
    """Times at which the brightness steps and stays, without a cut."""
    flicker_percent: float | None = None
    """Root mean square of the alternation of brightness from frame to frame, in percent."""
    shake_percent: float | None = None
    """Root mean square of the background's unsteady movement between frames a fifth of a
    second apart, in percent of the picture's width; None when the background has no texture."""

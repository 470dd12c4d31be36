"""What can be known of the sound of a recording.

Times are in seconds from the start of the recording, levels in decibels relative to full
scale (``_dbfs``, ``_dbtp`` for true peak) or in LUFS. A ``None`` says that a value was not
measured or does not exist for this recording; it never says that the value is fine.
"""

from __future__ import annotations

from typing import Literal

from palprep.values import Span, Value

TARGET_RMS_DBFS = -20.0
"""The level that speech is brought to: in the middle of -23 to -18 dB, which published guidance for
voice cloning asks for."""

LOWEST_VOICE_HZ = 75.0
"""Below the lowest voices (about 80 Hz), above the mains' 50 and 60 Hz."""


class SpeakerFacts(Value):
    """Whether more than one person speaks, as far as it can be told without enrolment."""

    several: bool | None
    """False when no second voice stands out, though two can be much alike; None when there is too
    little speech to tell, or it is a close call."""
    confidence: float
    """The probability of that answer, where as many recordings have one speaker as several; 0
    when ``several`` is None."""


class Waveform(Value):
    """How loud a recording is from moment to moment, as it is drawn."""

    peaks: tuple[float, ...]
    """Largest sample of each of equally long parts, 0 to 1, at most 300 of them, to a hundredth."""
    short_term_lufs: tuple[float, ...]
    """Loudness of 3 s each (EBU Tech 3341), -100 at the least, at most 120 of them. Empty for less
    than 3 s."""
    step_s: float
    """Seconds between the middles of these 3 s; the first middle is at 1.5 s."""


class VoiceFacts(Value):
    """What a recording sounds like, for cloning a voice from it."""

    duration_s: float
    channels: int
    speech: tuple[Span, ...]
    """Stretches of speech by Silero VAD."""
    speech_s: float
    integrated_lufs: float | None
    """EBU R 128; None for silence or less than 400 ms."""
    speech_rms_dbfs: float | None
    """Root mean square of the speech alone; None without speech."""
    true_peak_dbtp: float
    clipped_runs: int
    """Runs of three samples and more at full scale, or flat at the recording's own peak, in the
    channel that has most of them."""
    noise_floor_dbfs: float | None
    """Root mean square between the words, or of the quietest moments of speech without
    pauses; None for less than 2 s without a pause."""
    snr_db: float | None
    """Speech power, noise taken off, against the noise between the words; -10 at the least."""
    background: Literal["hum", "music", "noise"]
    """What there mostly is between the words; noise where it could not be told."""
    reverberation_s: float | None
    """Estimated time in which the room lets a sound fall by 60 dB; None where noise hides it, or
    there is too little speech. 0.5 s reads as 0.4 to 0.55, 1.2 s as 0.6 to 0.9."""
    noise_after_gain_dbfs: float | None
    """The noise floor once speech is brought to :data:`TARGET_RMS_DBFS`."""
    bandwidth_hz: float | None
    """Highest frequency that carries sound; a 16 kHz recording reads about 8000 at any
    sample rate. None for silence."""
    hum_hz: float | None
    """50 or 60 when the mains hums, else None."""
    hum_dbfs: float | None
    dc_offset: float
    """Largest mean of a channel relative to full scale, 0 to 1."""
    dropouts: tuple[Span, ...] | None
    """Holes of digital silence in the middle of sound; None for 8-bit sound, in which soft moments
    are zero, too."""
    silent_channel: int | None
    """Index of a channel that is silent while another is not."""
    correlation: float | None
    """Between left and right, -1 to 1: near -1 when one is inverted. None for mono."""
    codec_hints: tuple[str, ...]
    """Signs of an earlier conversion, in words; empty when there are none."""
    content: Literal["speech", "music", "noise", "silence"]
    """What there mostly is to hear; ``music`` and ``noise`` only where no one speaks."""
    speakers: SpeakerFacts
    waveform: Waveform

    @property
    def inverted(self) -> bool:
        """Whether the channels cancel each other in a mixdown."""
        return self.correlation is not None and self.correlation < -0.8

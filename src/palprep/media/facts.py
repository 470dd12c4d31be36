"""What can be known of a file without judging it.

Units stand in the names: seconds ``_s``, hertz ``_hz``, bytes ``_bytes``, decibels below
full scale ``_dbfs``. A ``None`` says that the value was not measured or that the file does
not state it; it never says that the value is fine.
"""

from __future__ import annotations

from typing import Literal

from palprep.values import Kind, Span, Value

FLOOR_DBFS = -120.0
"""Levels are reported no lower than this; digital silence reads as this value."""

MOST_IMAGE_MEMORY_MB = 250.0
"""What decoding an image takes at the most, in MB, unless a profile says otherwise. With the
networks loaded, 300 MiB, a process that checks or fixes it stays below 600 MiB."""

UNNAMED = "<bytes>"
"""What messages and reports call a file that has no name."""


class MediaType(Value):
    """What a file is, by its content alone.

    ``format`` is palprep's short name (``jpeg``, ``png``, ``webp``, ``heic``, ``heif``,
    ``mp3``, ``wav``, ``m4a``, ``flac``, ``ogg``, ``webm``, ``mp4``, ``mov``, or another
    format that was recognised, such as ``gif`` or ``hls-playlist``). ``accepted`` says
    whether any role takes it.
    """

    kind: Kind
    format: str
    description: str
    mime: str
    extensions: tuple[str, ...]
    accepted: bool


class FileFacts(Value):
    """The file itself."""

    path: str
    name: str
    size_bytes: int
    type: MediaType

    @property
    def has_name(self) -> bool:
        """Whether it was given under a name; bytes are not."""
        return self.name != UNNAMED


class ImageFacts(Value):
    """An image. ``width`` and ``height`` are as shown, after orientation."""

    format: str
    width: int
    height: int
    orientation: int
    """EXIF orientation 1 to 8; 1 is upright. HEIF turns by its own boxes and so reads 1."""
    mode: str
    """Pillow's mode, for example ``RGB``, ``RGBA``, ``CMYK``, ``I;16``."""
    bits_per_channel: int
    icc_profile: str | None
    """Description of the embedded ICC profile, None when there is none."""
    icc_is_srgb: bool | None
    has_alpha: bool
    frames: int
    metadata: tuple[str, ...]
    """Kinds found, sorted, among ``comment``, ``exif``, ``gps``, ``icc``, ``iptc``,
    ``thumbnail``, ``xmp``."""
    base64_chars: int
    """Length of the file in base64 without line breaks: 4 * ceil(bytes / 3)."""
    decoding_mb: float | None = None
    """Memory that its decoder takes at the least, in MB: for a JPEG, at an eighth of its size."""


class AudioLevels(Value):
    """Plain sample levels over the whole stream, all channels together; of more than two of them,
    over the two that they are mixed to."""

    peak_dbfs: float
    rms_dbfs: float


class AudioStreamFacts(Value):
    """One audio stream as its container describes it."""

    index: int
    codec: str
    sample_rate_hz: int
    channels: int
    layout: str
    bit_rate: int | None
    duration_s: float | None
    default: bool = False

    @property
    def exceeds(self) -> bool:
        """Whether it may go beyond full scale without being clipped: its samples are floats, as
        recorders of 32 bits write them, or it is mixed of more than two channels."""
        return self.channels > 2 or self.codec.startswith("pcm_f")


JOINED_S = 1.0
"""Seconds that time goes back, or that more is heard than its timestamps span, where one recording
ends and another one begins."""


class AudioFacts(Value):
    """The sound of a recording or of a video. ``chosen`` indexes ``streams``."""

    duration_s: float
    """Decoded length of the chosen stream when all of it was decoded, else its stated length."""
    streams: tuple[AudioStreamFacts, ...]
    chosen: int
    levels: AudioLevels | None = None
    heard_s: float | None = None
    """How much was listened to, from the start, where that is not all of it."""
    presented: Span | None = None
    """From the first sample that was decoded to the end of the last, by their timestamps."""
    decoded_s: float = 0.0
    """Length of the samples that have timestamps, by their number."""
    truncated: bool = False
    """Whether the file holds less than its header or its index states."""
    described: bool = False
    """Whether tags say whose it is, or where, when or with what it was recorded."""

    @property
    def stream(self) -> AudioStreamFacts:
        """The stream that a voice would be made from."""
        return self.streams[self.chosen]

    @property
    def joined(self) -> bool:
        """Whether its samples last a second longer than their timestamps span: time begins anew, as
        where recordings were put one behind the other."""
        heard = self.presented
        return heard is not None and self.decoded_s > heard.duration_s + JOINED_S

    @property
    def has_long_gaps(self) -> bool:
        """Whether its timestamps leave longer gaps than were filled with silence."""
        heard = self.presented if self.heard_s is None else None
        return heard is not None and heard.duration_s > self.duration_s + JOINED_S


class TimingFacts(Value):
    """Frames that are missing, and how the sound lies against the frames."""

    dropped_frames: int
    """Frames that are missing from gaps of one and a half intervals or more; at a variable
    rate such gaps are what the rate varies by, and the number says little."""
    audio_offset_s: float | None = None
    """Start of the sound less the start of the first frame; positive when the sound is late."""
    audio_drift_s: float | None = None
    """Length of the sound by its timestamps less its length by its samples. Positive when
    samples are missing, or the recorder's clocks ran apart. Where the sound was not decoded,
    its packets' lengths are counted, which tell gaps alone."""


class SignalSecond(Value):
    """One second of the signal, from the frames that were looked at."""

    at_s: float
    luma: float
    """Mean luma, 0 (black) to 255."""


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
    exposure_steps: tuple[float, ...] | None = None
    """Times at which the brightness steps and stays, without a cut."""
    flicker_percent: float | None = None
    """Root mean square of the alternation of brightness from frame to frame, in percent."""
    shake_percent: float | None = None
    """Root mean square of the background's unsteady movement between frames a fifth of a
    second apart, in percent of the picture's width; None when the background has no texture."""


class VideoFacts(Value):
    """The first video stream, from packets and headers; and the chosen sound."""

    codec: str
    codec_profile: str | None
    pixel_format: str | None
    stored_width: int
    stored_height: int
    width: int
    """As displayed: after rotation and sample aspect ratio."""
    height: int
    rotation_deg: Literal[0, 90, 180, 270]
    """Clockwise, after mirroring."""
    duration_s: float
    start_s: float
    frames: int
    frame_rate: float
    """From presentation timestamps: (frames - 1) / (last - first)."""
    frame_rate_constant: bool
    taken_rate: float | None = None
    """Frames per second that the camera states to have taken (Android); None for no statement."""
    described: bool = False
    """Whether tags say whose it is, or where, when or with what it was recorded."""
    color_transfer: str | None
    hdr: bool
    moov_position: Literal["front", "end", "fragmented"] | None
    """Where an mp4 or mov keeps its index; None for other containers."""
    bit_rate: int | None
    truncated: bool
    joined: bool = False
    """Whether time begins anew within it, as where recordings were put one behind the other: only
    the first one is looked at."""
    mirrored: bool = False
    """The container asks players to mirror it left to right before they turn it."""
    interlaced: bool = False
    other_streams: int = 0
    """Streams beside those that a player plays, which nobody looks at; what an edit list hides of
    those counts as one."""
    dolby_vision: str | None = None
    """Profile and, after the dot, what its base layer is for others: ``5.0`` nothing,
    ``8.1`` HDR10, ``8.4`` HLG; None without Dolby Vision."""
    audio: AudioFacts | None = None
    """None when the video has no audio stream."""
    timing: TimingFacts | None = None
    signal: SignalFacts | None = None
    """None when no frames were looked at."""

    @property
    def player_times(self) -> tuple[float, float]:
        """The presentation time at which a player starts, and how much later than that the sound
        does, 0 or more: both in seconds."""
        late_s = (self.timing.audio_offset_s or 0.0) if self.timing else 0.0
        return self.start_s + min(0.0, late_s), max(0.0, late_s)

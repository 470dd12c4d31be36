"""Facts to judge, as the probes would have found them."""

import pytest

from palprep.facts import Facts
from palprep.media import (
    AudioFacts,
    AudioLevels,
    AudioStreamFacts,
    FileFacts,
    ImageFacts,
    VideoFacts,
)
from palprep.media.facts import MediaType
from palprep.values import Kind

JPEG = MediaType(
    kind=Kind.IMAGE, format="jpeg", description="a JPEG image", mime="image/jpeg",
    extensions=(".jpg", ".jpeg"), accepted=True,
)  # fmt: skip
MP4 = MediaType(
    kind=Kind.VIDEO, format="mp4", description="an MP4 video", mime="video/mp4",
    extensions=(".mp4",), accepted=True,
)  # fmt: skip
WAV = MediaType(
    kind=Kind.AUDIO, format="wav", description="WAV sound", mime="audio/wav",
    extensions=(".wav",), accepted=True,
)  # fmt: skip


@pytest.fixture
def image_facts():
    """Build a flawless portrait's facts, with chosen fields of the still changed."""

    def build(name="ada.jpg", **changed):
        still = ImageFacts(
            format="jpeg", width=1600, height=1200,
            orientation=1, mode="RGB", bits_per_channel=8, icc_profile=None, icc_is_srgb=None,
            has_alpha=False, frames=1, metadata=(), base64_chars=1_000_000,
            decoding_mb=8.0,
        )  # fmt: skip
        file = FileFacts(path=name, name=name, size_bytes=750_000, type=JPEG)
        return Facts(file=file, image=still.model_copy(update=changed))

    return build


@pytest.fixture
def audio_facts():
    """Build a good recording's facts, with chosen fields of the sound or its levels changed."""

    def build(name="ada.wav", *, levels=(-6.0, -20.0), **changed):
        stream = AudioStreamFacts(
            index=0, codec=changed.pop("codec", "pcm_s16le"),
            sample_rate_hz=changed.pop("sample_rate_hz", 48_000),
            channels=changed.pop("channels", 1), layout="mono", bit_rate=None, duration_s=90.0,
        )  # fmt: skip
        sound = AudioFacts(
            duration_s=90.0, streams=(stream,), chosen=0,
            levels=AudioLevels(peak_dbfs=levels[0], rms_dbfs=levels[1]) if levels else None,
        )  # fmt: skip
        file = FileFacts(path=name, name=name, size_bytes=8_000_000, type=WAV)
        return Facts(file=file, recording=sound.model_copy(update=changed))

    return build


@pytest.fixture
def video_facts(audio_facts):
    """Build a flawless training video's facts, with chosen fields of the video changed."""

    def build(name="ada.mp4", *, size_bytes=90_000_000, media_type=MP4, **changed):
        video = VideoFacts(
            codec="h264", codec_profile="High",
            pixel_format="yuv420p", stored_width=1920, stored_height=1080,
            width=1920, height=1080, rotation_deg=0, duration_s=100.0,
            start_s=0.0, frames=3000, frame_rate=30.0,
            frame_rate_constant=True, color_transfer="bt709", hdr=False, moov_position="front",
            bit_rate=7_000_000, truncated=False, audio=audio_facts(codec="aac").recording,
        )  # fmt: skip
        file = FileFacts(path=name, name=name, size_bytes=size_bytes, type=media_type)
        return Facts(file=file, video=video.model_copy(update=changed))

    return build

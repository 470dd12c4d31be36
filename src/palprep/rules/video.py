"""Rules of a video's file: container, codecs, size, rate and length.

Each names the refusal of the service that it foretells.
"""

from __future__ import annotations

from palprep.facts.facts import Facts
from palprep.media.facts import VideoFacts
from palprep.rules.rule import Measured, Rule


class VideoRule(Rule):
    """A rule that needs nothing but the video's own facts."""

    def measure(self, facts: Facts) -> Measured | None:
        return None if facts.video is None else self.measure_video(facts.video)

    def measure_video(self, video: VideoFacts) -> Measured | None:
        """The measure of a video; every subclass gives one."""
        raise NotImplementedError


class VideoFormat(Rule):
    """MP4 is the container that training takes."""

    id = "video_format"
    label = "Container"
    predicts = "video_format"
    advice = "Put the streams into an MP4: palprep fix does, without re-encoding where it can."

    def measure(self, facts: Facts) -> Measured:
        return Measured(value=facts.file.type.format, shown=facts.file.type.description)


class VideoCodec(VideoRule):
    """H.264 is the picture codec that training takes."""

    id = "video_codec"
    label = "Video codec"
    predicts = "video_codec"
    advice = "Encode it as H.264: palprep fix does."

    def measure_video(self, video: VideoFacts) -> Measured:
        shown = f"{video.codec} {video.codec_profile}" if video.codec_profile else video.codec
        return Measured(value=video.codec, shown=shown)


class VideoPixelFormat(VideoRule):
    """8-bit 4:2:0 is what every H.264 decoder reads; HDR and 4:2:2 need converting."""

    id = "video_pixel_format"
    label = "Pixel format"
    predicts = "video_codec"
    advice = "Convert it to 8-bit 4:2:0: palprep fix does."

    def measure_video(self, video: VideoFacts) -> Measured:
        return Measured(value=video.pixel_format)


class VideoDynamicRange(VideoRule):
    """HDR shows washed out or too dark wherever nobody asks for it; SDR shows right."""

    id = "video_dynamic_range"
    label = "Standard dynamic range"
    predicts = "video_codec"
    advice = "Turn HDR off in the camera; palprep fix maps what was recorded to SDR."

    def measure_video(self, video: VideoFacts) -> Measured:
        kind = f"Dolby Vision {video.dolby_vision}" if video.dolby_vision else video.color_transfer
        return Measured(value=not video.hdr, shown=f"HDR ({kind})" if video.hdr else "SDR")


class VideoDolbyVision(VideoRule):
    """Dolby Vision without a base layer for others turns green and purple everywhere else."""

    id = "video_dolby_vision"
    label = "Dolby Vision for all"
    predicts = "video_codec"
    advice = (
        "Its colours cannot be converted here. Turn Dolby Vision (HDR video) off and record it "
        "again, or export it as SDR on the device that recorded it."
    )

    def measure_video(self, video: VideoFacts) -> Measured | None:
        if video.dolby_vision is None:
            return None
        readable = base_layer_shows(video)
        layer = "with a base layer that others show" if readable else "no base layer for others"
        return Measured(value=readable, shown=f"profile {video.dolby_vision}, {layer}")


class VideoUpright(VideoRule):
    """The picture is stored as it is shown, not turned or mirrored by a note to the player."""

    id = "video_upright"
    label = "Stored upright"
    advice = "Hold the camera upright; palprep fix turns the picture itself."

    def measure_video(self, video: VideoFacts) -> Measured:
        notes = [f"turned by {video.rotation_deg}°"] if video.rotation_deg else []
        notes += ["mirrored"] if video.mirrored else []
        return Measured(value=not notes, shown=" and ".join(notes) or "upright")


class VideoProgressive(VideoRule):
    """Whole pictures, not two half pictures taken at different moments and woven together."""

    id = "video_progressive"
    label = "Progressive"
    predicts = "video_fps"
    advice = "Set the camera to progressive (p, not i); palprep fix deinterlaces it."

    def measure_video(self, video: VideoFacts) -> Measured:
        interlaced = video.interlaced
        return Measured(value=not interlaced, shown="interlaced" if interlaced else "progressive")


class VideoAudioCodec(VideoRule):
    """AAC is the sound codec that goes with H.264 in an MP4."""

    id = "video_audio_codec"
    label = "Audio codec"
    predicts = "video_codec"
    advice = "Encode the sound as AAC: palprep fix does."

    def measure_video(self, video: VideoFacts) -> Measured | None:
        return None if video.audio is None else Measured(value=video.audio.stream.codec)


class VideoDuration(VideoRule):
    """One minute at the least for training; one and a half to two is best."""

    id = "video_duration"
    label = "Length"
    unit = "s"
    predicts = "video_duration"
    advice = "Record one and a half to two minutes: half speaking, half listening and still."

    def measure_video(self, video: VideoFacts) -> Measured:
        return Measured(value=video.duration_s, shown=f"{video.duration_s:.1f} s")


class VideoFrameRate(VideoRule):
    """Real frames per second, from the presentation timestamps and not from the header."""

    id = "video_frame_rate"
    label = "Frame rate"
    unit = "fps"
    predicts = "video_fps"
    advice = "Record at 25 or 30 frames per second; invented frames do not help."

    def measure_video(self, video: VideoFacts) -> Measured:
        # Timestamps of 30000/1001 in milliseconds round to 29.97 and 23.976 to 23.98.
        return Measured(value=round(video.frame_rate, 2), shown=f"{video.frame_rate:.2f} fps")


class VideoConstantFrameRate(VideoRule):
    """Evenly spaced frames keep lips and sound together."""

    id = "video_constant_frame_rate"
    label = "Constant frame rate"
    predicts = "video_fps"
    advice = "Turn off variable frame rate in the recorder, or let palprep fix re-time it."

    def measure_video(self, video: VideoFacts) -> Measured:
        constant = video.frame_rate_constant
        return Measured(value=constant, shown="constant" if constant else "variable")


class VideoResolution(VideoRule):
    """The shorter side as displayed, after rotation and sample aspect ratio."""

    id = "video_resolution"
    label = "Shorter side"
    unit = "px"
    advice = "Record in 1080p or better; enlarging it adds nothing."

    def measure_video(self, video: VideoFacts) -> Measured:
        return Measured(
            value=min(video.width, video.height), shown=f"{video.width} x {video.height} px"
        )


class VideoIndexInFront(VideoRule):
    """With its index in front a file can be read while it downloads."""

    id = "video_index_in_front"
    label = "Index in front"
    predicts = "download_link"
    advice = "Move the index to the front: palprep fix does, without re-encoding."

    def measure_video(self, video: VideoFacts) -> Measured | None:
        if video.moov_position is None:
            return None
        return Measured(value=video.moov_position == "front", shown=f"moov: {video.moov_position}")


class VideoComplete(VideoRule):
    """The file holds all that its index promises."""

    id = "video_complete"
    label = "Not cut off"
    predicts = "download_link"
    advice = "Copy it from the camera again, or download it again."

    def measure_video(self, video: VideoFacts) -> Measured:
        return Measured(
            value=not video.truncated, shown="cut off" if video.truncated else "complete"
        )


def base_layer_shows(video: VideoFacts) -> bool:
    """Whether players without Dolby Vision show the right colours; True for other videos."""
    return video.dolby_vision is None or not video.dolby_vision.endswith(".0")


VIDEO_RULES: tuple[type[Rule], ...] = (
    VideoFormat,
    VideoCodec,
    VideoPixelFormat,
    VideoDynamicRange,
    VideoDolbyVision,
    VideoUpright,
    VideoProgressive,
    VideoAudioCodec,
    VideoDuration,
    VideoFrameRate,
    VideoConstantFrameRate,
    VideoResolution,
    VideoIndexInFront,
    VideoComplete,
)

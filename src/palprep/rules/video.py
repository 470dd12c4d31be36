"""Rules of a video's file: container, codecs, size, rate and length.

Each names the refusal of the service that it predicts.
"""

from __future__ import annotations

from palprep.media.facts import FileFacts, VideoFacts
from palprep.rules.needs import FILE, VIDEO
from palprep.rules.rule import Measured, Rule


class VideoFormat(Rule[FileFacts]):
    """MP4 is the container that training takes."""

    needs = FILE
    id = "video_format"
    label = "Container"
    predicts = "video_format"
    advice = "Put the streams into an MP4: palprep fix does, without re-encoding where it can."

    def measure(self, file: FileFacts) -> Measured:
        return Measured(value=file.type.format, shown=file.type.description)


class VideoCodec(Rule[VideoFacts]):
    """H.264 is the video codec that training takes."""

    needs = VIDEO
    id = "video_codec"
    label = "Video codec"
    predicts = "video_codec"
    advice = "Encode it as H.264: palprep fix does."

    def measure(self, video: VideoFacts) -> Measured:
        shown = f"{video.codec} {video.codec_profile}" if video.codec_profile else video.codec
        return Measured(value=video.codec, shown=shown)


class VideoPixelFormat(Rule[VideoFacts]):
    """8-bit 4:2:0 is what every H.264 decoder reads; HDR and 4:2:2 need converting."""

    needs = VIDEO
    id = "video_pixel_format"
    label = "Pixel format"
    predicts = "video_codec"
    advice = "Convert it to 8-bit 4:2:0: palprep fix does."

    def measure(self, video: VideoFacts) -> Measured:
        return Measured(value=video.pixel_format)


class VideoDynamicRange(Rule[VideoFacts]):
    """The video is SDR. HDR looks washed out or too dark where a player does not expect it."""

    needs = VIDEO
    id = "video_dynamic_range"
    label = "Standard dynamic range"
    predicts = "video_codec"
    advice = "Turn HDR off in the camera; palprep fix maps what was recorded to SDR."

    def measure(self, video: VideoFacts) -> Measured:
        kind = f"Dolby Vision {video.dolby_vision}" if video.dolby_vision else video.color_transfer
        return Measured(value=not video.hdr, shown=f"HDR ({kind})" if video.hdr else "SDR")


class VideoDolbyVision(Rule[VideoFacts]):
    """A Dolby Vision video has a base layer for other players. Without it they show green and
    purple."""

    needs = VIDEO
    id = "video_dolby_vision"
    label = "Dolby Vision for all"
    predicts = "video_codec"
    advice = (
        "Its colours cannot be converted here. Turn Dolby Vision (HDR video) off and record it "
        "again, or export it as SDR on the device that recorded it."
    )

    def measure(self, video: VideoFacts) -> Measured | None:
        if video.dolby_vision is None:
            return None
        readable = base_layer_shows(video)
        layer = "with a base layer for others" if readable else "no base layer for others"
        return Measured(value=readable, shown=f"profile {video.dolby_vision}, {layer}")


class VideoUpright(Rule[VideoFacts]):
    """The frames are stored upright. No metadata asks the player to turn or to mirror them."""

    needs = VIDEO
    id = "video_upright"
    label = "Stored upright"
    advice = "Hold the camera upright; palprep fix turns the frames themselves."

    def measure(self, video: VideoFacts) -> Measured:
        notes = [f"turned by {video.rotation_deg}°"] if video.rotation_deg else []
        notes += ["mirrored"] if video.mirrored else []
        return Measured(value=not notes, shown=" and ".join(notes) or "upright")


class VideoProgressive(Rule[VideoFacts]):
    """Each frame is taken at one moment, not woven from two half frames (interlaced)."""

    needs = VIDEO
    id = "video_progressive"
    label = "Progressive"
    predicts = "video_fps"
    advice = "Set the camera to progressive (p, not i); palprep fix deinterlaces it."

    def measure(self, video: VideoFacts) -> Measured:
        interlaced = video.interlaced
        return Measured(value=not interlaced, shown="interlaced" if interlaced else "progressive")


class VideoAudioCodec(Rule[VideoFacts]):
    """AAC is the audio codec that goes with H.264 in an MP4."""

    needs = VIDEO
    id = "video_audio_codec"
    label = "Audio codec"
    predicts = "video_codec"
    advice = "Encode the audio as AAC: palprep fix does."

    def measure(self, video: VideoFacts) -> Measured | None:
        return None if video.audio is None else Measured(value=video.audio.stream.codec)


class VideoDuration(Rule[VideoFacts]):
    """One minute at the least for training; one and a half to two is best."""

    needs = VIDEO
    id = "video_duration"
    label = "Length"
    unit = "s"
    predicts = "video_duration"
    advice = "Record one and a half to two minutes: half speaking, half listening and still."

    def measure(self, video: VideoFacts) -> Measured:
        return Measured(value=video.duration_s, shown=f"{video.duration_s:.1f} s")


class VideoFrameRate(Rule[VideoFacts]):
    """Real frames per second, from the presentation timestamps and not from the header."""

    needs = VIDEO
    id = "video_frame_rate"
    label = "Frame rate"
    unit = "fps"
    predicts = "video_fps"
    advice = "Record at 25 or 30 frames per second; invented frames do not help."

    def measure(self, video: VideoFacts) -> Measured:
        # Timestamps of 30000/1001 in milliseconds round to 29.97 and 23.976 to 23.98.
        return Measured(value=round(video.frame_rate, 2), shown=f"{video.frame_rate:.2f} fps")


class VideoConstantFrameRate(Rule[VideoFacts]):
    """Evenly spaced frames keep lips and audio together."""

    needs = VIDEO
    id = "video_constant_frame_rate"
    label = "Constant frame rate"
    predicts = "video_fps"
    advice = "Turn off variable frame rate in the recorder, or let palprep fix re-time it."

    def measure(self, video: VideoFacts) -> Measured:
        constant = video.frame_rate_constant
        return Measured(value=constant, shown="constant" if constant else "variable")


class VideoResolution(Rule[VideoFacts]):
    """The shorter side as displayed, after rotation and sample aspect ratio."""

    needs = VIDEO
    id = "video_resolution"
    label = "Shorter side"
    unit = "px"
    advice = "Record in 1080p or better; enlarging it adds nothing."

    def measure(self, video: VideoFacts) -> Measured:
        return Measured(
            value=min(video.width, video.height), shown=f"{video.width} x {video.height} px"
        )


class VideoFaststart(Rule[VideoFacts]):
    """The index stands at the front, so that a player can start while the file downloads."""

    needs = VIDEO
    id = "video_faststart"
    label = "Index in front"
    predicts = "download_link"
    advice = "Move the index to the front: palprep fix does, without re-encoding."

    def measure(self, video: VideoFacts) -> Measured | None:
        if video.moov_position is None:
            return None
        return Measured(value=video.moov_position == "front", shown=f"moov: {video.moov_position}")


class VideoComplete(Rule[VideoFacts]):
    """The file holds everything that its index lists."""

    needs = VIDEO
    id = "video_complete"
    label = "Not cut off"
    predicts = "download_link"
    advice = "Copy it from the camera again, or download it again."

    def measure(self, video: VideoFacts) -> Measured:
        return Measured(
            value=not video.truncated, shown="cut off" if video.truncated else "complete"
        )


def base_layer_shows(video: VideoFacts) -> bool:
    """Whether players without Dolby Vision show the right colours; True for other videos."""
    return video.dolby_vision is None or not video.dolby_vision.endswith(".0")

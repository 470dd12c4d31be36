"""Rules of a video's file: container, codecs, size, rate and length.

Each names the refusal of the service that it predicts.
"""

from __future__ import annotations

from palprep.media import FileFacts, VideoFacts
from palprep.rules.measures import degrees
from palprep.rules.needs import FILE, VIDEO
from palprep.rules.rule import Measured, Rule, Unmeasured
from palprep.rules.sentences import ByLevel, Sentences

NO_PIXEL_FORMAT = Unmeasured(reason="The file does not state its pixel format.")


class VideoFormat(Rule[FileFacts]):
    """MP4 is the container that training takes."""

    needs = FILE
    id = "video_format"
    label = "Container"
    predicts = "video_format"
    sentences = Sentences(
        "The file is {measured}.",
        otherwise="The file is {measured}, which is not accepted.",
    )
    advice = "Put the streams into an MP4. palprep fix does so, without re-encoding where it can."

    def measure(self, file: FileFacts) -> Measured:
        return Measured(value=file.type.format, shown=file.type.description)


class VideoCodec(Rule[VideoFacts]):
    """H.264 is the video codec that training takes."""

    needs = VIDEO
    id = "video_codec"
    label = "Video codec"
    predicts = "video_codec"
    sentences = Sentences(
        "The video codec is {measured}.",
        otherwise="The video codec is {measured}, which is not accepted.",
    )
    advice = "Encode it as H.264. palprep fix does so."

    def measure(self, video: VideoFacts) -> Measured:
        shown = f"{video.codec} {video.codec_profile}" if video.codec_profile else video.codec
        return Measured(value=video.codec, shown=shown)


class VideoPixelFormat(Rule[VideoFacts]):
    """8-bit 4:2:0 is what every H.264 decoder reads; HDR and 4:2:2 need converting."""

    needs = VIDEO
    id = "video_pixel_format"
    label = "Pixel format"
    predicts = "video_codec"
    sentences = Sentences(
        "The pixel format is {measured}.",
        otherwise="The pixel format is {measured}, which not every decoder reads.",
    )
    advice = "Convert it to 8-bit 4:2:0. palprep fix does so."

    def measure(self, video: VideoFacts) -> Measured | Unmeasured:
        if video.pixel_format is None:
            return NO_PIXEL_FORMAT
        return Measured(value=video.pixel_format)


class VideoDynamicRange(Rule[VideoFacts]):
    """The video is SDR. HDR looks washed out or too dark where a player does not expect it."""

    needs = VIDEO
    id = "video_dynamic_range"
    label = "Standard dynamic range"
    predicts = "video_codec"
    sentences = Sentences(
        "The video has standard dynamic range.",
        otherwise="The video is HDR: not every player shows it in the right colours.",
    )
    advice = "Turn HDR off in the camera. palprep fix maps what was recorded to SDR."

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
    sentences = Sentences(
        "Players without Dolby Vision show the video, too.",
        otherwise="The video is Dolby Vision alone: other players show it green and purple.",
    )
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
    sentences = Sentences(
        "The frames are stored upright.",
        turned="The frames are stored turned, and the player must turn them by {degrees}.",
        mirrored="The frames are stored mirrored, and the player must mirror them.",
        both="The frames are stored mirrored and turned, and the player must undo both.",
    )
    advice = "Hold the camera upright. palprep fix turns the frames themselves."

    def measure(self, video: VideoFacts) -> Measured:
        notes = [f"turned by {video.rotation_deg}°"] if video.rotation_deg else []
        notes += ["mirrored"] if video.mirrored else []
        ways = {(True, False): "turned", (False, True): "mirrored", (True, True): "both"}
        return Measured(
            value=not notes,
            shown=" and ".join(notes) or "upright",
            way=ways.get((bool(video.rotation_deg), video.mirrored)),
            words={"degrees": degrees(video.rotation_deg)},
        )


class VideoProgressive(Rule[VideoFacts]):
    """Each frame is taken at one moment, not woven from two half frames (interlaced)."""

    needs = VIDEO
    id = "video_progressive"
    label = "Progressive"
    predicts = "video_fps"
    sentences = Sentences(
        "Each frame is taken at one moment.",
        otherwise="The video is interlaced: each frame is woven from two moments.",
    )
    advice = "Set the camera to progressive (p, not i). palprep fix deinterlaces it."

    def measure(self, video: VideoFacts) -> Measured:
        interlaced = video.interlaced
        return Measured(value=not interlaced, shown="interlaced" if interlaced else "progressive")


class VideoAudioCodec(Rule[VideoFacts]):
    """AAC is the audio codec that goes with H.264 in an MP4."""

    needs = VIDEO
    id = "video_audio_codec"
    label = "Audio codec"
    predicts = "video_codec"
    sentences = Sentences(
        "The audio codec is {measured}.",
        otherwise="The audio codec is {measured}, which is not the expected one.",
    )
    advice = "Encode the audio as AAC. palprep fix does so."

    def measure(self, video: VideoFacts) -> Measured | None:
        return None if video.audio is None else Measured(value=video.audio.stream.codec)


class VideoDuration(Rule[VideoFacts]):
    """One minute at the least for training; one and a half to two is best."""

    needs = VIDEO
    id = "video_duration"
    label = "Length"
    unit = "s"
    predicts = "video_duration"
    sentences = Sentences(
        "The video lasts {measured}.",
        below=ByLevel(
            fail="The video is too short: it lasts {measured}.",
            warn="The video is shorter than is best: it lasts {measured}.",
        ),
        above=ByLevel(
            fail="The video is too long: it lasts {measured}.",
            warn="The video is longer than is best: it lasts {measured}.",
        ),
    )
    advice = (
        "Record a training video of one and a half to two minutes: half speaking, half listening "
        "and still. A consent video needs the statement alone."
    )

    def measure(self, video: VideoFacts) -> Measured:
        return Measured(value=video.duration_s, shown=f"{video.duration_s:.1f} s")


class VideoFrameRate(Rule[VideoFacts]):
    """Real frames per second, from the presentation timestamps and not from the header."""

    needs = VIDEO
    id = "video_frame_rate"
    label = "Frame rate"
    unit = "fps"
    predicts = "video_fps"
    sentences = Sentences(
        "The video has {rate} frames per second.",
        below=ByLevel(
            fail="The video has too few frames: {rate} per second.",
            warn="The video has rather few frames: {rate} per second.",
        ),
        above="The video has too many frames: {rate} per second.",
    )
    advice = "Record at 25 or 30 frames per second. Invented frames do not help."

    def measure(self, video: VideoFacts) -> Measured:
        # Timestamps of 30000/1001 in milliseconds round to 29.97 and 23.976 to 23.98.
        rate = f"{video.frame_rate:.2f}"
        return Measured(value=round(video.frame_rate, 2), shown=f"{rate} fps", words={"rate": rate})


class VideoConstantFrameRate(Rule[VideoFacts]):
    """Evenly spaced frames keep lips and audio together."""

    needs = VIDEO
    id = "video_constant_frame_rate"
    label = "Constant frame rate"
    predicts = "video_fps"
    sentences = Sentences(
        "The frame rate is constant.", otherwise="The frame rate varies within the video."
    )
    advice = "Turn off the variable frame rate in the recorder, or let palprep fix re-time it."

    def measure(self, video: VideoFacts) -> Measured:
        constant = video.frame_rate_constant
        return Measured(value=constant, shown="constant" if constant else "variable")


class VideoResolution(Rule[VideoFacts]):
    """The shorter side as displayed, after rotation and sample aspect ratio."""

    needs = VIDEO
    id = "video_resolution"
    label = "Shorter side"
    unit = "px"
    sentences = Sentences(
        "The video has {measured}.",
        below="The video is too small: it has {measured}.",
        above="The video is too large: it has {measured}.",
    )
    advice = "Record in 1080p or better. Enlarging it adds nothing."

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
    sentences = Sentences(
        "The index stands at the front of the file.",
        end="The index stands at the end of the file: nothing plays before all is loaded.",
        fragmented="The index is spread over the file, and not at its front.",
    )
    advice = "Move the index to the front. palprep fix does so, without re-encoding."

    def measure(self, video: VideoFacts) -> Measured | None:
        if video.moov_position is None:
            return None
        place = video.moov_position
        return Measured(value=place == "front", shown=f"moov: {place}", way=place)


class VideoComplete(Rule[VideoFacts]):
    """The file holds everything that its index lists."""

    needs = VIDEO
    id = "video_complete"
    label = "Not cut off"
    predicts = "download_link"
    sentences = Sentences(
        "The file is complete.",
        otherwise="The file is cut off: it holds less than its index lists.",
    )
    advice = "Copy it from the camera again, or download it again."

    def measure(self, video: VideoFacts) -> Measured:
        return Measured(
            value=not video.truncated, shown="cut off" if video.truncated else "complete"
        )


def base_layer_shows(video: VideoFacts) -> bool:
    """Whether players without Dolby Vision show the right colours; True for other videos."""
    return video.dolby_vision is None or not video.dolby_vision.endswith(".0")

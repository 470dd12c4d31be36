"""What will be made of a video: the ffmpeg graph of its plan, and how frames are filtered and
encoded in it.

One input and one mp4, whatever steps the plan holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import ffmpeg

from palprep.errors import FixError
from palprep.fixes.graph import BARE, BARE_SOUND, address, read, seconds
from palprep.fixes.output import FixDone
from palprep.media import AudioStreamFacts, Source, VideoFacts, VideoHeader
from palprep.rules import base_layer_shows
from palprep.rules.plans import VideoPlan

H264: Mapping[str, Any] = {
    "c:v": "libx264",
    "profile:v": "high",
    "preset": "medium",
    "pix_fmt": "yuv420p",
}
"""What every player and service decodes; ``high`` with ``yuv420p`` is 8 bits, 4:2:0."""
CRF = {"crf": 18}
"""x264's constant quality at which an encode looks like its source."""

_HDR_TRANSFERS = frozenset({"smpte2084", "arib-std-b67"})
_LINEAR_709 = {"transferin": "linear", "primariesin": "709"}
_USUAL_RATES = tuple(
    Fraction(rate)
    for rate in ("24000/1001", "24", "25", "30000/1001", "30", "50", "60000/1001", "60")
)
_SNAP = Fraction(2, 100)
"""Phones waver by up to about 2 % around the rate that they mean to record."""

SOUND_RATE_BPS = 192_000
"""The rate of AAC-LC at which speech and its room sound like the original."""

_AAC = {"c:a": "aac", "b:a": SOUND_RATE_BPS, **BARE_SOUND}
_MP4 = {"f": "mp4", "movflags": "+faststart", "write_tmcd": 0}


@dataclass(frozen=True, slots=True)
class Cut:
    """What will be made of a video."""

    plan: VideoPlan
    source: Source
    header: VideoHeader
    facts: VideoFacts | None
    """Of a video that is encoded; None for one whose packets are copied."""
    sound: AudioStreamFacts | None
    """None for a video without sound."""

    @property
    def full_s(self) -> float:
        """Length of the source in seconds, counted where it was, else as stated."""
        return self.facts.duration_s if self.facts else self.header.duration_s

    @property
    def duration_s(self) -> float:
        """Length of the result in seconds."""
        if self.plan.trim is None:
            return self.full_s
        return max(min(self.plan.trim.end_s, self.full_s) - self.plan.trim.start_s, 0.0)

    def whole(self, target: Path, picture: Mapping[str, Any]) -> Any:
        """The run that writes the mp4. ``picture`` holds the encoder's options for rate and
        quality; they are ignored when the video's packets are copied."""
        source = self._read()
        streams, options = [self._picture(source)], dict(_MP4)
        if self.facts is None:
            options["c:v"] = "copy"
            if self.header.codec == "hevc":
                options["tag:v"] = "hvc1"  # players of Apple's open no other
        else:
            options.update(H264, **picture)
        if self.sound is not None:
            streams.append(self._sound(source, self.sound))
            options.update({"c:a": "copy"} if self.plan.copy_audio else _AAC)
        return ffmpeg.output(*streams, address(target), **BARE, **options)

    def analysis(self, picture: Mapping[str, Any]) -> Any:
        """The first of two passes: the frames alone, encoded into nothing."""
        return ffmpeg.output(self._picture(self._read()), "-", f="null", **H264, **picture)

    def _read(self) -> Any:
        trim = self.plan.trim
        if trim is None:
            return read(self.source)
        # On the input: decoding starts at the key frame before, and the cut is exact to
        # the frame all the same.
        window = {"t": seconds(trim.duration_s)}
        if trim.start_s > 0:
            window["ss"] = seconds(trim.start_s)
        return read(self.source, **window)

    def _picture(self, source: Any) -> Any:
        picture = source["V:0"]  # capital V: not a cover picture
        return filtered(picture, self.facts) if self.facts else picture

    def _sound(self, source: Any, stream: AudioStreamFacts) -> Any:
        sound = source[str(stream.index)]
        if self.plan.copy_audio:
            return sound
        # Silence where packets are missing and before a late start, so that players which
        # ignore time stamps stay in step too.
        return sound.filter("aresample", **{"async": 1, "first_pts": 0})


def filtered(picture: Any, facts: VideoFacts) -> Any:
    """``picture`` (an ffmpeg-python stream) at a constant rate, SDR, with even sides.

    ffmpeg itself turns and mirrors it first. Raises FixError when only Dolby's decoder could tell
    the colours.
    """
    if not base_layer_shows(facts):
        raise FixError(
            f"Dolby Vision {facts.dolby_vision} has no base layer for others, so that its colours "
            "cannot be converted; export it as SDR on the device that recorded it"
        )
    if facts.interlaced:
        # One picture per frame, so that the rate stays what was recorded.
        picture = picture.filter("bwdif", mode="send_frame")
    rate = constant_rate(facts)
    picture = picture.filter("fps", fps=f"{rate.numerator}/{rate.denominator}")
    if facts.color_transfer in _HDR_TRANSFERS:
        # Moebius leaves everything up to 0.3 of diffuse white as it was, and faces stand
        # there; BT.2408 puts diffuse white at 203 cd/m2. What HDR is, is told explicitly:
        # phones leave out the one or the other tag.
        wide = {"primariesin": "2020", "primaries": "2020"}
        coded = {"transferin": facts.color_transfer, "matrixin": "2020_ncl"}
        picture = (
            picture.filter("zscale", **coded, **wide, transfer="linear", npl=203)
            .filter("format", "gbrpf32le")
            .filter("zscale", transferin="linear", primariesin="2020", primaries="709")
            .filter("tonemap", tonemap="mobius", param=0.3, desat=0)
            .filter("zscale", **_LINEAR_709, transfer="709", matrix="709", range="tv")
            .filter("format", "yuv420p")
        )
    if facts.stored_width % 2 or facts.stored_height % 2:
        picture = picture.filter("crop", "trunc(iw/2)*2", "trunc(ih/2)*2", 0, 0)
    return picture


def constant_rate(facts: VideoFacts) -> Fraction:
    """Frames per second after an encode: the usual rate that the source keeps to within 2 %, else
    the source's mean."""
    recorded = Fraction(facts.frame_rate).limit_denominator(1001)
    nearest = min(_USUAL_RATES, key=lambda usual: abs(usual - recorded))
    return nearest if abs(nearest - recorded) <= recorded * _SNAP else recorded


def picture_words(facts: VideoFacts) -> tuple[FixDone, ...]:
    """What an encode of the video does, in words."""
    done = [
        FixDone(
            id="transcode_video",
            did=f"encoded the picture once: {facts.codec} {facts.pixel_format or ''} to H.264 "
            f"yuv420p, {facts.width // 2 * 2}x{facts.height // 2 * 2} px",
        )
    ]
    if facts.rotation_deg:
        done.append(FixDone(id="rotate", did=f"turned the picture by {facts.rotation_deg}°"))
    if facts.mirrored:
        done.append(FixDone(id="mirror", did="mirrored the picture as players did"))
    if facts.interlaced:
        done.append(FixDone(id="deinterlace", did="made whole pictures of interlaced ones"))
    if not facts.frame_rate_constant:
        rate = float(constant_rate(facts))
        did = f"constant {rate:.5g} frames per second, from {facts.frame_rate:.5g} on average"
        done.append(FixDone(id="constant_rate", did=did))
    if facts.color_transfer in _HDR_TRANSFERS:
        did = f"tone-mapped HDR ({facts.color_transfer}) to BT.709 SDR"
        done.append(FixDone(id="tone_map", did=did))
    return tuple(done)

"""Videos: one input and one mp4 with its index in front, encoded only where something must change,
whatever steps the plan holds.

An encode has constant quality, or as much of it as a limit of bytes allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from palprep import media
from palprep.errors import CannotFit
from palprep.fixes import graph
from palprep.fixes.output import Applied, FixDone, NewOutput, turn_done
from palprep.media import sources
from palprep.rules.plans import VideoPlan
from palprep.values import Span

H264: Mapping[str, Any] = {
    "c:v": "libx264",
    "profile:v": "high",
    "preset": "medium",
    "pix_fmt": "yuv420p",
}
"""What every player and service decodes; ``high`` with ``yuv420p`` is 8 bits, 4:2:0."""
CRF = {"crf": 18}
"""x264's constant quality at which an encode looks like its source."""

_LINEAR_709 = {"transferin": "linear", "primariesin": "709"}
_USUAL_RATES = tuple(
    Fraction(rate)
    for rate in ("24000/1001", "24", "25", "30000/1001", "30", "50", "60000/1001", "60")
)
_SNAP = Fraction(2, 100)
"""Phones waver by up to about 2 % around the rate that they mean to record."""

SOUND_RATE_BPS = 192_000
"""The rate of AAC-LC at which speech and its room sound like the original."""

_AAC = {"c:a": "aac", "b:a": SOUND_RATE_BPS, **graph.BARE_SOUND}
_MP4 = {"f": "mp4", "movflags": "+faststart", "write_tmcd": 0}


@dataclass(frozen=True, slots=True)
class Cut:
    """What will be made of a video."""

    plan: VideoPlan
    source: sources.Source
    facts: media.VideoFacts

    @property
    def sound(self) -> media.AudioStreamFacts | None:
        return self.facts.audio.stream if self.facts.audio else None

    @property
    def duration_s(self) -> float:
        """Length of the result in seconds; a player begins with a sound that comes first."""
        late_s = (self.facts.timing and self.facts.timing.audio_offset_s) or 0.0
        full_s = self.facts.duration_s - min(0.0, late_s)
        trim = self.plan.trim or Span(start_s=0.0, end_s=full_s)
        return max(min(trim.end_s, full_s) - trim.start_s, 0.0)

    def write(
        self, target: Path, picture: Mapping[str, Any], progress: graph.Progress | None
    ) -> None:
        """Write the mp4. ``picture`` holds the encoder's options for rate and quality; they are
        ignored when the video's packets are copied.
        """
        window: dict[str, Any] = {}
        trim = self.plan.trim
        if trim is not None:
            # On the input: decoding starts at the key frame before, and the cut is exact to
            # the frame all the same.
            window["t"] = graph.seconds(trim.duration_s)
            if trim.start_s > 0:
                # As a timestamp: ffmpeg would count from whatever stream starts first.
                starts_s, _ = self.facts.player_times
                window |= {"ss": graph.seconds(starts_s + trim.start_s), "seek_timestamp": 1}
        source = graph.read(self.source, **window)
        streams = [source["V:0"]]  # capital V: not a cover picture
        coding: dict[str, Any] = {"c:v": "copy"}
        if not self.plan.copy_video:
            encoded = filtered(streams[0], self.facts, self.plan.turned_deg)
            streams, coding = [encoded], {**H264, **picture}
        elif self.facts.codec == "hevc":
            coding["tag:v"] = "hvc1"  # players of Apple's open no other
        if self.sound is not None:
            streams.append(source[str(self.sound.index)])
            coding["c:a"] = "copy"
        if self.sound is not None and not self.plan.copy_audio:
            # Silence where packets are missing and before a late start, so that players which
            # ignore timestamps stay in step too.
            # In a graph of its own: when the size of the frames changes, theirs begins anew.
            pan = graph.mixdown(self.sound)
            filters = "aresample=async=1:first_pts=0" + (f",pan={pan}" if pan else "")
            if self.plan.mix != "keep":
                filters += ",aresample=ochl=stereo:rematrix_maxval=1"  # beyond it floats would clip
                filters += f",pan=mono|c0={graph.MIXES[self.plan.mix][0]}"
            coding.update(_AAC, af=filters)
            if trim is not None:
                # The silence before a late start is not counted by the input.
                coding["t"] = graph.seconds(self.duration_s)
        if self.facts.taken_rate is not None:
            # Slow motion stays slow, and a check of the new file says so.
            coding["movflags"] = f"{_MP4['movflags']}+use_metadata_tags"
            coding["metadata"] = f"{media.TAKEN_RATE_TAG}={self.facts.taken_rate:g}"
        options = {**_MP4, **coding}
        graph.write(target, *streams, duration_s=self.duration_s, progress=progress, **options)


def filtered(picture: Any, facts: media.VideoFacts, turned_deg: int = 0) -> Any:
    """``picture`` (an ffmpeg-python stream) at a constant rate, SDR, of square pixels, with even
    sides, turned clockwise by ``turned_deg``.

    ffmpeg itself turns and mirrors it first as the file says.
    """
    if facts.interlaced:
        # One picture per frame, so that the rate stays what was recorded.
        picture = picture.filter("bwdif", mode="send_frame")
    for _ in range(turned_deg // 90):
        picture = picture.filter("transpose", "clock")
    rate = constant_rate(facts)
    picture = picture.filter("fps", fps=f"{rate.numerator}/{rate.denominator}")
    if facts.hdr:
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
    elif any(order in (facts.pixel_format or "") for order in ("rgb", "bgr", "gbr")):
        # ffmpeg would take the matrix of standard definition, and not say so.
        picture = picture.filter("scale", out_color_matrix="bt709").filter("format", "yuv420p")
    if {facts.width, facts.height} != {facts.stored_width, facts.stored_height}:
        # Camcorders store narrow pixels. Not everybody who reads the frames widens them.
        picture = picture.filter("scale", *_sides(facts, turned_deg)).filter("setsar", 1)
    elif facts.stored_width % 2 or facts.stored_height % 2:
        picture = picture.filter("crop", "trunc(iw/2)*2", "trunc(ih/2)*2", 0, 0)
    return picture


def _sides(facts: media.VideoFacts, turned_deg: int) -> tuple[int, int]:
    """Width and height after an encode."""
    sides = facts.width // 2 * 2, facts.height // 2 * 2
    return sides[::-1] if turned_deg % 180 else sides


def constant_rate(facts: media.VideoFacts) -> Fraction:
    """Frames per second after an encode: a usual rate within 2 % of the mean, else the mean."""
    # Of frames that are hours apart, or of one without a length, nothing would be left.
    recorded = max(Fraction(facts.frame_rate).limit_denominator(1001), Fraction(1, 1001))
    nearest = min(_USUAL_RATES, key=lambda usual: abs(usual - recorded))
    return nearest if abs(nearest - recorded) <= recorded * _SNAP else recorded


def picture_words(facts: media.VideoFacts, turned_deg: int) -> Iterator[FixDone]:
    """What an encode of the video does, in words."""
    wide, high = _sides(facts, turned_deg)
    did = (
        f"encoded the picture once: {facts.codec} {facts.pixel_format or ''} to H.264 "
        f"yuv420p, {wide}x{high} px"
    )
    yield FixDone(id="transcode_video", did=did)
    if facts.rotation_deg:
        yield FixDone(id="rotate", did=f"turned the picture by {facts.rotation_deg}°")
    if facts.mirrored:
        yield FixDone(id="mirror", did="mirrored the picture as players did")
    if turned_deg:
        yield turn_done(turned_deg)
    if facts.interlaced:
        yield FixDone(id="deinterlace", did="made whole pictures of interlaced ones")
    if not facts.frame_rate_constant:
        rate = float(constant_rate(facts))
        did = f"constant {rate:.5g} frames per second, from {facts.frame_rate:.5g} on average"
        yield FixDone(id="constant_rate", did=did)
    if facts.hdr:
        yield FixDone(id="tone_map", did=f"tone-mapped HDR ({facts.color_transfer}) to BT.709 SDR")


_MUXING = 0.985
"""Share of the bytes that packets may take; the rest is the mp4's index."""
_BUFFER_S = 1
"""Over so many seconds x264 keeps to a rate; at the beginning it may take as much more at once."""
_MOST_BPS = 60_000_000
"""A highest rate above it would make x264 claim a level that many players do not take."""
_LEAST_BITS_PER_PIXEL = 0.015
"""Below it x264 smears faces, which are what the video is for."""


def fix_video(
    plan: VideoPlan,
    source: sources.Source,
    new: NewOutput,
    progress: graph.Progress | None,
    known: media.VideoFacts | None = None,
) -> Applied:
    """Write the plan's video and audio of ``source``, whose facts may be ``known``, as an mp4.

    What edits of the source leave out stays out: such a video is encoded. Rotation stays as
    metadata when the packets are copied, and is applied when they are encoded. All other metadata
    is left behind. Raises CannotFit when no rate fits ``max_size_bytes``.
    """
    if (movie := source.content.movie) and movie.is_cut:
        plan = plan.model_copy(update={"copy_video": False, "copy_audio": False})
    cut = Cut(plan, source, known or media.probe_video(source))
    with new(".mp4") as output:
        fitted = _write_within(cut, output.temporary, progress)
    done = (*_done(cut), *fitted)
    copied = plan.copy_video and (plan.copy_audio or cut.sound is None) and plan.trim is None
    return Applied(path=str(output.path), fixes=done, coding_kept=copied)


def _done(cut: Cut) -> Iterator[FixDone]:
    plan, sound = cut.plan, cut.sound
    if plan.trim:
        start, end = plan.trim.start_s, plan.trim.start_s + cut.duration_s
        why = next(
            (f": {each.why}" for each in plan.reasons if each.fix == "trim" and each.why), ""
        )
        kept = (Span(start_s=start, end_s=end),)
        yield FixDone(id="trim", did=f"kept {start:.2f} s to {end:.2f} s{why}", kept=kept)
    copied = [cut.facts.codec] if plan.copy_video else []
    copied += [sound.codec] if sound and plan.copy_audio else []
    if copied:
        did = f"copied the {' and '.join(copied)} packets into an mp4 unchanged"
        yield FixDone(id="remux", did=did)
    if not plan.copy_video:
        yield from picture_words(cut.facts, plan.turned_deg)
    if sound and not plan.copy_audio:
        did = f"encoded the sound once: {graph.stream_words(sound)} to AAC"
        yield FixDone(id="transcode_audio", did=did)
    if sound and plan.mix != "keep":
        yield FixDone(id="mix", did=graph.MIXES[plan.mix][1])
    if "resync" in {reason.fix for reason in plan.reasons}:
        did = "silence stands where sound is missing, so that it keeps step with the picture"
        yield FixDone(id="resync", did=did)
    if cut.facts.moov_position != "front":
        yield FixDone(id="faststart", did="put the index in front")
    did = f"left the {cut.source.type.format}'s tags, places and device names behind"
    yield FixDone(id="strip_metadata", did=did)


def _write_within(cut: Cut, target: Path, progress: graph.Progress | None) -> tuple[FixDone, ...]:
    """Write ``cut`` to ``target``, no longer than its plan allows, and say what that took. Raises
    CannotFit when the bytes leave too little rate for a usable picture."""
    max_size_bytes = cut.plan.max_size_bytes
    if max_size_bytes is None:
        cut.write(target, CRF, progress)
        return ()
    whole_bps = max_size_bytes * 8 * _MUXING / (cut.duration_s + _BUFFER_S)
    allowed_bps = int(whole_bps) - (0 if cut.sound is None else SOUND_RATE_BPS)
    pixels_per_s = cut.facts.width * cut.facts.height * constant_rate(cut.facts)
    least_bps = int(pixels_per_s * _LEAST_BITS_PER_PIXEL)
    if allowed_bps < least_bps:
        raise CannotFit(
            f"{cut.source.name}: {max_size_bytes:,} bytes leave "
            f"{max(allowed_bps, 0) // 1000:,} kbit/s for the picture, and "
            f"{least_bps // 1000:,} is the least that keeps a face; trim it shorter"
        )
    allowed_bps = min(allowed_bps, _MOST_BPS)
    capped = {**CRF, "maxrate": allowed_bps, "bufsize": _BUFFER_S * allowed_bps}
    cut.write(target, capped, progress)
    size, rate = target.stat().st_size, f"{allowed_bps // 1000:,} kbit/s"
    if size > max_size_bytes:
        raise CannotFit(
            f"{cut.source.name} stays above {max_size_bytes:,} bytes at {rate}; trim it shorter"
        )
    did = f"fitted under {max_size_bytes:,} bytes: {size:,}, at {rate} or less"
    return (FixDone(id="fit_size", did=did),)

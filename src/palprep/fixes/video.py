"""Videos: one mp4 with its index in front, encoded only where something must change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from palprep.errors import FixError
from palprep.fixes.audio import stream_at
from palprep.fixes.cut import Cut
from palprep.fixes.done import Applied, FixDone
from palprep.fixes.graph import stream_words
from palprep.fixes.header import VideoHeader, read_header
from palprep.fixes.output import new_output
from palprep.fixes.rate import write_within
from palprep.fixes.video_filters import picture_words
from palprep.media.facts import AudioStreamFacts
from palprep.media.source import Source
from palprep.media.video import probe_video
from palprep.rules.plans.plan import MP4_AUDIO, MP4_VIDEO, VideoPlan
from palprep.values import Span


def fix_video(
    plan: VideoPlan,
    source: Source,
    target_stem: Path,
    *,
    overwrite: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Applied:
    """Write the plan's video and audio of ``source`` next to ``target_stem`` as an mp4.

    Rotation stays as metadata when the packets are copied, and is applied when they are encoded.
    All other metadata is left behind. Raises FixError for a plan that the source does not
    allow, CannotFit when no rate fits ``max_size_bytes``.
    """
    header = read_header(source)
    cut = Cut(
        plan,
        source,
        header=header,
        facts=None if plan.copy_video else probe_video(source, levels=False),
        sound=_sound(plan, header, source),
    )
    _require_possible(cut)
    with new_output(target_stem, ".mp4", source=source.path, overwrite=overwrite) as output:
        fitted = write_within(plan.max_size_bytes, cut, output.temporary, progress=progress)
    return Applied(path=str(output.path), fixes=(*_done(cut), *fitted))


def _sound(plan: VideoPlan, header: VideoHeader, source: Source) -> AudioStreamFacts | None:
    if plan.audio_stream is not None:
        return stream_at(header.sounds, plan.audio_stream, source)
    return header.sounds[header.chosen] if header.sounds else None


def _require_possible(cut: Cut) -> None:
    kept = [
        (cut.plan.copy_video, cut.header.codec, MP4_VIDEO, "copy_video"),
        (
            cut.plan.copy_audio and cut.sound,
            cut.sound and cut.sound.codec,
            MP4_AUDIO,
            "copy_audio",
        ),
    ]
    for copied, codec, codecs, field in kept:
        if copied and codec not in codecs:
            raise FixError(
                f"{codec} packets cannot be copied into an mp4; plan an encode ({field}=False)"
            )
    if cut.duration_s <= 0:
        raise FixError(
            f"The trim starts after the end of {cut.source.name}, which lasts {cut.full_s:.1f} s"
        )


def _done(cut: Cut) -> Iterator[FixDone]:
    plan, sound = cut.plan, cut.sound
    if plan.trim:
        start, end = plan.trim.start_s, plan.trim.start_s + cut.duration_s
        why = next(
            (f": {each.why}" for each in plan.reasons if each.fix == "trim" and each.why), ""
        )
        kept = (Span(start_s=start, end_s=end),)
        yield FixDone(id="trim", did=f"kept {start:.2f} s to {end:.2f} s{why}", kept=kept)
    copied = [cut.header.codec] if plan.copy_video else []
    copied += [sound.codec] if sound and plan.copy_audio else []
    if copied:
        did = f"copied the {' and '.join(copied)} packets into an mp4 unchanged"
        yield FixDone(id="remux", did=did)
    if cut.facts is not None:
        yield from picture_words(plan, cut.facts)
    if sound and not plan.copy_audio:
        did = f"encoded the sound once: {stream_words(sound)} to AAC"
        yield FixDone(id="transcode_audio", did=did)
    if "resync" in {reason.fix for reason in plan.reasons} and not plan.audio_delay_s:
        did = "silence stands where sound is missing, so that it keeps step with the picture"
        yield FixDone(id="resync", did=did)
    if plan.audio_delay_s or plan.audio_tempo != 1.0:
        did = f"shifted the sound by {plan.audio_delay_s:+.3f} s, speed x{plan.audio_tempo:.6g}"
        yield FixDone(id="resync", did=did)
    if not cut.header.index_in_front:
        yield FixDone(id="faststart", did="put the index in front")
    did = f"left the {cut.source.type.format}'s tags, places and device names behind"
    yield FixDone(id="strip_metadata", did=did)

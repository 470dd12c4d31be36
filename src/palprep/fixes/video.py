"""Videos: one mp4 with its index in front, encoded only where something must change.

Under a number of bytes it has constant quality when that fits, else two passes at a rate.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from palprep.errors import CannotFit, FixError
from palprep.fixes.audio import stream_at
from palprep.fixes.cut import CRF, SOUND_RATE_BPS, Cut, constant_rate, picture_words
from palprep.fixes.graph import Progress, Stages, stream_words
from palprep.fixes.output import Applied, FixDone, NewOutput
from palprep.media import (
    AudioStreamFacts,
    Source,
    VideoFacts,
    VideoHeader,
    probe_video,
    read_header,
    run_ffmpeg,
)
from palprep.rules.plans import MP4_AUDIO, MP4_VIDEO, VideoPlan
from palprep.values import Span

_MUXING = 0.985
"""Share of the bytes that packets may take; the rest is the mp4's index."""
_STEP_DOWN = 0.95
"""x264 meets a rate to within some percent; after a miss it is asked for less."""
_TRIES = 4
_LEAST_BITS_PER_PIXEL = 0.015
"""Below it x264 smears faces, which are what the video is for."""


def fix_video(
    plan: VideoPlan, source: Source, new: NewOutput, progress: Progress | None
) -> Applied:
    """Write the plan's video and audio of ``source`` as an mp4.

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
    with new(".mp4") as output:
        fitted = write_within(plan.max_size_bytes, cut, output.temporary, progress=progress)
    return Applied(path=str(output.path), fixes=(*_done(cut), *fitted))


def _sound(plan: VideoPlan, header: VideoHeader, source: Source) -> AudioStreamFacts | None:
    if plan.audio_stream is not None:
        return stream_at(header.sounds, plan.audio_stream, source)
    return header.sounds[header.chosen] if header.sounds else None


def _require_possible(cut: Cut) -> None:
    kept = [(cut.header.codec, MP4_VIDEO, "copy_video")] if cut.plan.copy_video else []
    if cut.sound and cut.plan.copy_audio:
        kept.append((cut.sound.codec, MP4_AUDIO, "copy_audio"))
    for codec, codecs, field in kept:
        if codec not in codecs:
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
        yield from picture_words(cut.facts)
    if sound and not plan.copy_audio:
        did = f"encoded the sound once: {stream_words(sound)} to AAC"
        yield FixDone(id="transcode_audio", did=did)
    if "resync" in {reason.fix for reason in plan.reasons}:
        did = "silence stands where sound is missing, so that it keeps step with the picture"
        yield FixDone(id="resync", did=did)
    if not cut.header.index_in_front:
        yield FixDone(id="faststart", did="put the index in front")
    did = f"left the {cut.source.type.format}'s tags, places and device names behind"
    yield FixDone(id="strip_metadata", did=did)


def write_within(
    max_size_bytes: int | None, cut: Cut, target: Path, *, progress: Progress | None = None
) -> tuple[FixDone, ...]:
    """Write ``cut`` to ``target``, at most ``max_size_bytes`` long, and say what that took.

    Raises CannotFit when the bytes leave too little rate for a usable picture, or when the
    plan copies packets that are too large together.
    """
    stages = Stages(progress)
    budget = None if max_size_bytes is None else _picture_rate(max_size_bytes, cut)
    if budget is None or not _surely_over(budget, cut):
        share = 1.0 if budget is None else 0.9
        run_ffmpeg(cut.whole(target, CRF), duration_s=cut.duration_s, progress=stages.next(share))
        if max_size_bytes is None or target.stat().st_size <= max_size_bytes:
            return ()
    if cut.facts is None:
        raise CannotFit(
            f"{cut.source.name} copied as it is exceeds {max_size_bytes:,} bytes; "
            "plan an encode (copy_video=False) or a shorter trim"
        )
    fitted = _two_passes(
        cut,
        target,
        stages,
        max_size_bytes=max_size_bytes or 0,
        budget_bps=budget or 0,
        least_bps=_least_rate(cut.facts),
    )
    return (fitted,)


def _picture_rate(max_size_bytes: int, cut: Cut) -> int:
    sound_rate = 0
    if cut.sound is not None:
        copied = cut.sound.bit_rate if cut.plan.copy_audio else None
        sound_rate = copied or SOUND_RATE_BPS
    return int(max_size_bytes * 8 * _MUXING / max(cut.duration_s, 0.04)) - sound_rate


def _surely_over(budget_bps: int, cut: Cut) -> bool:
    """Whether constant quality is not worth trying: it seldom halves an efficient source."""
    rate = cut.facts.bit_rate if cut.facts else None
    return rate is not None and rate > 2 * budget_bps


def _two_passes(
    cut: Cut, target: Path, stages: Stages, *, max_size_bytes: int, budget_bps: int, least_bps: int
) -> FixDone:
    with tempfile.TemporaryDirectory(prefix="palprep-") as folder:
        log = {"passlogfile": str(Path(folder) / "pass")}
        rate = budget_bps
        for attempt in range(_TRIES):
            if rate < least_bps:
                raise CannotFit(
                    f"{cut.source.name}: {max_size_bytes:,} bytes leave {max(rate, 0) // 1000:,} "
                    f"kbit/s for the picture, and {least_bps // 1000:,} is the least that keeps a "
                    "face; trim it shorter"
                )
            settings = {"b:v": rate, **log}
            if attempt == 0:
                run_ffmpeg(
                    cut.analysis({**settings, "pass": 1}),
                    duration_s=cut.duration_s,
                    progress=stages.next(0.35),
                )
            run_ffmpeg(
                cut.whole(target, {**settings, "pass": 2}),
                duration_s=cut.duration_s,
                progress=stages.next(0.9),
            )
            size = target.stat().st_size
            if size <= max_size_bytes:
                did = (
                    f"fitted under {max_size_bytes:,} bytes: two passes at {rate // 1000:,} "
                    f"kbit/s gave {size:,}"
                )
                return FixDone(id="fit_size", did=did)
            rate = int(rate * _STEP_DOWN * max_size_bytes / size)
    raise CannotFit(
        f"{cut.source.name} stays above {max_size_bytes:,} bytes after {_TRIES} encodes; "
        "trim it shorter"
    )


def _least_rate(facts: VideoFacts) -> int:
    pixels_per_s = facts.width * facts.height * constant_rate(facts)
    return int(pixels_per_s * _LEAST_BITS_PER_PIXEL)

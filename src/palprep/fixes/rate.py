"""Videos under a number of bytes: constant quality when that fits, else two passes at a rate."""

from __future__ import annotations

import tempfile
from pathlib import Path

from palprep.errors import CannotFit
from palprep.fixes.cut import SOUND_RATE_BPS, Cut
from palprep.fixes.done import FixDone
from palprep.fixes.progress import Progress, Stages
from palprep.fixes.video_filters import CRF, constant_rate
from palprep.media.facts import VideoFacts
from palprep.media.ffmpeg import run
from palprep.rules.plans.plan import VideoPlan

_MUXING = 0.985
"""Share of the bytes that packets may take; the rest is the mp4's index."""
_STEP_DOWN = 0.95
"""x264 meets a rate to within some percent; after a miss it is asked for less."""
_TRIES = 4
_LEAST_BITS_PER_PIXEL = 0.015
"""Below it x264 smears faces, which are what the video is for."""


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
        run(cut.whole(target, CRF), duration_s=cut.duration_s, progress=stages.next(share))
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
        least_bps=_least_rate(cut.plan, cut.facts),
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
                run(
                    cut.analysis({**settings, "pass": 1}),
                    duration_s=cut.duration_s,
                    progress=stages.next(0.35),
                )
            run(
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


def _least_rate(plan: VideoPlan, facts: VideoFacts) -> int:
    pixels_per_s = facts.width * facts.height * constant_rate(plan, facts)
    return int(pixels_per_s * _LEAST_BITS_PER_PIXEL)

"""From a report to the smallest fix: a plan says what will be done and why.

A plan is a value. It holds every parameter, so that the same plan applied to the same file
gives the same output. It can be shown before anything is written.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from palprep.rules.report import Report
from palprep.values import Outcome, Span, Value

MP4_VIDEO = frozenset({"h264", "hevc", "av1", "vp9", "mpeg4"})
MP4_AUDIO = frozenset({"aac", "mp3", "opus", "flac", "alac", "ac3", "eac3"})
"""Codecs whose packets an mp4 holds as they are, and players open."""

CROSSFADE_S = 0.02
"""Seconds by which neighbouring stretches of a voice overlap where they are joined."""


class Reason(Value):
    """Why the plan holds a step: the fix, and the checks it answers (may be empty for
    steps that every prepared file gets, such as removing metadata)."""

    fix: str
    answers: tuple[str, ...] = ()
    why: str = ""
    """Why this choice was made among several, with its numbers."""


class Crop(Value):
    """In pixels of the upright image, before any levelling."""

    left: int
    top: int
    width: int
    height: int

    def bounds(self, level_deg: float) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of what it covers of the image, turned by ``level_deg``."""
        turn = math.radians(level_deg)
        cos, sin = abs(math.cos(turn)), abs(math.sin(turn))
        half_width = (self.width * cos + self.height * sin) / 2
        half_height = (self.width * sin + self.height * cos) / 2
        x, y = self.left + self.width / 2, self.top + self.height / 2
        return x - half_width, y - half_height, x + half_width, y + half_height

    def lies_within(self, width: int, height: int, *, level_deg: float = 0.0) -> bool:
        """Whether the crop, turned with its image by ``level_deg``, shows nothing but the image:
        all four corners stand inside ``width`` x ``height`` pixels.
        """
        left, top, right, bottom = self.bounds(level_deg)
        # Rounding of the sine only; a tenth of a pixel outside is outside.
        return min(left, top, width - right, height - bottom) >= -1e-6


class ImagePlan(Value):
    """One decode, these steps in this order, one encode."""

    reasons: tuple[Reason, ...]
    turned_deg: int = 0
    """Turn clockwise by 0, 90, 180 or 270 degrees. All that follows is of the turned image."""
    level_deg: float = 0.0
    """Turn counter-clockwise by this much about the crop's centre, before cropping. Needs a
    crop, since a turned image has corners that show nothing."""
    crop: Crop | None = None
    exposure_ev: float = 0.0
    """Stops near black: in linear light x becomes kx / (1 + (k - 1)x), k two to their power."""
    white_balance: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Gains of R, G and B, applied in linear light."""
    png: bool = False
    """Whether the output is a PNG where that fits at full size, else a JPEG."""
    max_base64_chars: int
    max_side_px: int | None = None
    max_memory_mb: float | None = None
    """What decoding may take; a JPEG of more is decoded smaller. None is no limit."""


Mix = Literal["keep", "average", "first", "second", "difference"]
"""Of stereo sound: ``first`` or ``second`` where the other channel is silent, ``difference`` where
one channel has its phase inverted, so that an average would cancel. Mono stays mono; more than two
channels are first mixed down to stereo."""


class VideoPlan(Value):
    """One mp4 with its index at the front; video and audio are each copied or encoded once.

    Encoded frames have a constant rate and BT.709 SDR; encoded audio keeps step with them. Nothing
    of a trim that does not start at 0 is copied: packets can be cut at key frames only.
    """

    reasons: tuple[Reason, ...]
    turned_deg: int = 0
    """Turn clockwise by 0, 90, 180 or 270 degrees."""
    copy_video: bool
    copy_audio: bool
    trim: Span | None = None
    """In seconds from the start of the source."""
    max_size_bytes: int | None = None
    """The largest size of the output; None is no limit."""
    mix: Mix = "keep"
    """What is made of sound whose channels do not belong together. It is not copied then."""


class VoicePlan(Value):
    """One voice sample as WAV of 16 bits: speech cut out and joined, cleaned, set to a loudness."""

    reasons: tuple[Reason, ...]
    copies: bool = False
    """Copy the packets of the stream that a player plays into a file of their own, and do none of
    what follows."""
    spans: tuple[Span, ...] = ()
    """What to keep, in order and apart, each longer than two crossfades; empty keeps everything."""
    mix: Mix = "average"
    high_pass_hz: float | None = None
    """Fourth-order corner against hum and rumble."""
    hum_hz: float | None = None
    """The mains hum to take out, with its multiples, which lie above that corner."""
    loudness_lufs: float | None = None
    """Integrated loudness to reach (EBU R 128); None leaves the level alone."""
    true_peak_dbtp: float = -3.0
    """Ceiling of the true peak when a loudness is set."""
    noise_dbfs: tuple[float, float] | None = None
    """The noise between the words of the source, and the highest level to which a gain may raise
    it, even if that leaves the loudness too low."""


Plan = ImagePlan | VideoPlan | VoicePlan

_LEFT_OUT: Mapping[str, Mapping[str, object]] = {
    "white_balance": {"white_balance": (1.0, 1.0, 1.0)},
    "exposure": {"exposure_ev": 0.0},
    "level": {"level_deg": 0.0, "loudness_lufs": None},
    "crop": {"crop": None, "level_deg": 0.0},
    "high_pass": {"high_pass_hz": None, "hum_hz": None},
    "mix": {"mix": "keep"},
    "select": {"spans": ()},
    "trim": {"trim": None},
}
"""Fixes that a plan can do without, and what its fields hold without them."""


def with_less(plan: Plan) -> Iterator[tuple[tuple[str, ...], Plan]]:
    """Smaller plans, each behind the fixes that it leaves out: one after the other of those that
    the plan can do without, then all of them. None that would do nothing."""
    steps = tuple(each.fix for each in plan.reasons if each.fix in _LEFT_OUT)
    for out in (*((step,) for step in steps), *([steps] if len(steps) > 1 else [])):
        # What is turned must be cropped.
        gone = {*out, "level"} if "crop" in out else {*out}
        kept = tuple(each for each in plan.reasons if each.fix not in gone)
        fields = {name: value for fix in out for name, value in _LEFT_OUT[fix].items()}
        if kept:
            known = {name: fields[name] for name in fields.keys() & type(plan).model_fields.keys()}
            yield out, plan.model_copy(update={**known, "reasons": kept})


def reasons_for(report: Report, fixes: Mapping[str, Iterable[str]]) -> tuple[Reason, ...]:
    """The fixes, in their order, that a check which did not pass asks for."""
    asking = not_passed(report)
    return tuple(
        Reason(fix=fix, answers=answered)
        for fix, checks in fixes.items()
        if (answered := tuple(check for check in checks if check in asking))
    )


def not_passed(report: Report) -> frozenset[str]:
    """Ids of the checks that failed or warned."""
    return frozenset(check.id for check in report.having(Outcome.FAIL, Outcome.WARN))

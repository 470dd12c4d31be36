"""From a report to the smallest repair: a plan says what will be done and why.

A plan is a value. It holds every parameter, so that the same plan applied to the same file
gives the same output, and so that it can be shown before anything is written.
"""

from __future__ import annotations

from typing import Literal

from palprep.values import Value


class Reason(Value):
    """Why the plan holds a step: the fix, and the checks it answers (may be empty for
    steps that every prepared file gets, such as removing metadata)."""

    fix: str
    answers: tuple[str, ...] = ()


class Crop(Value):
    """In pixels of the upright picture, before any levelling."""

    left: int
    top: int
    width: int
    height: int


class StillPlan(Value):
    """One decode, these steps in this order, one encode."""

    kind: Literal["still"] = "still"
    reasons: tuple[Reason, ...]
    level_deg: float = 0.0
    """Turn counter-clockwise by this much about the crop's centre, before cropping."""
    crop: Crop | None = None
    exposure_ev: float = 0.0
    """Stops, applied in linear light."""
    white_balance: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Gains of R, G and B, applied in linear light."""
    formats: tuple[str, ...] = ("jpeg",)
    """Output formats to try, best first, among ``jpeg`` and ``png``."""
    max_base64_chars: int
    max_side_px: int | None = None


class SoundPlan(Value):
    """One audio file from the chosen stream of the source."""

    kind: Literal["sound"] = "sound"
    reasons: tuple[Reason, ...]
    stream: int
    copy_codec: bool
    """Copy the packets into ``container``; otherwise decode and encode once."""
    container: Literal["m4a", "mp3", "wav", "flac", "ogg", "webm"]


class VideoPlan(Value):
    """One mp4 with its index in front."""

    kind: Literal["video"] = "video"
    reasons: tuple[Reason, ...]
    copy_video: bool
    copy_audio: bool


Plan = StillPlan | SoundPlan | VideoPlan

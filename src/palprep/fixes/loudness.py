"""Loudness by two passes: measure the whole (EBU R 128), then turn it up or down once.

Not by ffmpeg's loudnorm: when the peaks stand in the way, it turns itself into an automatic
gain control without saying so, and raises the noise in every pause. A plain gain with a
true-peak limiter does not. Nor is loudnorm needed to measure: ebur128 gives the same figures
in a fifth of the time, as metadata of the frames.
"""

from __future__ import annotations

import math
from typing import Any

from palprep.errors import FixError
from palprep.fixes.graph import Progress
from palprep.media import run_ffmpeg
from palprep.rules.plans import NoiseBound
from palprep.values import Value

MAX_LIMITING_DB = 6.0
"""Only the tips of speech may be limited: its peaks stand 12 to 18 dB above its loudness, and
more than this begins to be heard. Where that does not reach the target loudness, the output
stays below it."""
_PEAK_STEP_DB = 0.3
"""ebur128 reports peaks in steps of a thousandth of full scale. What comes this close to the
ceiling is limited; the limiter does nothing to what stays below."""
_SILENT_LUFS = -69.9
"""Nothing passed the absolute gate of BS.1770, at -70."""
_OVERSAMPLED_HZ = 192_000
"""Where sample peaks are true peaks to 0.2 dB (ITU-R BS.1770-4, annex 2, asks for this)."""


class Loudness(Value):
    """What ITU-R BS.1770 measures of a recording."""

    integrated_lufs: float
    true_peak_dbtp: float


class Target(Value):
    """The loudness and peak to bring a recording to. ``noise`` may bound the gain below that."""

    integrated_lufs: float
    ceiling_dbtp: float
    noise: NoiseBound | None = None


class Gain(Value):
    """A gain, and whether the peaks must then be limited to the target's ceiling."""

    gain_db: float
    limits: bool
    held_back_by: str | None
    """Why it is less than the loudness asks for; None when it is not."""
    lost_lu: float = 0.0
    """Loudness that the limiting takes away again."""


def measure_loudness(
    sound: Any, *, duration_s: float, progress: Progress | None = None
) -> Loudness:
    """Loudness of an ffmpeg-python stream. Raises FixError for one without any sound."""
    meter = {"peak": "true", "metadata": 1, "framelog": "quiet"}
    measured = sound.filter("ebur128", **meter)
    for key in ("I", "true_peak"):
        measured = measured.filter("ametadata", mode="print", key=f"lavfi.r128.{key}")
    node = measured.output("-", f="null").global_args("-loglevel", "info")
    said = run_ffmpeg(node, duration_s=duration_s, progress=progress)
    integrated, peak = _last(said, "I"), _last(said, "true_peak")
    if integrated < _SILENT_LUFS or peak <= 0:
        raise FixError("There is nothing to be heard in it; record it again")
    return Loudness(integrated_lufs=integrated, true_peak_dbtp=20 * math.log10(peak))


def choose_gain(measured: Loudness, target: Target, *, lost_lu: float = 0.0) -> Gain:
    """The gain towards the target that neither noise nor peaks forbid.

    ``lost_lu`` is the loudness that limiting was found to take away; it is added to the gain.
    """
    gain = target.integrated_lufs + lost_lu - measured.integrated_lufs
    noise, held_back_by = target.noise, None
    if noise is not None and gain > noise.max_gain_db:
        gain, held_back_by = noise.max_gain_db, f"noise limit of {noise.limit_dbfs:g} dBFS"
    over = measured.true_peak_dbtp + gain - target.ceiling_dbtp
    if over > MAX_LIMITING_DB:
        gain -= over - MAX_LIMITING_DB
        held_back_by = "true-peak ceiling"
    return Gain(
        gain_db=round(gain, 2),
        limits=over > -_PEAK_STEP_DB,
        held_back_by=held_back_by,
        lost_lu=lost_lu,
    )


def fitting_gain(sound: Any, measured: Loudness, target: Target, *, duration_s: float) -> Gain:
    """The gain for an ffmpeg-python stream. Where peaks must be limited, the loudness that this
    takes away is measured and added to the gain."""
    gain = choose_gain(measured, target)
    if not gain.limits:
        return gain
    limited = measure_loudness(amplified(sound, gain, target), duration_s=duration_s)
    lost = measured.integrated_lufs + gain.gain_db - limited.integrated_lufs
    return choose_gain(measured, target, lost_lu=lost)


def amplified(sound: Any, gain: Gain, target: Target) -> Any:
    """An ffmpeg-python stream with the gain, and its peaks limited where they must be."""
    sound = sound.filter("volume", f"{gain.gain_db:.2f}dB", precision="double")
    if not gain.limits:
        return sound
    ceiling = 10 ** (target.ceiling_dbtp / 20)
    return sound.filter("aresample", _OVERSAMPLED_HZ).filter(
        "alimiter", limit=f"{ceiling:.6f}", attack=5, release=50, level=0, latency=1
    )


def _last(said: str, key: str) -> float:
    """The value of a metadata key in the last frame that ffmpeg printed."""
    _, found, rest = said.rpartition(f"lavfi.r128.{key}=")
    if not found:
        raise FixError("It is too short to have a loudness; record at least half a second")
    return float(rest.partition("\n")[0])

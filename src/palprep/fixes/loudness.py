"""Loudness by two passes: measure the whole (EBU R 128), then turn it up or down once.

Not by ffmpeg's loudnorm: where peaks stand in the way, it turns itself into an automatic gain
control, and raises the noise in every pause. A plain gain with a true-peak limiter does not. And
ebur128 measures the same in a fifth of the time.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from palprep.errors import FixError
from palprep.fixes.graph import Progress
from palprep.fixes.output import FixDone
from palprep.media import run_ffmpeg
from palprep.rules.plans import VoicePlan

MAX_LIMITING_DB = 6.0
"""Only the tips of speech may be limited: its peaks stand 12 to 18 dB above its loudness, and
more than this begins to be heard. Where that does not reach the target loudness, the output
stays below it."""
_PEAK_STEP_DB = 0.3
"""ebur128 reports peaks in steps of a thousandth of full scale. What comes this close to the
ceiling is limited; the limiter does nothing to what stays below."""
_SILENT_LUFS = -69.9
"""Nothing passed the absolute gate of BS.1770, at -70."""
_OVERSAMPLED, _OVERSAMPLED_HZ = 4, 192_000
"""Where sample peaks are true peaks to 0.2 dB (ITU-R BS.1770-5, annex 2, asks for this): so many
times the sample rate, and this is enough for every one."""
_WHOLE_BAND_BELOW_HZ = 32_000
_WHOLE_BAND = {"filter_size": 256, "cutoff": 0.995}
"""ffmpeg's own filter takes the highest 6% of the band away, there and back: of 22,050 Hz that is
what voices are judged by. This one takes six times as long, and of higher sample rates it would
keep what no voice has."""


class Loudness(NamedTuple):
    """What ITU-R BS.1770 measures of a recording."""

    integrated_lufs: float
    true_peak_dbtp: float


class Gain(NamedTuple):
    """A gain, and whether the peaks must then be limited to the target's ceiling."""

    gain_db: float
    limits: bool
    held_back_by: str | None
    """Why it is less than the loudness asks for; None when it is not."""


def measure_loudness(
    sound: Any, *, duration_s: float, progress: Progress | None = None
) -> Loudness:
    """Loudness of an ffmpeg-python stream. Raises FixError for one without any sound."""
    measured = sound.filter("ebur128", peak="true", metadata=1, framelog="quiet")
    for key in ("I", "true_peak"):
        measured = measured.filter("ametadata", mode="print", key=f"lavfi.r128.{key}")
    node = measured.output("-", f="null").global_args("-loglevel", "info")
    said = run_ffmpeg(node, duration_s=duration_s, progress=progress)
    integrated, peak = _last(said, "I"), _last(said, "true_peak")
    if integrated < _SILENT_LUFS or peak <= 0:
        raise FixError("There is nothing to be heard in it; record it again")
    return Loudness(integrated_lufs=integrated, true_peak_dbtp=20 * math.log10(peak))


def choose_gain(measured: Loudness, wanted_lufs: float, plan: VoicePlan) -> Gain:
    """The gain towards the wanted loudness that neither the plan's noise nor its peaks forbid."""
    gain = wanted_lufs - measured.integrated_lufs
    floor, limit = plan.noise_dbfs or (-math.inf, math.inf)
    held_back_by = None
    # 0 where the noise stands at the limit already, or above.
    if gain > (most := max(0.0, limit - floor)):
        gain, held_back_by = most, f"noise limit of {limit:g} dBFS"
    over = measured.true_peak_dbtp + gain - plan.true_peak_dbtp
    if over > MAX_LIMITING_DB:
        gain -= over - MAX_LIMITING_DB
        held_back_by = "true-peak ceiling"
    return Gain(gain_db=round(gain, 2), limits=over > -_PEAK_STEP_DB, held_back_by=held_back_by)


def levelled(
    sound: Any, plan: VoicePlan, *, rate_hz: int, duration_s: float, progress: Progress | None
) -> tuple[Any, tuple[FixDone, ...]]:
    """An ffmpeg-python stream of this sample rate at the plan's loudness, if it has one, and what
    was done to it.

    Where peaks must be limited, the loudness that this takes away is measured and added to the
    gain. Raises FixError for a stream without any sound.
    """
    wanted = plan.loudness_lufs
    if wanted is None:
        return sound, ()
    before = measure_loudness(sound, duration_s=duration_s, progress=progress)
    gain, lost = choose_gain(before, wanted, plan), 0.0
    if gain.limits:
        limited = measure_loudness(_amplified(sound, gain, plan, rate_hz), duration_s=duration_s)
        lost = before.integrated_lufs + gain.gain_db - limited.integrated_lufs
        gain = choose_gain(before, wanted + lost, plan)
    reached = before.integrated_lufs + gain.gain_db - lost
    lufs = f"loudness from {before.integrated_lufs:.1f} to {reached:.1f} LUFS"
    # Where peaks are limited, the gain is more than the difference.
    did = f"{lufs} by a gain of {gain.gain_db:+.1f} dB"
    if gain.limits:
        did += f", peaks limited to {plan.true_peak_dbtp:g} dBTP"
    if gain.held_back_by is not None:
        did += f"; no further, because of the {gain.held_back_by}"
    return _amplified(sound, gain, plan, rate_hz), (FixDone(id="level", did=did),)


def _amplified(sound: Any, gain: Gain, plan: VoicePlan, rate_hz: int) -> Any:
    sound = sound.filter("volume", f"{gain.gain_db:.2f}dB", precision="double")
    if not gain.limits:
        return sound
    ceiling = 10 ** (plan.true_peak_dbtp / 20)
    limiter = {"limit": f"{ceiling:.6f}", "attack": 5, "release": 50, "level": 0, "latency": 1}
    band = _WHOLE_BAND if rate_hz < _WHOLE_BAND_BELOW_HZ else {}
    higher_hz = min(_OVERSAMPLED * rate_hz, max(_OVERSAMPLED_HZ, rate_hz))
    oversampled = sound.filter("aresample", higher_hz, **band)
    return oversampled.filter("alimiter", **limiter).filter("aresample", rate_hz, **band)


def _last(said: str, key: str) -> float:
    """The value of a metadata key in the last frame that ffmpeg printed."""
    _, found, rest = said.rpartition(f"lavfi.r128.{key}=")
    if not found:
        raise FixError("It is too short to have a loudness; record at least half a second")
    return float(rest.partition("\n")[0])

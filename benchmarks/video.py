"""Video against bare ffmpeg: ratios measured side by side in one run.

    uv run python benchmarks/video.py [--json] [--only NAME] [--rounds N]

Every figure is a ratio of the best of several runs, taken in turns on the same machine, so
that a slow or busy machine slows both. Beside it stands the ratio of processor time, which tells
more where others are at work. Exit status 1 when a ratio of time, or the memory, misses what is
wanted. All of it takes about three minutes on two idle cores.

check      a training video of 2 minutes (1080p30 H.264, a person who moves and is heard), the
           full check and the quick one, against ffmpeg decoding it to null with as many threads
hdr        20 seconds of 4K in PQ, the full check, against ffmpeg decoding it likewise
remux      the same video into a new mp4, against ``ffmpeg -c copy -movflags +faststart``
transcode  10 seconds of it, against the bare ffmpeg command with the same settings
memory     the peak of a process that checks 20 seconds of 1080p, 4 of 4K, and 20 of 4K in PQ; it
           does not grow with the length
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from palprep import preflight
from palprep.fixes import apply
from palprep.media import probe_video
from palprep.media.images.frames import decoder_threads
from palprep.media.sources import Source
from palprep.rules.plans import VideoPlan
from side_by_side import Benchmark, Figure, best_of, ffmpeg, options, run

CHECKOUT = Path(__file__).resolve().parents[1]
PEOPLE = CHECKOUT / "sample_media" / "people"
LENGTH_S, SHORT_S, HDR_S = 120, 10, 20
PART_S = 20
"""Longer videos repeat what was encoded once: making them would take longer than all else."""

SDR = ("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p")
PQ = (
    *("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p10le"),
    *("-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc"),
)

PORTRAIT = PEOPLE / "anna-miller" / "portrait.png"
VOICE = PEOPLE / "jane-carter" / "recording.m4a"


def check(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """The full check and the quick one, against decoding."""
    video = person(folder / "talk.mp4", LENGTH_S, "1920:1080")
    warm = person(folder / "warm.mp4", 1, "320:180")
    # Networks are loaded once in a process, however many files it checks.
    preflight.check(warm, role="training-video")
    threads = str(decoder_threads())

    def bare() -> None:
        ffmpeg("-threads", threads, "-i", str(video), "-f", "null", "-")

    whole, few, decoded = best_of(
        arguments.rounds,
        lambda: preflight.check(video, role="training-video"),
        lambda: preflight.check(video, role="training-video", quick=True),
        bare,
    )
    yield whole.against(decoded, "full check against decoding to null", 1.3)
    yield few.against(decoded, "quick check against decoding to null", 0.15)


def hdr(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """The full check of HDR, whose frames are brought to sRGB, against decoding."""
    video = person(folder / "hdr.mp4", HDR_S, "3840:2160", part_s=2, encoding=PQ)
    warm = person(folder / "warm.mp4", 1, "320:180")
    preflight.check(warm, role="training-video")

    def bare() -> None:
        ffmpeg("-threads", str(decoder_threads()), "-i", str(video), "-f", "null", "-")

    whole, decoded = best_of(
        arguments.rounds, lambda: preflight.check(video, role="training-video"), bare
    )
    yield whole.against(decoded, "full check of 4K HDR against decoding to null", 1.3)


def remux(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """A new container, against a bare copy."""
    video = person(folder / "talk.mp4", LENGTH_S, "1920:1080")
    plan = VideoPlan(reasons=(), copy_video=True, copy_audio=True)
    # What is fixed has been checked.
    known = probe_video(Source.of(video))

    def ours() -> None:
        apply(plan, Source.of(video), folder / "ours", known=known)

    def bare() -> None:
        target = str(folder / "bare.mp4")
        ffmpeg("-i", str(video), "-c", "copy", "-movflags", "+faststart", target)

    prepared, copied = best_of(3 * arguments.rounds, ours, bare)
    yield prepared.against(copied, "remux against -c copy", 1.2)


def transcode(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """A new encoding, against the bare command."""
    video = person(folder / "short.mp4", SHORT_S, "1920:1080")
    plan = VideoPlan(reasons=(), copy_video=False, copy_audio=False)
    settings = (
        *("-c:v", "libx264", "-profile:v", "high", "-preset", "medium", "-crf", "18"),
        *("-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "192000", "-movflags", "+faststart"),
    )
    known = probe_video(Source.of(video))

    def ours() -> None:
        apply(plan, Source.of(video), folder / "ours", known=known)

    def bare() -> None:
        ffmpeg("-i", str(video), *settings, str(folder / "bare.mp4"))

    prepared, encoded = best_of(arguments.rounds, ours, bare)
    yield prepared.against(encoded, "transcode against bare ffmpeg", 1.1)


def memory(folder: Path, _: argparse.Namespace) -> Iterator[Figure]:
    """The peak of one check; it does not get better by repeating."""
    video = person(folder / "part.mp4", PART_S, "1920:1080")
    yield Figure("peak memory of checking 1080p, MiB", _peak_mib(video), 400)
    video = person(folder / "large.mp4", 4, "3840:2160")
    yield Figure("peak memory of checking 4K, MiB", _peak_mib(video), 400)
    video = person(folder / "hdr.mp4", HDR_S, "3840:2160", part_s=2, encoding=PQ)
    yield Figure("peak memory of checking 4K HDR, MiB", _peak_mib(video), 400)


def _peak_mib(video: Path) -> float:
    # Not by getrusage: its peak begins with that of the process that started this one.
    code = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from palprep.preflight import check\n"
        "report = check(sys.argv[1], role='training-video')\n"
        "assert report.error is None, report.error\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code, str(video)], capture_output=True, text=True, check=True
    ).stdout
    return int(printed) / 1024


BENCHMARKS: Mapping[str, Benchmark] = {
    "check": check,
    "hdr": hdr,
    "remux": remux,
    "transcode": transcode,
    "memory": memory,
}


def person(
    target: Path,
    seconds: int,
    size: str,
    *,
    part_s: int = PART_S,
    encoding: tuple[str, ...] = SDR,
) -> Path:
    """A portrait that sways before the lens with a sensor's noise, and a voice beside it."""
    if target.exists():
        return target
    width, height = (int(side) for side in size.split(":"))
    wide, tall = (round(1.1 * side / 2) * 2 for side in (width, height))
    sway = (
        f"scale={wide}:{tall}:force_original_aspect_ratio=decrease,"
        f"pad={wide}:{tall}:(ow-iw)/2:(oh-ih)/2:gray,format=yuv420p,"
        # Scaled once, then shown again and again.
        "loop=-1:1,setpts=N/30/TB,fps=30,"
        f"crop={width}:{height}:(iw-ow)/2+(iw-ow)/3*sin(1.7*t):(ih-oh)/2+(ih-oh)/3*sin(1.1*t),"
        "noise=alls=6:allf=t"
    )
    part = target.with_suffix(".part.mp4")
    ffmpeg(
        *("-framerate", "30", "-i", str(PORTRAIT), "-t", str(min(seconds, part_s)), "-vf", sway),
        *(*encoding, str(part)),
    )
    ffmpeg(
        *("-stream_loop", "-1", "-i", str(part), "-stream_loop", "-1", "-i", str(VOICE)),
        *("-map", "0:v", "-map", "1:a", "-t", str(seconds), "-c:v", "copy", "-c:a", "aac"),
        str(target),
    )
    return target


if __name__ == "__main__":
    parser = options(__doc__, BENCHMARKS)
    parser.add_argument("--rounds", type=int, default=3)
    sys.exit(run(BENCHMARKS, parser.parse_args()))

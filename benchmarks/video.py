"""Video against bare ffmpeg: ratios measured side by side in one run.

    uv run --extra consent python benchmarks/video.py [--json] [--only NAME] [--rounds N]

Every figure is a ratio of the best of several runs, taken in turns on the same machine, so
that a slow or busy machine slows both. Beside it stands the ratio of processor time, which tells
more where others are at work. Exit status 1 when a ratio of time, or the memory, misses what is
wanted. All of it takes about three minutes on two idle cores.

check      a training video of 2 minutes (1080p30 H.264, a person who moves and is heard), the
           full check and the quick one, against ffmpeg decoding it to null with as many threads
remux      the same video into a new mp4, against ``ffmpeg -c copy -movflags +faststart``
transcode  10 seconds of it, against the bare ffmpeg command with the same settings
memory     the peak of a process that checks 4 seconds of 4K; it does not grow with the length
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import imageio_ffmpeg

from palprep.fixes.apply import apply
from palprep.media.frames import decoder_threads
from palprep.media.source import Source
from palprep.preflight.check_and_prepare import Preflight
from palprep.rules.plans.plan import VideoPlan

FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()
CHECKOUT = Path(__file__).resolve().parents[1]
PEOPLE = CHECKOUT / "sample_media" / "people"
LENGTH_S, SHORT_S = 120, 10
PART_S = 20
"""Longer videos repeat what was encoded once: making them would take longer than all else."""

PORTRAIT = PEOPLE / "anna-miller" / "portrait.png"
VOICE = PEOPLE / "jane-carter" / "recording.m4a"


@dataclass(frozen=True)
class Comparison:
    """What palprep took and what the other took, in ``unit``; their ratio should be at most.

    ``cpu_ratio`` is the same of processor time, None for what is no time.
    """

    name: str
    palprep: float
    other: float
    at_most: float
    unit: str = "s"
    cpu_ratio: float | None = None

    @property
    def ratio(self) -> float:
        return self.palprep / self.other

    @property
    def holds(self) -> bool:
        return self.ratio <= self.at_most


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock, and of all processors together."""

    wall: float = float("inf")
    cpu: float = float("inf")

    @classmethod
    def on(cls, action: Callable[[], object]) -> Spent:
        start, cpu = time.perf_counter(), _cpu_seconds()
        action()
        return cls(time.perf_counter() - start, _cpu_seconds() - cpu)

    def best(self, other: Spent) -> Spent:
        return Spent(min(self.wall, other.wall), min(self.cpu, other.cpu))

    def against(self, other: Spent, name: str, at_most: float) -> Comparison:
        return Comparison(name, self.wall, other.wall, at_most, cpu_ratio=self.cpu / other.cpu)


def check(folder: Path, rounds: int) -> Iterator[Comparison]:
    video = _person(folder / "talk.mp4", LENGTH_S, "1920:1080")
    warm = _person(folder / "warm.mp4", 1, "320:180")
    full, quick = Preflight(), Preflight(quick=True)
    for each in (full, quick):
        # Networks are loaded once in a process, however many files it checks.
        each.check(warm, role="training-video")
    threads = str(decoder_threads())

    def bare() -> None:
        _ffmpeg("-threads", threads, "-i", str(video), "-f", "null", "-")

    whole, few, decoded = _alternating(
        rounds,
        lambda: full.check(video, role="training-video"),
        lambda: quick.check(video, role="training-video"),
        bare,
    )
    yield whole.against(decoded, "full check against decoding to null", 1.3)
    yield few.against(decoded, "quick check against decoding to null", 0.15)


def remux(folder: Path, rounds: int) -> Iterator[Comparison]:
    video = _person(folder / "talk.mp4", LENGTH_S, "1920:1080")
    plan = VideoPlan(reasons=(), copy_video=True, copy_audio=True)

    def ours() -> None:
        apply(plan, Source.of(video), folder / "ours")

    def bare() -> None:
        target = str(folder / "bare.mp4")
        _ffmpeg("-i", str(video), "-c", "copy", "-movflags", "+faststart", target)

    prepared, copied = _alternating(3 * rounds, ours, bare)
    yield prepared.against(copied, "remux against -c copy", 1.2)


def transcode(folder: Path, rounds: int) -> Iterator[Comparison]:
    video = _person(folder / "short.mp4", SHORT_S, "1920:1080")
    plan = VideoPlan(reasons=(), copy_video=False, copy_audio=False)
    settings = (
        *("-c:v", "libx264", "-profile:v", "high", "-preset", "medium", "-crf", "18"),
        *("-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "192000", "-movflags", "+faststart"),
    )

    def ours() -> None:
        apply(plan, Source.of(video), folder / "ours")

    def bare() -> None:
        _ffmpeg("-i", str(video), *settings, str(folder / "bare.mp4"))

    prepared, encoded = _alternating(rounds, ours, bare)
    yield prepared.against(encoded, "transcode against bare ffmpeg", 1.1)


def memory(folder: Path, rounds: int) -> Iterator[Comparison]:
    del rounds  # a peak does not get better by repeating
    video = _person(folder / "large.mp4", 4, "3840:2160")
    code = (
        "import resource, sys\n"
        "from palprep.preflight.check_and_prepare import check\n"
        "report = check(sys.argv[1], role='training-video')\n"
        "assert report.error is None, report.error\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code, str(video)], capture_output=True, text=True, check=True
    ).stdout
    yield Comparison("peak memory of checking 4K, of 400 MiB", int(printed) / 1024, 400, 1.0, "MiB")


BENCHMARKS: dict[str, Callable[[Path, int], Iterator[Comparison]]] = {
    "check": check,
    "remux": remux,
    "transcode": transcode,
    "memory": memory,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=sorted(BENCHMARKS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one object per line")
    arguments = parser.parse_args()
    held = True
    with tempfile.TemporaryDirectory(prefix="palprep-benchmark-") as folder:
        for name, benchmark in BENCHMARKS.items():
            if arguments.only not in {None, name}:
                continue
            for found in benchmark(Path(folder), arguments.rounds):
                held &= found.holds
                print(_line(found, as_json=arguments.json), flush=True)
    return 0 if held else 1


def _line(found: Comparison, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({**asdict(found), "ratio": found.ratio, "holds": found.holds})
    cpu = "" if found.cpu_ratio is None else f"(CPU {found.cpu_ratio:.3f})"
    return (
        f"{found.name:<40} {found.palprep:8.3f} {found.unit} / {found.other:8.3f} {found.unit} = "
        f"{found.ratio:6.3f} {cpu:<11}   at most {found.at_most:5.3f}   "
        f"{'holds' if found.holds else 'MISSED'}"
    )


def _alternating(rounds: int, *actions: Callable[[], object]) -> tuple[Spent, ...]:
    """The least that each action took, the actions taken in turns."""
    best = [Spent()] * len(actions)
    for _ in range(rounds):
        best = [least.best(Spent.on(each)) for least, each in zip(best, actions, strict=True)]
    return tuple(best)


def _cpu_seconds() -> float:
    """Of this process with all its threads, and of the children that it has waited for."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def _person(target: Path, seconds: int, size: str) -> Path:
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
    _ffmpeg(
        *("-framerate", "30", "-i", str(PORTRAIT), "-t", str(min(seconds, PART_S)), "-vf", sway),
        *("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", str(part)),
    )
    _ffmpeg(
        *("-stream_loop", "-1", "-i", str(part), "-stream_loop", "-1", "-i", str(VOICE)),
        *("-map", "0:v", "-map", "1:a", "-t", str(seconds), "-c:v", "copy", "-c:a", "aac"),
        str(target),
    )
    return target


def _ffmpeg(*arguments: str) -> None:
    subprocess.run([FFMPEG, "-v", "error", "-nostdin", "-y", *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())

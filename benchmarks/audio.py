"""Sound against what people would use instead: ratios measured side by side in one run.

    uv run python benchmarks/audio.py [--json] [--only NAME]

Every figure is a ratio of the best of several runs, taken in turns on the same machine, so
that a slow or busy machine slows both. Exit status 1 when a ratio misses what is wanted.

extraction  the AAC track of a 10-minute mp4, against pydub's from_file().export() and against
            the bare ffmpeg command that copies the stream
loudness    a 10-minute recording to -20 LUFS, against ffmpeg-normalize, which is installed
            from the package index into a virtual environment of its own
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import imageio_ffmpeg

from palprep.fixes.apply import apply
from palprep.fixes.graph import read
from palprep.fixes.loudness import Loudness, measure
from palprep.media.source import Source
from palprep.rules.plans.plan import AudioPlan, VoicePlan

FFMPEG = imageio_ffmpeg.get_ffmpeg_exe()
LENGTH_S = 600
TARGET_LUFS = -20.0
CEILING_DBTP = -3.0
FFMPEG_NORMALIZE = "ffmpeg-normalize==1.43.0"

SPEECH_LIKE = (
    # Syllables at 4 Hz with a pause each second, in the band and with the peaks of a voice.
    "aevalsrc='0.05*(random(0)-0.5)*4*pow(max(0,sin(2*PI*4*t)),2)*lt(mod(t,1),0.8)':"
    f"s=48000:d={LENGTH_S},lowpass=f=3500,lowpass=f=3500"
)


@dataclass(frozen=True)
class Comparison:
    """Seconds of palprep and of the other, and what their ratio should be at the most."""

    name: str
    palprep_s: float
    other_s: float
    at_most: float

    @property
    def ratio(self) -> float:
        return self.palprep_s / self.other_s

    @property
    def holds(self) -> bool:
        return self.ratio <= self.at_most


@dataclass(frozen=True)
class Agreement:
    """Two measures that should be close."""

    name: str
    palprep: float
    other: float
    within: float

    @property
    def holds(self) -> bool:
        return abs(self.palprep - self.other) <= self.within


Finding = Comparison | Agreement


def extraction(folder: Path) -> Iterator[Finding]:
    video = folder / "talk.mp4"
    picture = f"testsrc2=size=640x360:rate=25:duration={LENGTH_S}"
    _ffmpeg(
        *("-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", SPEECH_LIKE),
        *("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac"),
        str(video),
    )
    plan = AudioPlan(reasons=(), stream=1, copy_codec=True, container="m4a")

    def ours() -> None:
        apply(plan, Source.of(video), folder / "ours")

    def bare() -> None:
        _ffmpeg("-i", str(video), "-vn", "-c", "copy", str(folder / "bare.m4a"))

    def pydub() -> None:
        # As its documentation shows it, in a process of its own that names the same ffmpeg;
        # spared the run of ffprobe, which no Python package brings along.
        code = (
            "import sys, warnings; warnings.simplefilter('ignore')\n"
            "import pydub.audio_segment\n"
            "from pydub import AudioSegment\n"
            "AudioSegment.converter = sys.argv[1]\n"
            "pydub.audio_segment.mediainfo_json = lambda *_, **__: {}\n"
            "AudioSegment.from_file(sys.argv[2], 'mp4').export(sys.argv[3], format='ipod')\n"
        )
        target = str(folder / "pydub.m4a")
        subprocess.run([sys.executable, "-c", code, FFMPEG, str(video), target], check=True)

    ours_s, bare_s = _alternating(15, ours, bare)
    yield Comparison("extraction / ffmpeg -c copy", ours_s, bare_s, at_most=1.3)
    (pydub_s,) = _alternating(1, pydub)
    yield Comparison("extraction / pydub from_file().export()", ours_s, pydub_s, at_most=1 / 20)


def loudness(folder: Path) -> Iterator[Finding]:
    recording = folder / "recording.wav"
    _ffmpeg("-f", "lavfi", "-i", SPEECH_LIKE, str(recording))
    normalizer = _ffmpeg_normalize(folder / "venv")
    theirs = folder / "theirs.wav"
    plan = VoicePlan(
        reasons=(), stream=0, loudness_lufs=TARGET_LUFS, true_peak_dbtp=CEILING_DBTP, mix="keep"
    )

    def ours() -> None:
        apply(plan, Source.of(recording), folder / "ours")

    def other() -> None:
        options = ("-t", str(TARGET_LUFS), "-tp", str(CEILING_DBTP), "-ar", "48000", "-f", "-q")
        environment = {**os.environ, "FFMPEG_PATH": FFMPEG}
        command = [str(normalizer), str(recording), *options, "-o", str(theirs)]
        subprocess.run(command, check=True, env=environment)

    ours_s, other_s = _alternating(3, ours, other)
    yield Comparison("loudness / ffmpeg-normalize", ours_s, other_s, at_most=1.0)
    reached, reached_by_other = _loudness(folder / "ours.wav"), _loudness(theirs)
    yield Agreement(
        "integrated loudness, LUFS",
        reached.integrated_lufs,
        reached_by_other.integrated_lufs,
        within=0.5,
    )
    yield Agreement("and the target", reached.integrated_lufs, TARGET_LUFS, within=0.5)
    over = max(0.0, reached.true_peak_dbtp - CEILING_DBTP)
    yield Agreement("true peak above the ceiling, dB", over, 0.0, within=0.1)


BENCHMARKS: dict[str, Callable[[Path], Iterator[Finding]]] = {
    "extraction": extraction,
    "loudness": loudness,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=sorted(BENCHMARKS))
    parser.add_argument("--json", action="store_true", help="one object per line")
    arguments = parser.parse_args()
    held = True
    for name, benchmark in BENCHMARKS.items():
        if arguments.only in {None, name}:
            with tempfile.TemporaryDirectory(prefix="palprep-benchmark-") as folder:
                for finding in benchmark(Path(folder)):
                    held &= finding.holds
                    print(_line(finding, as_json=arguments.json), flush=True)
    return 0 if held else 1


def _line(finding: Finding, *, as_json: bool) -> str:
    if as_json:
        return json.dumps({**asdict(finding), "holds": finding.holds})
    verdict = "holds" if finding.holds else "MISSED"
    if isinstance(finding, Comparison):
        return (
            f"{finding.name:<42} {finding.palprep_s:8.3f} s / {finding.other_s:8.3f} s = "
            f"{finding.ratio:6.3f}   at most {finding.at_most:5.3f}   {verdict}"
        )
    return (
        f"{finding.name:<42} {finding.palprep:8.2f}   and {finding.other:8.2f}            "
        f"   within {finding.within:5.2f}    {verdict}"
    )


def _alternating(rounds: int, *actions: Callable[[], None]) -> tuple[float, ...]:
    """Best seconds of each action, the actions taken in turns."""
    best = [float("inf")] * len(actions)
    for _ in range(rounds):
        for number, action in enumerate(actions):
            start = time.perf_counter()
            action()
            best[number] = min(best[number], time.perf_counter() - start)
    return tuple(best)


def _loudness(path: Path) -> Loudness:
    return measure(read(Source.of(path))["a:0"], duration_s=LENGTH_S)


def _ffmpeg(*arguments: str) -> None:
    subprocess.run([FFMPEG, "-v", "error", "-nostdin", "-y", *arguments], check=True)


def _ffmpeg_normalize(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    install = [str(binaries / "pip"), "install", "--quiet", FFMPEG_NORMALIZE]
    subprocess.run(install, check=True)
    return binaries / "ffmpeg-normalize"


if __name__ == "__main__":
    sys.exit(main())

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
import os
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path

from palprep.fixes import apply
from palprep.fixes.graph import read
from palprep.fixes.loudness import Loudness, measure_loudness
from palprep.media.sources import Source
from palprep.rules.plans import VoicePlan
from side_by_side import FFMPEG, Benchmark, Figure, Spent, best_of, ffmpeg, options, run

LENGTH_S = 600
TARGET_LUFS = -20.0
CEILING_DBTP = -3.0
FFMPEG_NORMALIZE = "ffmpeg-normalize==1.43.0"

SPEECH_LIKE = (
    # Syllables at 4 Hz with a pause each second, in the band and with the peaks of a voice.
    "aevalsrc='0.05*(random(0)-0.5)*4*pow(max(0,sin(2*PI*4*t)),2)*lt(mod(t,1),0.8)':"
    f"s=48000:d={LENGTH_S},lowpass=f=3500,lowpass=f=3500"
)


def extraction(folder: Path, _: argparse.Namespace) -> Iterator[Figure]:
    """The AAC track of a video, against pydub and against a bare copy."""
    video = folder / "talk.mp4"
    picture = f"testsrc2=size=640x360:rate=25:duration={LENGTH_S}"
    ffmpeg(
        *("-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", SPEECH_LIKE),
        *("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac"),
        str(video),
    )
    plan = VoicePlan(reasons=(), mix="keep", copies=True)

    def ours() -> None:
        apply(plan, Source.of(video), folder / "ours")

    def bare() -> None:
        ffmpeg("-i", str(video), "-vn", "-c", "copy", str(folder / "bare.m4a"))

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

    extracted, copied = best_of(15, ours, bare)
    yield extracted.against(copied, "extraction / ffmpeg -c copy", 1.3)
    name = "extraction / pydub from_file().export()"
    yield extracted.against(Spent.on(pydub), name, 1 / 20)


def loudness(folder: Path, _: argparse.Namespace) -> Iterator[Figure]:
    """One loudness for a whole recording, against ffmpeg-normalize."""
    recording = folder / "recording.wav"
    ffmpeg("-f", "lavfi", "-i", SPEECH_LIKE, str(recording))
    normalizer = _ffmpeg_normalize(folder / "venv")
    theirs = folder / "theirs.wav"
    plan = VoicePlan(reasons=(), loudness_lufs=TARGET_LUFS, true_peak_dbtp=CEILING_DBTP, mix="keep")

    def ours() -> None:
        apply(plan, Source.of(recording), folder / "ours")

    def other() -> None:
        options = ("-t", str(TARGET_LUFS), "-tp", str(CEILING_DBTP), "-ar", "48000", "-f", "-q")
        environment = {**os.environ, "FFMPEG_PATH": FFMPEG}
        command = [str(normalizer), str(recording), *options, "-o", str(theirs)]
        subprocess.run(command, check=True, env=environment)

    normalised, by_other = best_of(3, ours, other)
    yield normalised.against(by_other, "loudness / ffmpeg-normalize", 1.0)
    reached, by_theirs = _loudness(folder / "ours.wav"), _loudness(theirs)
    goals = {"ffmpeg-normalize": by_theirs.integrated_lufs, "the target": TARGET_LUFS}
    for name, goal in goals.items():
        detail = f"{reached.integrated_lufs:.2f} LUFS and {goal:.2f} LUFS"
        apart = abs(reached.integrated_lufs - goal)
        yield Figure(f"loudness apart from {name}, LU", apart, 0.5, detail)
    over = max(0.0, reached.true_peak_dbtp - CEILING_DBTP)
    yield Figure("true peak above the ceiling, dB", over, 0.1)


BENCHMARKS: Mapping[str, Benchmark] = {"extraction": extraction, "loudness": loudness}


def _loudness(path: Path) -> Loudness:
    return measure_loudness(read(Source.of(path))["a:0"], duration_s=LENGTH_S)


def _ffmpeg_normalize(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    install = [str(binaries / "pip"), "install", "--quiet", FFMPEG_NORMALIZE]
    subprocess.run(install, check=True)
    return binaries / "ffmpeg-normalize"


if __name__ == "__main__":
    sys.exit(run(BENCHMARKS, options(__doc__, BENCHMARKS).parse_args()))

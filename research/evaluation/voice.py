"""What palprep hears in real recordings: speech, languages, noise.

    uv run -m research.evaluation.voice

Reads ../shared/corpora/speech. Prints the share of speech per kind of recording (pure noise
must have none), and how speech mixed with real noise at a known ratio is measured. One speaker and
several are told apart in research/evaluation/speakers.py.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from palprep.media.sound import stream_samples
from palprep.media.sources import Source
from palprep.speech import RATE_HZ, VoiceFacts, measure_voice, speech_spans
from palprep.speech.voice_meter import VoiceMeter

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpora" / "speech"
Samples = NDArray[np.floating[Any]]


class Clip(NamedTuple):
    """One row of the manifest."""

    path: Path
    speaker: str
    sex: str
    language: str
    kind: str


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    corpus = parser.parse_args().corpus
    clips = list(manifest(corpus))
    print_activity(clips)
    print_noise(clips)


def manifest(corpus: Path) -> Iterator[Clip]:
    """The rows whose files are there."""
    with (corpus / "MANIFEST.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            path = corpus / row["path"]
            if path.is_file():
                yield Clip(path, row["speaker"], row["sex"], row["language"], row["kind"])


def print_activity(clips: list[Clip]) -> None:
    """Share of speech per kind and language."""
    print(
        f"{'kind':44}{'language':>9}{'files':>7}{'speech':>8}{'SNR dB':>8}"
        f"{'width kHz':>10}  content"
    )
    groups: dict[tuple[str, str], list[VoiceFacts]] = defaultdict(list)
    for clip in clips:
        groups[clip.kind, clip.language].append(measure_voice(Source.of(clip.path))[1])
    for (kind, language), voices in sorted(groups.items()):
        ratio = np.mean([voice.speech_s / voice.duration_s for voice in voices])
        snr = median([voice.snr_db for voice in voices])
        width = median([voice.bandwidth_hz for voice in voices])
        contents = sorted({voice.content for voice in voices})
        print(
            f"{kind[:43]:44}{language or '-':>9}{len(voices):>7}{ratio:>8.0%}{snr:>8.1f}"
            f"{width / 1000:>10.1f}  {', '.join(contents)}"
        )


def median(values: list[float | None]) -> float:
    """Of what was measured; not a number when nothing was."""
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else float("nan")


def print_noise(clips: list[Clip]) -> None:
    """Clean speech with real noise mixed in at a known ratio, and what is measured of it."""
    speech = [decode(clip.path) for clip in clips if clip.path.parent.name == "ljspeech"]
    said = np.concatenate([part for part in speech if len(part) > RATE_HZ * 3][:6])
    rms = spoken_rms(said)
    print(f"\n{'noise':12}{'mixed at':>9}{'measured':>10}{'speech found':>14}")
    for clip in clips:
        if not clip.kind.startswith("noise"):
            continue
        noise = np.resize(decode(clip.path), len(said))
        level = float(np.sqrt((noise**2).mean()))
        for ratio_db in (30, 20, 10, 0):
            mixed = said + noise * rms / level * 10 ** (-ratio_db / 20)
            voice = heard(mixed / max(1.0, float(np.abs(mixed).max())))
            snr = "-" if voice.snr_db is None else f"{voice.snr_db:.1f}"
            spoken = voice.speech_s / voice.duration_s
            print(f"{clip.path.stem:12}{ratio_db:>9}{snr:>10}{spoken:>14.0%}")


def heard(samples: Samples) -> VoiceFacts:
    """Everything of a signal in memory."""
    ear = VoiceMeter(RATE_HZ, 1)
    ear.push(samples[None, :].astype(np.float32))
    return ear.facts()


def spoken_rms(samples: Samples) -> float:
    """Of the speech alone."""
    parts = [
        samples[int(span.start_s * RATE_HZ) : int(span.end_s * RATE_HZ)]
        for span in speech_spans(samples)
    ]
    return float(np.sqrt((np.concatenate(parts) ** 2).mean()))


def levelled(samples: Samples) -> Samples:
    """To one level, so that speakers are not told by how loud they were recorded."""
    return samples * (0.05 / max(1e-6, float(np.sqrt((samples**2).mean()))))


def decode(path: Path) -> Samples:
    """All of a file at 16 kHz in one channel."""
    return np.concatenate(list(stream_samples(Source.of(path), rate_hz=RATE_HZ, channels=1)))


if __name__ == "__main__":
    main()

"""How often a fresh code is heard, and how often one that was not said.

    uv run -m research.evaluation.codes --voices flite_rms robot_rp --conditions clean room

Voices and conditions are those of synthesise_consent.py, whose programs it needs. Each code is said
a moment after the end of the sample person's statement, in another voice, and listened for; and so
is a code that nobody said. Prints, by voice and condition, how many of either were heard.
"""

from __future__ import annotations

import argparse
import datetime as dt
import random
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from palprep.consent import Whisper
from palprep.consent.compare import compare
from palprep.consent.facts import AlignedWord
from palprep.consent.opening import hear_code
from palprep.consent.reading import Reading
from palprep.consent.wording import AskedCode, Statement
from palprep.consent.wording.statement import code_words
from palprep.media.sound import stream_samples
from palprep.media.sources import Source
from palprep.speech import RATE_HZ, speech_spans
from research.evaluation.synthesise_consent import CONDITIONS, at_16_khz, command_voices

SAMPLE = Path(__file__).resolve().parents[2] / "sample_media/people/jane-carter/consent.mp4"
SPOKEN_S = 12.0
"""The statement in it has ended."""
LAST_S = 2.0
NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


def heard(model: Whisper, samples: NDArray[np.float32], code: list[str]) -> bool:
    """Whether the code is heard after a statement that ends ``LAST_S`` seconds into the samples."""
    asked = AskedCode(words=tuple(code), given_at=NOON, ends_at=NOON, judged_at=NOON)
    statement = Statement.of("me.", "", "en")._replace(code=asked)
    last = AlignedWord(expected="me.", start=0.0, end=LAST_S, probability=1.0)
    reading = Reading(statement, "", (), compare(statement.words, ()), aligned=(last,))
    found = hear_code(samples, reading, model, speech_spans(samples))
    return found is not None and found.spoken is not None


def main() -> None:
    """Say codes, listen, and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voices", nargs="+", default=["flite_rms"])
    parser.add_argument("--conditions", nargs="+", default=["clean"], choices=CONDITIONS)
    parser.add_argument("--count", type=int, default=10)
    options = parser.parse_args()
    model, voices = Whisper.load(), command_voices()
    source = Source.of(SAMPLE)
    whole = np.concatenate(list(stream_samples(source, rate_hz=RATE_HZ, channels=1)))
    ending = whole[round((SPOKEN_S - LAST_S) * RATE_HZ) : round(SPOKEN_S * RATE_HZ)]
    for voice in options.voices:
        for condition in options.conditions:
            drawn, noise = random.Random(voice), np.random.default_rng(1)  # noqa: S311 - repeatable
            said = others = 0
            for _ in range(options.count):
                code, other = drawn.sample(code_words(), 3), drawn.sample(code_words(), 3)
                pause = np.zeros(round(drawn.uniform(0.1, 0.8) * RATE_HZ), np.float32)
                spoken = at_16_khz(*voices[voice](", ".join(code) + "."))
                clip = np.concatenate((ending, pause, spoken, np.zeros(RATE_HZ // 2)))
                samples = CONDITIONS[condition](clip, noise).astype(np.float32)
                said += heard(model, samples, code)
                others += heard(model, samples, other)
            count = options.count
            print(f"{voice} {condition}: heard {said} of {count}, another {others} of {count}")


if __name__ == "__main__":
    main()

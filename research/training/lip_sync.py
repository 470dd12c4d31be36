"""Fit the weighted sums by which palprep.consent.lips holds lips against speech.

    python -m research.training.lip_sync TALKERS

TALKERS holds the footage that material/talkers.csv names (research/evaluation/lips.py). Stretches
of the use ``fit`` alone are fitted on. Writes the weights, and prints their sha256 for
manifest.toml.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from palprep.consent.lips import STEP_S, Known, lip_rows, on_grid, sound_rows, without_drift
from palprep.consent.whisper import Encoder
from palprep.vision import Floats, Models
from research.evaluation.lips import Seen, read_talkers, seen_of

SUMS = 4
WAYS = 8
"""Principal components of the lips that are held against the sound."""
RIDGES = (4.0, 0.5)
"""Added to the variances of the scaled numbers of sound and lips, so that few minutes of speech are
enough."""
WEIGHTS = Path(__file__).resolve().parents[2] / "src/palprep/consent/weights/lip_sync-v1.npz"


class Rows(NamedTuple):
    """The numbers of a stretch as it was recorded, one row every 40 ms that shows a mouth; or the
    weights of their sums, a row for each number."""

    sound: Floats
    lips: Floats


def course_of(seen: Seen, count: int) -> tuple[Floats, Known]:
    """The lips of a stretch in the middle of so many steps, and where they are known."""
    track, times = seen.genuine, (np.arange(count) + 0.5) * STEP_S
    return on_grid(track.at_s, track.lips, times)


def find_ways(courses: Sequence[tuple[Floats, Known]]) -> Floats:
    """The principal components of how lips move, each number in units of its spread."""
    moves = np.concatenate([without_drift(lips)[known] for lips, known in courses])
    spread = moves.std(axis=0) + 1e-9
    _, _, components = np.linalg.svd((moves - moves.mean(axis=0)) / spread, full_matrices=False)
    ways: Floats = (components[:WAYS] / spread).T
    return ways


def fit(rows: Sequence[Rows], people: Sequence[str]) -> Rows:
    """Weights of the sums that go together most: canonical correlation analysis, with ridges.

    ``people`` says whose each of the stretches is. A person counts by the square root of their
    seconds, so that nobody rules.
    """
    seconds: Counter[str] = Counter()
    for each, person in zip(rows, people, strict=True):
        seconds[person] += len(each.lips)
    counts = [
        np.full(len(each.lips), seconds[person] ** -0.5)
        for each, person in zip(rows, people, strict=True)
    ]
    share = np.concatenate(counts) / np.concatenate(counts).sum()
    joined = (np.concatenate(part) for part in zip(*rows, strict=True))
    sound, lips = ((each - share @ each) * np.sqrt(share)[:, None] for each in joined)
    one, other = (
        np.linalg.cholesky(each.T @ each + ridge * np.eye(each.shape[1]))
        for each, ridge in zip((sound, lips), RIDGES, strict=True)
    )
    together = np.linalg.solve(one, sound.T @ lips)
    left, _, right = np.linalg.svd(np.linalg.solve(other, together.T).T, full_matrices=False)
    return Rows(np.linalg.solve(one.T, left[:, :SUMS]), np.linalg.solve(other.T, right[:SUMS].T))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("talkers", type=Path)
    options = parser.parse_args(arguments)
    models, encoder = Models(), Encoder.load()
    talkers = [each for each in read_talkers() if each.use == "fit"]
    stretches = [seen_of(each, options.talkers, models) for each in talkers]
    heard = [sound_rows(each.sound, encoder) for each in stretches]
    courses = [course_of(*each) for each in zip(stretches, map(len, heard), strict=True)]
    ways = find_ways(courses)
    rows = [
        Rows(sound[known], lip_rows(lips, known, ways)[known])
        for sound, (lips, known) in zip(heard, courses, strict=True)
    ]
    found = fit(rows, [each.person for each in talkers])
    weights = {**found._asdict(), "ways": ways}
    data = io.BytesIO()
    np.savez(data, **{name: each.astype(np.float32) for name, each in weights.items()})
    WEIGHTS.write_bytes(data.getvalue())
    seconds = sum(len(each.lips) for each in rows) * STEP_S
    print(f"{len(rows)} stretches, {seconds:.0f} s: {hashlib.sha256(data.getvalue()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

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

from palprep.consent.lips import STEP_S, Floats, lip_rows, on_grid, sound_rows
from palprep.consent.whisper import Encoder
from palprep.vision import Models
from research.evaluation.lips import Seen, read_talkers, seen_of

SUMS = 4
RIDGES = (4.0, 1.0)
"""Added to the variances of the scaled numbers of sound and lips, so that few minutes of speech are
enough."""
WEIGHTS = Path(__file__).resolve().parents[2] / "src/palprep/consent/weights/lip_sync-v1.npz"


class Rows(NamedTuple):
    """The numbers of a stretch as it was recorded, one row every 40 ms that shows a mouth; or the
    weights of their sums, a row for each number."""

    sound: Floats
    lips: Floats


def rows_of(seen: Seen, encoder: Encoder) -> Rows:
    """Those of one stretch."""
    sound = sound_rows(seen.sound, encoder)
    shape, known = on_grid(seen.genuine, (np.arange(len(sound)) + 0.5) * STEP_S)
    return Rows(sound[known], lip_rows(shape, known)[known])


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
    rows = [rows_of(seen_of(each, options.talkers, models), encoder) for each in talkers]
    found = fit(rows, [each.person for each in talkers])
    data = io.BytesIO()
    np.savez(data, **{name: each.astype(np.float32) for name, each in found._asdict().items()})
    WEIGHTS.write_bytes(data.getvalue())
    seconds = sum(len(each.lips) for each in rows) * STEP_S
    print(f"{len(rows)} stretches, {seconds:.0f} s: {hashlib.sha256(data.getvalue()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

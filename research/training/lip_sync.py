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
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from palprep.consent.lips import STEP_S, Floats, lip_rows, on_grid, sound_rows
from palprep.consent.model_folder import read_model
from palprep.consent.whisper import Encoder
from palprep.vision import Models
from research.evaluation.lips import Seen, read_talkers, seen_of

SUMS = 3
RIDGES = (1.0, 1.0)
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


def fit(rows: Sequence[Rows]) -> Rows:
    """Weights of the sums that go together most: canonical correlation analysis, with ridges."""
    centred = [np.concatenate(part) for part in zip(*rows, strict=True)]
    centred = [each - each.mean(axis=0) for each in centred]
    one, other = (
        np.linalg.cholesky(each.T @ each / len(each) + ridge * np.eye(each.shape[1]))
        for each, ridge in zip(centred, RIDGES, strict=True)
    )
    together = np.linalg.solve(one, centred[0].T @ centred[1] / len(centred[0]))
    left, _, right = np.linalg.svd(np.linalg.solve(other, together.T).T, full_matrices=False)
    return Rows(np.linalg.solve(one.T, left[:, :SUMS]), np.linalg.solve(other.T, right[:SUMS].T))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("talkers", type=Path)
    options = parser.parse_args(arguments)
    models, encoder = Models(), Encoder(read_model(None).encoder)
    rows = [
        rows_of(seen_of(each, options.talkers, models), encoder)
        for each in read_talkers()
        if each.use == "fit"
    ]
    data = io.BytesIO()
    np.savez(data, **{name: each.astype(np.float32) for name, each in fit(rows)._asdict().items()})
    WEIGHTS.write_bytes(data.getvalue())
    seconds = sum(len(each.lips) for each in rows) * STEP_S
    print(f"{len(rows)} stretches, {seconds:.0f} s: {hashlib.sha256(data.getvalue()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

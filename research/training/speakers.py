"""Fit the numbers of palprep.speech.speakers: one speaker or several.

    python -m research.training.speakers [--corpus FOLDER] [--table docs/accuracy.md]

FOLDER holds recordings of single readers and MANIFEST.tsv (the development corpus beside the
checkout when not given). Stretches of one reader, of several lengths, stand against stretches of
two of them: halves joined, or turns of two to fifteen seconds. All are brought to one level before
they are described, but each reader keeps the sound of the own room: two people in one room are
harder to tell apart than the pairs here.

Readers are left out in turn. Prints the weights, the area under the ROC curve of what was left
out, and how often what a probability says is true; with --table that goes into the document.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from palprep.speech import Silero
from palprep.speech.activity import CHUNK
from palprep.speech.arrays import Floats
from palprep.speech.speakers import SpeakerMeter, Traits, spoken_runs, traits
from research.evaluation.portraits import wilson
from research.evaluation.voice import CORPUS, decode, levelled, manifest
from research.marked import replace_marked
from research.training.logistic import Array, area_under_curve, fit

LENGTHS = (16, 20, 24, 30, 40, 60, 80, 120)
"""Units of half a second: eight seconds, the least that is judged, to a minute."""

STRETCHES = 3
"""Of each reader and length, where there is enough speech."""

PAIRS = 900
JOINED = 0.3
"""Share of the pairs that are two halves; the others take turns."""

TURNS = (4, 30)
FOLDS = 8
RIDGE = 1.0

BINS = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0)


class Stretch(NamedTuple):
    """What was measured of some speech, and who speaks."""

    readers: tuple[str, ...]
    found: Traits


def units_by_reader(corpus: Path) -> Mapping[str, Floats]:
    """The speech of each single English reader, a row for each half second."""
    network, units = Silero.load(), defaultdict[str, list[Floats]](list)
    for clip in manifest(corpus):
        if "read" not in clip.kind or clip.language != "en" or clip.path.suffix == ".mp3":
            continue
        meter, samples = SpeakerMeter(), levelled(decode(clip.path))
        probabilities, _ = network.run(samples)
        for run in spoken_runs(samples, probabilities, CHUNK):
            meter.push(run)
        units[clip.speaker].append(meter.units())
    return {reader: np.concatenate(parts) for reader, parts in units.items()}


def stretches(units: Mapping[str, Floats], chance: np.random.Generator) -> Iterator[Stretch]:
    """Of one reader each, then of two."""
    for (reader, said), length in itertools.product(units.items(), LENGTHS):
        for _ in range(STRETCHES if len(said) > length else len(said) == length):
            start = int(chance.integers(len(said) - length + 1))
            yield Stretch((reader,), traits(said[start : start + length]))
    names = sorted(reader for reader, said in units.items() if len(said) >= LENGTHS[0] // 2)
    for _ in range(PAIRS):
        one, other = (str(name) for name in chance.choice(names, 2, replace=False))
        length = int(chance.choice(LENGTHS))
        if chance.random() < JOINED:
            parts = [units[one][: length // 2], units[other][-length // 2 :]]
        else:
            parts = list(_in_turns(units[one], units[other], length, chance))
        said = np.concatenate(parts)
        if len(said) >= LENGTHS[0]:
            yield Stretch((one, other), traits(said))


def _in_turns(
    one: Floats, other: Floats, length: int, chance: np.random.Generator
) -> Iterator[Floats]:
    turn, at = int(chance.integers(*TURNS)), 0
    while at < length:
        for said in (one, other):
            part = said[at // 2 : at // 2 + turn]
            if not len(part):
                return
            yield part
        at += 2 * turn


def importance(cases: Sequence[Stretch]) -> Array:
    """Readers with much speech count by its square root, both kinds the same."""
    counts = Counter(case.readers for case in cases)
    weight = np.array([counts[case.readers] ** -0.5 for case in cases])
    single = np.array([len(case.readers) == 1 for case in cases])
    for kind in (single, ~single):
        weight[kind] /= weight[kind].sum()
    return weight * len(cases) / 2


def fitted(cases: Sequence[Stretch]) -> tuple[Array, float]:
    """Weights of the raw figures, and the bias."""
    features = np.array([case.found for case in cases])
    wanted = np.array([float(len(case.readers) > 1) for case in cases])
    mean, spread = features.mean(0), features.std(0)
    inner, bias = fit((features - mean) / spread, wanted, importance(cases), RIDGE)
    return inner / spread, bias - float(mean @ (inner / spread))


def held_out(cases: Sequence[Stretch]) -> Array:
    """The probability of each stretch by a fit that has heard none of its readers."""
    readers = sorted({reader for case in cases for reader in case.readers})
    fold = {reader: number % FOLDS for number, reader in enumerate(readers)}
    logits = np.zeros(len(cases))
    for index in {tuple(sorted({fold[reader] for reader in case.readers})) for case in cases}:
        weights, bias = fitted(
            [case for case in cases if not any(fold[reader] in index for reader in case.readers)]
        )
        for number, case in enumerate(cases):
            if tuple(sorted({fold[reader] for reader in case.readers})) == index:
                logits[number] = np.array(case.found) @ weights + bias
    return 1 / (1 + np.exp(-logits))


def table(cases: Sequence[Stretch], probability: Array) -> list[str]:
    """Lines of Markdown: how often one reader and two come into each range."""
    single = np.array([len(case.readers) == 1 for case in cases])
    readers = {reader for case in cases for reader in case.readers}
    area = area_under_curve(probability, (~single).astype(float))
    lines = [
        f"{len(readers)} readers; {single.sum()} stretches of one, {(~single).sum()} of two.",
        f"Area under the ROC curve, readers left out: {area:.3f}.",
        "",
        "| Probability of several | one reader | two readers |",
        "|---|---|---|",
    ]
    for low, high in itertools.pairwise(BINS):
        inside = (probability >= low) & (probability < high)
        cells = []
        for kind in (single, ~single):
            hits = int((inside & kind).sum())
            least, most = wilson(hits, int(kind.sum()))
            cells.append(f"{hits} ({least:.1%} to {most:.1%})")
        lines.append(f"| {low:.0%} to {high:.0%} | {' | '.join(cells)} |")
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args(arguments)
    cases = list(stretches(units_by_reader(options.corpus), np.random.default_rng(1)))
    weights, bias = fitted(cases)
    named = zip(Traits._fields, weights, strict=True)
    print(", ".join(f"{name}={weight:.3f}" for name, weight in named), f"bias {bias:.3f}")
    lines = table(cases, held_out(cases))
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, "one speaker", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Whom `appears_under_18` asks about, by group of people.

    python -m research.evaluation.age_by_group PICTURES [--table docs/accuracy.md]

PICTURES holds the whole of SOURCE, as sources_and_labels.py writes it with --source. Its annotators
gave each face a sex, one of seven groups and a decade of age. Of each sex, group and decade the
first FACES are taken, by the SHA-256 of their paths, that the model was not fitted on. A face whose
points are hidden is left out: the check says that it cannot tell.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from palprep.rules import load_profile
from palprep.values import Role
from palprep.vision import Models, arrays, detect, identity, landmarks, scene
from research.evaluation.portraits import share_of
from research.marked import replace_marked
from research.material.kept_facts import Kept
from research.material.sources_and_labels import Labelled, read_labels
from research.training.age import CHECK, describe_row

SOURCE = "sumanvithaeadala/EthnicityDetection"
LABELS = ("fairface_label_train.csv", "fairface_label_val.csv")
FACES = 100
DECADES = {"30-39": "30-39", "20-29": "20-29", "Oct-19": "10-19"}
"""A spreadsheet took 10-19 for a day of October."""

Cell = tuple[str, str, str]
"""Group, sex and decade."""


def unseen(pictures: Path) -> dict[Cell, list[Labelled]]:
    """The faces of each cell that the model has not seen, in the order in which they are taken."""
    fitted = {row.path for row in read_labels(CHECK) if row.source == SOURCE}
    cells = defaultdict[Cell, list[Labelled]](list)
    for name in LABELS:
        with (pictures / SOURCE / name).open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                path, decade = f"fair_face/{row['file']}", DECADES.get(row["age"])
                if decade and path not in fitted:
                    label = Labelled(SOURCE, path, "", "", decade != "10-19", f"looks {decade}")
                    cells[row["race"], row["gender"], decade].append(label)
    for rows in cells.values():
        rows.sort(key=lambda row: hashlib.sha256(row.path.encode()).hexdigest())
    return cells


def likelihoods(
    rows: Sequence[Labelled], pictures: Path, models: Models, kept: Kept
) -> list[float]:
    """Of the first FACES that show their points."""
    found: list[float] = []
    for row in rows:
        blocks = kept.arrays_of(row, partial(describe_row, row, pictures, models))
        if blocks:
            found.append(models.adult.likelihood(blocks))
        if len(found) == FACES:
            break
    return found


def table(said: dict[Cell, list[float]], asked_below: float) -> list[str]:
    """Lines of Markdown, a line for each group and sex."""
    lines = [
        "| Faces of | 30-39, asked about | 20-29, asked about | 10-19, pass in silence |",
        "|---|---|---|---|",
    ]
    for group, sex in sorted({cell[:2] for cell in said}):
        columns = []
        for decade in DECADES.values():
            asked = [each < asked_below for each in said[group, sex, decade]]
            counted = len(asked) - sum(asked) if decade == "10-19" else sum(asked)
            columns.append(share_of(counted, len(asked)))
        people = "women" if sex == "Female" else "men"
        lines.append(f"| {group.replace('_', ' or ')}, {people} | {' | '.join(columns)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args()
    models = Models()
    kept = Kept(options.pictures, "age", [arrays, detect, identity, landmarks, scene])
    said = {
        cell: likelihoods(rows, options.pictures, models, kept)
        for cell, rows in unseen(options.pictures).items()
    }
    limits = load_profile().for_role(Role.FACE_IMAGE)[CHECK]
    lines = table(said, max(limit.min for limit in limits if limit.min is not None))
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, "age by group", lines)


if __name__ == "__main__":
    main()

"""How often `palprep best` takes a frame that a person would choose.

    python -m research.evaluation.best [--measure FRAMES] [--table docs/accuracy.md]

`research/material/best.csv` lists six frames of each of some people who talk, evenly spread. Those
that a person would take (eyes open, mouth closed) were marked before any frame was measured. People
of whom no frame would be taken are left out. The facts of every frame stand beside the marks; they
are measured again with --measure, in a folder that has PERSON_FRAME.png for each row.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path

from palprep.preflight import pick_best
from research.evaluation.portraits import share_of
from research.marked import replace_marked

FACTS = Path(__file__).resolve().parents[1] / "material" / "best.csv"


def measured(rows: list[dict[str, str]], frames: Path) -> None:
    """Rank every frame again, and write the facts."""
    for row in rows:
        [found] = pick_best(frames / f"{int(row['person']):02d}_{row['frame']}.png")
        row["failed"], row["warned"] = " ".join(found.failed), " ".join(found.warned)
        row["fitness"] = str(found.fitness)
    with FACTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def first_choices(rows: list[dict[str, str]], fitness: str = "fitness") -> tuple[int, int]:
    """Of how many people the first in rank would be taken, and of how many there are."""
    people = defaultdict[str, list[dict[str, str]]](list)
    for row in rows:
        people[row["person"]].append(row)
    best = [
        min(
            frames,
            key=lambda row: (
                len(row["failed"].split()),
                len(row["warned"].split()),
                -float(row[fitness]),
            ),
        )
        for frames in people.values()
    ]
    return sum(row["chosen"] == "1" for row in best), len(best)


def table(rows: list[dict[str, str]]) -> list[str]:
    """Lines of Markdown: before the closed mouth counted more, after, and by chance."""
    lines = ["| Ranked first | would be taken |", "|---|---|"]
    for words, column in (("with a closed mouth as before", "before"), ("now", "fitness")):
        taken, people = first_choices(rows, column)
        lines.append(f"| {words} | {share_of(taken, people)} |")
    chance = sum(row["chosen"] == "1" for row in rows) / len(rows)
    return [*lines, f"| by chance | {chance:.0%} |"]


def main() -> None:
    """Print the table, and write it into a document that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", type=Path, help="a folder of the frames")
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args()
    with FACTS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if options.measure:
        measured(rows, options.measure)
    lines = table(rows)
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, "best frame", lines)


if __name__ == "__main__":
    main()

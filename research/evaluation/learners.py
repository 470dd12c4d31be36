"""How often people who learn English are read wrongly, beside what experts heard of them.

    python -m research.evaluation.learners READERS [--table docs/accuracy.md]

READERS is a checkout of jimbozhang/speechocean762: grown-up Mandarin speakers who read from
prompts. material/learners.csv names the longest sentence of each third of them that has seven words
and lasts 4 s, with the accuracy that five experts gave each word: 7 and more is right, with an
accent at the most; 4 to 6 is partly wrong; 3 and less is wrong, or another word. A word that was
said wrongly is no reading of the statement, so readings are counted by their worst word. Then each
is held against altered sentences.

Prints how many pass, are held for a decision and fail; with --table that goes into the document.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from research.evaluation.consent import MORE_PEOPLE, Remembering, report, spoken_as, verify
from research.evaluation.portraits import share_of
from research.marked import replace_marked

MARKED = Path(__file__).resolve().parents[1] / "material" / "learners.csv"
RIGHT, PARTLY = 7, 4
KINDS = {
    RIGHT: "each word right",
    PARTLY: "a word partly wrong",
    0: "a word wrong, or another one",
}
"""By the accuracy of the worst word, at the least."""
OUTCOMES = ("pass", "warn", "fail")


class Sentence(NamedTuple):
    """What a learner was to read, and the accuracy of each word, 0 to 10."""

    utterance: str
    speaker: str
    prompt: str
    words: tuple[int, ...]

    @property
    def kind(self) -> str:
        """How well it was read, by its worst word."""
        return next(kind for least, kind in KINDS.items() if min(self.words) >= least)

    def path(self, folder: Path) -> Path:
        """The recording in a checkout."""
        return folder / "WAVE" / f"SPEAKER{self.speaker}" / f"{self.utterance}.WAV"


def sentences() -> list[Sentence]:
    """The marked sentences."""
    with MARKED.open(encoding="utf-8", newline="") as file:
        return [
            Sentence(
                row["utterance"],
                row["speaker"],
                row["prompt"],
                tuple(map(int, row["words"].split())),
            )
            for row in csv.DictReader(file)
        ]


def counted(folder: Path) -> Counter[tuple[str, str]]:
    """How many of each kind come to each outcome."""
    listener, counts = Remembering.load(None), Counter[tuple[str, str]]()
    marked = sentences()
    kinds = {each.path(folder): each.kind for each in marked}
    read = [(each.path(folder), each.speaker, each.prompt.capitalize()) for each in marked]
    for case in spoken_as(read, MORE_PEOPLE):
        facts = verify(case, listener, {})
        kind = kinds[case.path] if case.expected == "exact" else case.group
        counts[kind, facts.outcome] += 1
        if case.accepts(facts.outcome) or case.rejects(facts.outcome):
            report(case, facts)
    return counts


def table(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Lines of Markdown: outcomes by how well experts heard it."""
    yield "| Reading | pass | held for a decision | fail |"
    yield "|---|---|---|---|"
    read = tuple(kind for kind in KINDS.values() if any(counts[kind, one] for one in OUTCOMES))
    others = tuple(dict.fromkeys(kind for kind, _ in counts if kind not in read))
    rows = {"as read, all": read} | {f"as read, {kind}": (kind,) for kind in read}
    for name, kinds in (rows | {kind: (kind,) for kind in others}).items():
        found = [sum(counts[kind, one] for kind in kinds) for one in OUTCOMES]
        yield f"| {name} | {' | '.join(share_of(each, sum(found)) for each in found)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Read them, and write the table into a document that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("readers", type=Path)
    parser.add_argument("--table", type=Path, help="the document with a place for it")
    options = parser.parse_args(arguments)
    lines = list(table(counted(options.readers)))
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, "learners", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())

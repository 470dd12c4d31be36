"""Judge the broad set again without its pictures, by what was measured of them.

    python -m research.evaluation.measured [--measure PICTURES] [--check ID] [--table FILE]

``material/portraits-28-measured.csv`` holds the measure of every check for every picture that has a
label. With --measure those of the named half are measured anew and written there. Prints, and with
--table writes into the document, the tables of ``research.evaluation.portraits`` by the limits of
today. A test holds the document's tables to them.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from palprep.facts import Facts
from palprep.rules import PORTRAIT_CHECKS, Profile, load_profile
from palprep.rules.catalogue import RULES
from palprep.rules.profile import Limit
from palprep.rules.rule import Measured, Rule
from palprep.values import Outcome, Role
from research.evaluation.portraits import Judged, of_outcomes, table
from research.marked import replace_marked
from research.material.kept_facts import FactsOfRows
from research.material.sources_and_labels import BROAD_HALVES, MATERIAL, read_labels

FILE = MATERIAL / "portraits-28-measured.csv"

CHECKS = sorted(PORTRAIT_CHECKS)

Measures = Mapping[str, str]
"""By the check's id; empty where nothing was measured. With the picture's source and path."""


def measures_of(facts: Facts, checks: Iterable[str] = CHECKS) -> dict[str, str]:
    """What is held against the limits of each check; empty where nothing was measured."""
    found = {}
    for check in checks:
        rule = RULES[check]
        assert isinstance(rule, Rule)  # noqa: S101 - for the type checker
        measured = rule.measure.get(facts)
        found[check] = str(measured.value) if isinstance(measured, Measured) else ""
    return found


def read_measures() -> dict[tuple[str, str], Measures]:
    """All that are kept, by source and path."""
    with FILE.open(newline="", encoding="utf-8") as stream:
        return {(row["source"], row["path"]): row for row in csv.DictReader(stream)}


def measure(check_id: str, pictures: Path) -> None:
    """Write the measures of one half anew."""
    kept, facts = read_measures() if FILE.is_file() else {}, FactsOfRows(pictures)
    for row in read_labels(check_id):
        named = {"source": row.source, "path": row.path}
        kept[row.source, row.path] = named | measures_of(facts.of(row))
    with FILE.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["source", "path", *CHECKS], lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[key] for key in sorted(kept))


def outcome_of(measure: str, limits: Sequence[Limit]) -> Outcome:
    """The worst of what the limits make of a measure; unknown where there is none."""
    if not measure:
        return Outcome.UNKNOWN
    broken = {limit.level for limit in limits if not limit.holds(float(measure))}
    return next((each for each in (Outcome.FAIL, Outcome.WARN) if each in broken), Outcome.PASS)


def judged_again(check_id: str, profile: Profile) -> list[Judged]:
    """The labelled pictures of one half, as ``portraits.judged`` gives them."""
    kept, limits = read_measures(), profile.for_role(Role.FACE_IMAGE)
    cases = []
    for row in read_labels(check_id):
        outcomes = {
            check: outcome_of(kept[row.source, row.path][check], limits[check])
            for check in CHECKS
            if check in limits
        }
        cases.append(of_outcomes(row, outcomes, whole=True))
    return cases


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", type=Path, help="a folder of the pictures")
    parser.add_argument("--check", default=next(iter(BROAD_HALVES)), choices=BROAD_HALVES)
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args(arguments)
    if options.measure:
        measure(options.check, options.measure)
    lines = table(options.check, judged_again(options.check, load_profile()))
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, options.check, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())

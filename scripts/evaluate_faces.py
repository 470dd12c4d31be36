"""How well the face checks foretell a careful person's labels.

    python scripts/evaluate_faces.py [FOLDER] [--split dev] [--json FILE]

FOLDER holds labels.csv (path, person_count, is_photo_of_human, child, frontal, ...; an empty
cell is ambiguous and not scored) and the pictures that it names. Without FOLDER the
development corpus beside the checkout is taken. Prints, per check, counts, balanced accuracy
with a 95% confidence interval (bootstrap over groups of related pictures) and every
disagreement.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from palprep.preflight import Preflight
from palprep.rules.report import Report
from palprep.rules.roles import Outcome, Role

Row = Mapping[str, str]

RESAMPLES = 2000


def _flag(column: str, *, good: str = "1") -> Callable[[Row], bool | None]:
    return lambda row: row[column] == good if row[column] else None


LABELS: Mapping[str, Callable[[Row], bool | None]] = {
    "only_one_person_visible": _flag("person_count"),
    "human_like_subject": _flag("is_photo_of_human"),
    "appears_under_18": _flag("child", good="0"),
    "pose_suitable_for_replica": _flag("frontal"),
    "looking_straight_at_camera": _flag("looking_at_camera"),
    "head_fully_in_frame": _flag("head_fully_in_frame"),
    "person_centered": _flag("centered"),
    "chest_up_framing_acceptable": _flag("chest_up_framing"),
    "face_substantially_obscured": _flag("obscured", good="0"),
    "image_quality_acceptable": _flag("sharp_and_well_lit"),
}
"""Check id to whether the label says that it should pass; None where it is not scored."""


@dataclass(frozen=True)
class Case:
    """One picture under one check: ``wanted`` and ``found`` say whether it passes."""

    row: Row
    wanted: bool
    found: bool | None
    measured: str

    @property
    def right(self) -> bool:
        return self.found is self.wanted


def balanced_accuracy(cases: Iterable[Case]) -> float | None:
    """Mean of the shares found right among what should pass and what should fail.

    Cases without a verdict count as not found right.
    """
    shares = []
    for wanted in (True, False):
        of_kind = [case for case in cases if case.wanted is wanted]
        if not of_kind:
            return None
        shares.append(sum(case.right for case in of_kind) / len(of_kind))
    return sum(shares) / 2


def interval(cases: Sequence[Case], rng: random.Random) -> tuple[float, float] | None:
    """95% confidence interval: pictures of one group are drawn together."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.row["group"]].append(case)
    names = sorted(groups)
    values = []
    for _ in range(RESAMPLES):
        drawn = [case for name in rng.choices(names, k=len(names)) for case in groups[name]]
        value = balanced_accuracy(drawn)
        if value is not None:
            values.append(value)
    values.sort()
    return (values[len(values) // 40], values[-len(values) // 40]) if values else None


def judged(rows: Iterable[Row], folder: Path, profile: str) -> dict[str, Report]:
    preflight = Preflight(profile)
    return {
        row["path"]: preflight.check(folder / row["path"], role=Role.FACE_IMAGE) for row in rows
    }


def cases_of(check_id: str, rows: Iterable[Row], reports: Mapping[str, Report]) -> list[Case]:
    cases = []
    for row in rows:
        wanted = LABELS[check_id](row)
        if wanted is None:
            continue
        check = reports[row["path"]].check(check_id)
        cases.append(Case(row, wanted, check.passed, str(check.measured)))
    return cases


def summary(check_id: str, cases: Sequence[Case]) -> dict[str, object]:
    count = {
        "true_pass": sum(c.wanted and c.found is True for c in cases),
        "false_fail": sum(c.wanted and c.found is False for c in cases),
        "true_fail": sum(not c.wanted and c.found is False for c in cases),
        "false_pass": sum(not c.wanted and c.found is True for c in cases),
        "unknown_good": sum(c.wanted and c.found is None for c in cases),
        "unknown_bad": sum(not c.wanted and c.found is None for c in cases),
    }
    decided = [case for case in cases if case.found is not None]
    return {
        "check": check_id,
        **count,
        "balanced_accuracy": balanced_accuracy(cases),
        "interval": interval(cases, random.Random(0)),  # noqa: S311 - repeatable, not secret
        "balanced_accuracy_decided": balanced_accuracy(decided),
    }


def good_portraits(rows: Iterable[Row]) -> list[Row]:
    """Adults whom no label faults, 512 px or more on the shorter side."""
    faults = [rule for name, rule in LABELS.items() if name != "human_like_subject"]
    return [
        row
        for row in rows
        if row["is_photo_of_human"] == "1"
        and row["child"] == "0"
        and min(int(row["width"]), int(row["height"])) >= 512
        and all(rule(row) is not False for rule in faults)
    ]


def must_not_pass(rows: Iterable[Row]) -> list[Row]:
    """Several people, a child, or no photographed human."""
    return [
        row
        for row in rows
        if row["child"] == "1"
        or row["is_photo_of_human"] == "0"
        or (row["person_count"] not in {"", "1"})
    ]


def passes_everything(report: Report) -> bool:
    """No local check failed, and the subject's humanity and age were decided."""
    decided = ("human_like_subject", "appears_under_18")
    return report.passed and all(report.check(name).passed for name in decided)


def main(arguments: Sequence[str] | None = None) -> int:
    beside = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "faces"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=beside)
    parser.add_argument("--split", help="only rows of this split")
    parser.add_argument("--profile", default="core-4")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--quiet", action="store_true", help="no list of disagreements")
    options = parser.parse_args(arguments)
    labels = options.folder / "labels.csv"
    if not labels.is_file():
        print(f"{labels} does not exist: name a folder with labels.csv", file=sys.stderr)
        return 2
    with labels.open(newline="", encoding="utf-8") as stream:
        rows = [
            row
            for row in csv.DictReader(stream)
            if options.split is None or row.get("split") == options.split
        ]
    reports = judged(rows, options.folder, options.profile)
    figures = []
    print(f"{'check':30} {'TP':>4} {'FF':>4} {'TF':>4} {'FP':>4} {'??':>6}  balanced accuracy")
    for check_id in LABELS:
        cases = cases_of(check_id, rows, reports)
        found = summary(check_id, cases)
        figures.append(found)
        print(_line(found))
        for case in cases:
            if not case.right and not options.quiet:
                said = {True: "passes", False: "fails", None: "unknown"}[case.found]
                wanted = "pass" if case.wanted else "fail"
                print(f"      {said}, should {wanted}: {case.row['path']} ({case.measured})")
    good, bad = good_portraits(rows), must_not_pass(rows)
    passing = [row for row in good if passes_everything(reports[row["path"]])]
    wrong = [row for row in bad if passes_everything(reports[row["path"]])]
    print(f"good adult portraits of 512 px or more that pass: {len(passing)} of {len(good)}")
    for row in good:
        if row not in passing:
            failed = reports[row["path"]].having(Outcome.FAIL)
            print(f"      {row['path']}: {', '.join(check.id for check in failed)}")
    print(f"several people, children, no photographed human that pass: {len(wrong)} of {len(bad)}")
    for row in wrong:
        print(f"      {row['path']}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def _line(found: Mapping[str, object]) -> str:
    unknown = f"{found['unknown_good']}+{found['unknown_bad']}"
    counts = " ".join(
        f"{found[key]:>4}" for key in ("true_pass", "false_fail", "true_fail", "false_pass")
    )
    accuracy, between = found["balanced_accuracy"], found["interval"]
    words = "nothing to score"
    if isinstance(accuracy, float) and isinstance(between, tuple):
        words = f"{accuracy:.3f} ({between[0]:.3f} to {between[1]:.3f})"
        if isinstance(decided := found["balanced_accuracy_decided"], float):
            words += f", of the decided {decided:.3f}"
    return f"{found['check']:30} {counts} {unknown:>6}  {words}"


if __name__ == "__main__":
    sys.exit(main())

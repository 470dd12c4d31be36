"""A careful person's labels of portraits, and how well verdicts agree with them.

labels.csv names pictures in its column ``path`` and says of each what it shows (person_count,
is_photo_of_human, child, frontal, ...); an empty cell is ambiguous and not scored. Pictures of
one person or one series share a ``group``.
"""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from palprep.rules import RULES, Report
from palprep.rules.rule import Measured, Rule
from palprep.values import Outcome

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
    value: float | None
    """The rule's raw measure, where it could measure and the measure is a number."""
    shown: str

    @property
    def right(self) -> bool:
        return self.found is self.wanted


def read_rows(labels: Path, split: str | None = None) -> list[Row]:
    """The rows of a labels.csv, all or those of one split."""
    with labels.open(newline="", encoding="utf-8") as stream:
        return [row for row in csv.DictReader(stream) if split is None or row.get("split") == split]


def cases_of(check_id: str, rows: Iterable[Row], reports: Mapping[str, Report]) -> list[Case]:
    """Every row that the labels score under this check; reports by the rows' paths."""
    cases = []
    for row in rows:
        wanted = LABELS[check_id](row)
        if wanted is None:
            continue
        report = reports[row["path"]]
        check = report.check(check_id)
        rule = RULES[check_id]
        measured = None
        if report.facts and isinstance(rule, Rule):
            measured = rule.measure.get(report.facts)
        value = measured.value if isinstance(measured, Measured) else None
        number = float(value) if isinstance(value, int | float) else None
        cases.append(Case(row, wanted, check.passed, number, str(check.measured)))
    return cases


def balanced_accuracy(cases: Iterable[Case]) -> float | None:
    """Mean of the shares found right among what should pass and what should fail.

    Cases without a verdict count as not found right. None where one of the kinds is missing.
    """
    shares = []
    for wanted in (True, False):
        of_kind = [case.right for case in cases if case.wanted is wanted]
        if not of_kind:
            return None
        shares.append(sum(of_kind) / len(of_kind))
    return sum(shares) / 2


def by_group(cases: Iterable[Case]) -> Mapping[str, Sequence[Case]]:
    """Cases of related pictures together, which are drawn or left out together."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.row["group"]].append(case)
    return groups


def interval(cases: Sequence[Case], rng: random.Random) -> tuple[float, float] | None:
    """95% confidence interval of the balanced accuracy, by bootstrap over groups."""
    groups = by_group(cases)
    names = sorted(groups)
    values = []
    for _ in range(RESAMPLES):
        drawn = [case for name in rng.choices(names, k=len(names)) for case in groups[name]]
        value = balanced_accuracy(drawn)
        if value is not None:
            values.append(value)
    values.sort()
    return (values[len(values) // 40], values[-len(values) // 40]) if values else None


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


def passes_silently(report: Report) -> bool:
    """Likewise, and who is seen raised no doubt: a warning leads somebody to look."""
    seen = ("human_like_subject", "appears_under_18", "only_one_person_visible")
    return report.passed and all(report.check(name).outcome is Outcome.PASS for name in seen)

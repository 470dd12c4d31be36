"""What the checks of a portrait shall reach, and what they reach, as tables.

    python -m research.evaluation.targets PICTURES [--development FOLDER] [--table docs/accuracy.md]

PICTURES holds what sources_and_labels.py wrote. Counted are pictures of sources that nothing is
fitted on, and where a kind is known of sources for fitting alone, what a fit without the picture
says of it. FOLDER holds a labels.csv and its pictures (research/material/corpus_labels.py says
how): the development pictures, by which some limits were once set; without it their column stays
empty. A second table says which kinds of them are misjudged. Prints the tables, and with --table
writes them into the document."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from palprep.rules import Profile, Report, load_profile
from palprep.values import Outcome
from research.evaluation.faces import judged as reports_of
from research.evaluation.portraits import FITTED, Judged, judged, rows_of, wilson
from research.marked import replace_marked
from research.material.corpus_labels import (
    balanced_accuracy,
    cases_of,
    good_portraits,
    must_not_pass,
    read_rows,
)
from research.material.kept_facts import FactsOfRows
from research.material.sources_and_labels import FRESH_SET, WHOLE_CHECK, read_sources

ACCURACIES = (
    ("only_one_person_visible", "one person", 0.95, ("several people",)),
    ("head_fully_in_frame", "whole head", 0.95, ("cut by the border",)),
    ("face_substantially_obscured", "uncovered face", 0.93, ()),
    ("appears_under_18", "4 to 14 years against 20 and older", 0.95, ()),
    ("looking_straight_at_camera", "looking into the lens", 0.92, ("looking away",)),
    ("chest_up_framing_acceptable", "chest up", 0.90, ("far away",)),
)
"""Checks, how the table calls them, the balanced accuracy that they shall reach, and which unfit
kinds of material/portraits.csv must fail them besides their own label files."""

CHILDREN = ("age 4-9", "age 10-12", "age 13-14")
GROWN_UP = ("age 20-25", "age 26-34", "age 35 and older", "official portrait")
DEPICTED = ("drawing", "line drawing", "sketch of a person", "animal", "animal or thing",
            "thing or empty scene")  # fmt: skip


class Case(NamedTuple):
    """One picture under one check."""

    wanted: bool
    outcome: Outcome


class Line(NamedTuple):
    """One line of the table; ``reached`` and ``development`` in words."""

    target: str
    wanted: str
    reached: str
    kept: bool
    development: str = ""


class Material:
    """The labelled pictures, judged when first asked for."""

    def __init__(self, pictures: Path, profile: Profile) -> None:
        self._facts, self._profile = FactsOfRows(pictures), profile
        self._sources, self._judged = read_sources(), dict[str, list[Judged]]()

    def of(self, label_file: str) -> list[Judged]:
        if label_file not in self._judged:
            self._judged[label_file] = judged(
                label_file, rows_of(label_file, None), self._facts, self._profile
            )
        return self._judged[label_file]

    def unseen(self, label_file: str) -> list[Judged]:
        """Those of sources that nothing is fitted on; of fit or of unfit ones all, each by a fit
        without it, where there are no such; all where no model is fitted for the check."""
        cases = self.of(label_file)
        if label_file not in FITTED:
            return cases
        found = []
        for wanted in (True, False):
            kind = [case for case in cases if case.row.wanted is wanted]
            apart = [c for c in kind if self._sources[c.row.source].use == "measure"]
            found += apart or kind
        return found

    def cases(self, check: str, kinds: Collection[str]) -> list[Case]:
        """Of one check: its own label file, and of portraits the fit ones and those kinds."""
        try:
            own = [Case(case.row.wanted, case.outcome) for case in self.unseen(check)]
        except FileNotFoundError:
            own = []
        if check == "appears_under_18":
            return [
                Case(case.row.wanted, case.outcome)
                for case in self.unseen(check)
                if case.row.group in {*CHILDREN, *GROWN_UP}
            ]
        for case in self.of(WHOLE_CHECK) if kinds else ():
            if case.row.wanted or case.row.group in kinds:
                level = Outcome.FAIL if check in case.failed else Outcome.PASS
                own.append(Case(case.row.wanted, level))
        return own


def share(hits: int, among: int) -> str:
    """``3 of 120: 2.5% (0.9% to 7.1%)``."""
    low, high = wilson(hits, among)
    return f"{hits} of {among}: {hits / max(1, among):.1%} ({low:.1%} to {high:.1%})"


def at_most(target: str, limit: float, hits: int, among: int, development: str = "") -> Line:
    """A line about a share that shall not be larger than ``limit``."""
    kept = hits <= limit * among
    return Line(target, f"at most {limit:.0%}", share(hits, among), kept, development)


def accuracy(cases: Iterable[Case]) -> tuple[float, str]:
    """Balanced accuracy with a warning counted as a pass, and what it consists of."""
    listed = list(cases)
    fit = [case for case in listed if case.wanted]
    unfit = [case for case in listed if not case.wanted]
    through = sum(case.outcome in {Outcome.PASS, Outcome.WARN} for case in fit)
    stopped = sum(case.outcome is Outcome.FAIL for case in unfit)
    value = (through / len(fit) + stopped / len(unfit)) / 2
    words = f"{value:.3f}: {through} of {len(fit)} fit, {stopped} of {len(unfit)} unfit"
    return value, words


def lines_of(material: Material, development: Development | None) -> list[Line]:
    """Every target, in the table's order."""
    several = [case for case in material.unseen("only_one_person_visible") if not case.row.wanted]
    ages = material.of("appears_under_18")
    children = [case for case in ages if case.row.group in CHILDREN]
    people = material.unseen("human_like_subject")
    photographed = [case for case in people if case.row.wanted]
    of_kinds = material.of("human_like_subject")
    lines = [
        *_of_fit_portraits(
            material.of(WHOLE_CHECK), "fit portraits of adults",
            development.share(development.good_failing) if development else ""),
        *_of_fit_portraits(material.of(FRESH_SET), "fit portraits of the set below"),
        at_most("pictures of several people that pass without a warning", 0.0,
                _counted(several, Outcome.PASS), len(several),
                development.share(development.passing_silently) if development else ""),
        at_most("children from 4 to 14 that pass without a warning", 0.02,
                _counted(children, Outcome.PASS), len(children)),
        at_most("photographed people called no human", 0.01,
                _counted(photographed, Outcome.FAIL), len(photographed)),
    ]  # fmt: skip
    for title, kinds in (
        ("drawings, sketches, animals and things that pass", DEPICTED),
        ("cartoons that pass", ("cartoon",)),
        ("renderings that pass", ("rendering",)),
        ("paintings that pass", ("painting",)),
    ):
        inside = [case for case in of_kinds if case.row.group in kinds]
        apart = [case for case in people if case.row.group in kinds]
        counted = inside if kinds is DEPICTED else apart
        lines.append(at_most(title, 0.02, _counted(counted, Outcome.PASS), len(counted)))
    for check, title, least, unfit_kinds in ACCURACIES:
        value, words = accuracy(material.cases(check, unfit_kinds))
        lines.append(
            Line(f"balanced accuracy, {title}", f"at least {least:.2f}", words, value >= least,
                 development.accuracy(check) if development else "")
        )  # fmt: skip
    return lines


def _of_fit_portraits(cases: Iterable[Judged], title: str, development: str = "") -> list[Line]:
    """How many fail anything, the check that most of them fail, and how many are warned of."""
    portraits = [case for case in cases if case.row.wanted]
    number = len(portraits)
    failing = [check for case in portraits for check in case.failed]
    worst = max(sorted({*failing}), key=failing.count, default="none")
    return [
        at_most(f"{title} that fail any check", 0.05,
                _counted(portraits, Outcome.FAIL), number, development),
        at_most(f"{title} that fail one and the same, most often `{worst}`", 0.01,
                failing.count(worst), number),
        at_most(f"{title} that are warned of", 0.25, _counted(portraits, Outcome.WARN), number),
    ]  # fmt: skip


def _counted(cases: Iterable[Judged], outcome: Outcome) -> int:
    return sum(case.outcome is outcome for case in cases)


class Development:
    """The development pictures and their reports."""

    def __init__(self, folder: Path) -> None:
        self.rows = read_rows(folder / "labels.csv")
        self.reports = reports_of(self.rows, folder)

    def share(self, counted: Callable[[], tuple[int, int]]) -> str:
        return share(*counted())

    def accuracy(self, check: str) -> str:
        value = balanced_accuracy(cases_of(check, self.rows, self.reports))
        return "" if value is None else f"{value:.3f}"

    def errors(self) -> list[str]:
        """Kinds of pictures that a check misjudges, as lines of Markdown."""
        lines = ["| Check | kind of picture | should | pictures | pass or warn | fail | unknown |"]
        lines.append("|---" * 7 + "|")
        for check, *_ in ACCURACIES:
            kinds: dict[tuple[bool, str], list[bool | None]] = {}
            for case in cases_of(check, self.rows, self.reports):
                kinds.setdefault((not case.wanted, case.row["category"]), []).append(case.found)
            lines += [
                f"| `{check}` | {kind.replace('_', ' ')} | {'fail' if unfit else 'pass'} "
                f"| {len(found)} | {found.count(True)} | {found.count(False)} "
                f"| {found.count(None)} |"
                for (unfit, kind), found in sorted(kinds.items())
                if found.count(not unfit) < len(found)
            ]
        return lines

    def good_failing(self) -> tuple[int, int]:
        good = [self.reports[row["path"]] for row in good_portraits(self.rows)]
        return sum(not report.passed for report in good), len(good)

    def passing_silently(self) -> tuple[int, int]:
        several = [
            self.reports[row["path"]]
            for row in must_not_pass(self.rows)
            if row["person_count"] not in {"", "0", "1"}
        ]
        return sum(_silent(report) for report in several), len(several)


def _silent(report: Report) -> bool:
    return report.check("only_one_person_visible").outcome is Outcome.PASS


def table(lines: Iterable[Line]) -> list[str]:
    """The lines as Markdown."""
    return [
        "| Target | wanted | reached | kept | development pictures |",
        "|---" * 5 + "|",
        *(
            f"| {line.target} | {line.wanted} | {line.reached} | {'yes' if line.kept else 'no'} "
            f"| {line.development} |"
            for line in lines
        ),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--development", type=Path, help="a folder with labels.csv")
    parser.add_argument("--profile", default="core-4")
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    options = parser.parse_args(arguments)
    material = Material(options.pictures, load_profile(options.profile))
    development = Development(options.development) if options.development else None
    lines = table(lines_of(material, development))
    print(*lines, sep="\n")
    if options.table:
        replace_marked(options.table, "portrait-targets", lines)
    if development:
        errors = development.errors()
        print(*errors, sep="\n")
        if options.table:
            replace_marked(options.table, "development-errors", errors)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How well the face checks foretell a careful person's labels, and what the fixes add.

    python -m research.evaluation.faces [FOLDER] [--split dev] [--cross-validate] [--json FILE]

FOLDER holds labels.csv and the pictures that it names (research/material/corpus_labels.py says
how).
Without FOLDER the development corpus beside the checkout is taken. Prints, per check, counts,
balanced accuracy with a 95% confidence interval (bootstrap over groups of related pictures)
and every disagreement; then how many good portraits pass, at once and after a fix, and
whether anything unfit passes without a warning, at once or after a fix. With --cross-validate
each limit is refitted on a part of the groups and judged on the rest, so that what a limit owes
to having been set on these pictures shows.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from palprep.errors import FixError, MediaError
from palprep.preflight import check, prepare
from palprep.rules import Profile, Report, load_profile
from palprep.rules.profile import Limit
from palprep.values import Outcome, Role
from palprep.vocabulary import DEFAULT_PROFILE
from research.evaluation.held_out import cross_validate
from research.material.corpus_labels import (
    LABELS,
    Case,
    Row,
    balanced_accuracy,
    cases_of,
    good_portraits,
    interval,
    must_not_pass,
    passes_everything,
    passes_silently,
    read_rows,
)

FOLDS, ROUNDS = 5, 10


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    labels = options.folder / "labels.csv"
    if not labels.is_file():
        print(f"{labels} does not exist: name a folder with labels.csv", file=sys.stderr)
        return 2
    rows = read_rows(labels, options.split)
    profile = load_profile(options.profile)
    reports = judged(rows, options.folder, profile)
    cases = {check_id: cases_of(check_id, rows, reports) for check_id in LABELS}
    figures: dict[str, object] = {
        "checks": _print_checks(cases, disagreements=not options.quiet),
    }
    if options.cross_validate:
        figures["held_out"] = _print_held_out(cases, profile)
    figures["portraits"] = _print_portraits(rows, options.folder, profile, reports)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    beside = Path(__file__).resolve().parents[3] / "shared" / "corpora" / "faces"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=beside)
    parser.add_argument("--split", help="only rows of this split")
    parser.add_argument("--profile", default="core-4")
    parser.add_argument("--cross-validate", action="store_true", help="refit limits, by folds")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    parser.add_argument("--quiet", action="store_true", help="no list of disagreements")
    return parser.parse_args(arguments)


def judged(
    rows: Iterable[Row], folder: Path, profile: str | Profile = DEFAULT_PROFILE
) -> dict[str, Report]:
    """Every row's report by its path."""
    return {
        row["path"]: check(folder / row["path"], role=Role.FACE_IMAGE, profile=profile)
        for row in rows
    }


def passing_after_fix(
    rows: Iterable[Row],
    folder: Path,
    profile: Profile,
    passes: Callable[[Report], bool] = passes_everything,
) -> list[Row]:
    """The rows whose pictures pass once they are prepared."""
    passing = []
    with tempfile.TemporaryDirectory() as into:
        for row in rows:
            try:
                ready = prepare(
                    folder / row["path"], into=into, role=Role.FACE_IMAGE, profile=profile
                )
            except (FixError, MediaError):
                continue
            if passes(ready.report):
                passing.append(row)
    return passing


def summary(check_id: str, cases: Sequence[Case]) -> dict[str, object]:
    """Counts and balanced accuracies of one check."""
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


def _print_checks(
    cases: Mapping[str, Sequence[Case]], *, disagreements: bool
) -> list[dict[str, object]]:
    figures = []
    print(f"{'check':30} {'TP':>4} {'FF':>4} {'TF':>4} {'FP':>4} {'??':>6}  balanced accuracy")
    for check_id, of_check in cases.items():
        found = summary(check_id, of_check)
        figures.append(found)
        print(_line(found))
        for case in of_check if disagreements else ():
            if not case.right:
                said = {True: "passes", False: "fails", None: "unknown"}[case.found]
                wanted = "pass" if case.wanted else "fail"
                print(f"      {said}, should {wanted}: {case.row['path']} ({case.shown})")
    return figures


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


def _print_held_out(
    cases: Mapping[str, Sequence[Case]], profile: Profile
) -> list[dict[str, object]]:
    print(f"\nlimits refitted: {FOLDS} folds of groups, {ROUNDS} rounds")
    print(f"{'check':30} {'profile':>8} {'held out':>9}  limit: refitted, middle 90%")
    figures: list[dict[str, object]] = []
    for check_id, of_check in cases.items():
        limit = _failing(profile, check_id)
        found = limit and cross_validate(of_check, limit, folds=FOLDS, rounds=ROUNDS)
        if not limit or not found:
            continue
        now = balanced_accuracy(of_check)
        moved = ", ".join(
            f"{name} {getattr(limit, name):g}: {at[len(at) // 2]:.3g} "
            f"({at[len(at) // 20]:.3g} to {at[-1 - len(at) // 20]:.3g})"
            for name, at in found.fitted.items()
        )
        print(f"{check_id:30} {now:8.3f} {found.accuracy:9.3f}  {moved}")
        figures.append({"check": check_id, "profile": now, "held_out": found.accuracy})
    print()
    return figures


def _failing(profile: Profile, check_id: str) -> Limit | None:
    """The limit of which a breach fails the check."""
    limits = profile.for_role(Role.FACE_IMAGE).get(check_id, ())
    return next((limit for limit in limits if limit.level is Outcome.FAIL), None)


def _print_portraits(
    rows: Sequence[Row], folder: Path, profile: Profile, reports: Mapping[str, Report]
) -> dict[str, int]:
    good, bad = good_portraits(rows), must_not_pass(rows)
    failing = [row for row in good if not passes_everything(reports[row["path"]])]
    fixed = passing_after_fix(failing, folder, profile)
    print(
        f"good adult portraits of 512 px or more: {len(good)}, of which pass "
        f"{len(good) - len(failing)}, after a fix {len(good) - len(failing) + len(fixed)}"
    )
    for row in failing:
        failed = ", ".join(each.id for each in reports[row["path"]].having(Outcome.FAIL))
        print(
            f"      {'passes after a fix' if row in fixed else 'fails'}: {row['path']} ({failed})"
        )
    wrong = [row for row in bad if passes_silently(reports[row["path"]])]
    others = [row for row in bad if row not in wrong]
    wrong_after = passing_after_fix(others, folder, profile, passes_silently)
    print(
        f"several people, children, no photographed human: {len(bad)}, of which pass silently "
        f"{len(wrong)}, after a fix {len(wrong) + len(wrong_after)}"
    )
    for row in (*wrong, *wrong_after):
        print(f"      {'passes after a fix' if row in wrong_after else 'passes'}: {row['path']}")
    return {
        "good": len(good),
        "good_passing": len(good) - len(failing),
        "good_passing_after_fix": len(good) - len(failing) + len(fixed),
        "bad": len(bad),
        "bad_passing": len(wrong),
        "bad_passing_after_fix": len(wrong) + len(wrong_after),
    }


if __name__ == "__main__":
    sys.exit(main())

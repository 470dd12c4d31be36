"""How often each check of a portrait errs on pictures that nothing was fitted on.

    python -m research.evaluation.portraits PICTURES [--check ID] [--most N] [--table FILE] [--list]

PICTURES holds what sources_and_labels.py wrote. Every label file of ``material`` is measured, or
those that --check names: the halves of the broad set (portraits-28-first, portraits-28-second) only
where it does. Pictures of sources that a model was fitted on are judged by a fit that left
their whole source out; the script that fits the model keeps what such fits say.

Prints, and with --table writes into the document: how often fit portraits fail, warn or stay
unknown and how often unfit ones pass, each with its 95% confidence interval (Wilson), the balanced
accuracy with a warning counted as a pass, and the outcomes by kind of picture. --most takes no more
than N pictures of one kind from one source, for a quick look. --list names the pictures that fail
and should not, and those that pass and should not.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from palprep.facts import Facts
from palprep.rules import PORTRAIT_CHECKS, Profile, judge, load_profile
from palprep.values import Outcome, Role, Value
from research.marked import replace_marked
from research.material.kept_facts import FactsOfRows, read_held_out
from research.material.sources_and_labels import (
    BROAD_HALVES,
    FRESH_SET,
    WHOLE_CHECK,
    Labelled,
    MaterialSource,
    checks_labelled,
    read_broad_set,
    read_labels,
    read_sources,
)

OF_THE_WHOLE = {WHOLE_CHECK, FRESH_SET, *BROAD_HALVES}
"""Label files of the check as a whole."""

PEOPLE: Mapping[str, Sequence[frozenset[str]]] = {
    title: [frozenset(words.split(";")) for words in alternatives]
    for title, alternatives in {
        "dark-skinned women": ("woman;dark",),
        "dark-skinned men": ("man;dark",),
        "light-skinned women": ("woman;light",),
        "light-skinned men": ("man;light",),
        "East Asians": ("East Asian",),
        "South Asians": ("South Asian",),
        "people of the Middle East or North Africa": ("Middle Eastern",),
        "headscarf or turban": ("headscarf", "turban"),
        "hat": ("hat",),
        "beard": ("beard",),
        "glasses": ("glasses",),
        "over 60": ("over 60",),
        "women": ("woman",),
        "men": ("man",),
    }.items()
}
"""Groups of people in the broad set, which overlap: a portrait is of one that has all words of any
of its alternatives."""

AnyValue = TypeVar("AnyValue", bound=Value)

WEIGHTS = Path(__file__).resolve().parents[2] / "src" / "palprep" / "vision" / "weights"

NORMAL_QUANTILE = 1.959964
"""Of a two-sided interval of 95%."""

BINS = (0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 1.0)
"""Borders of the probabilities in a reliability table."""


class Fitted(NamedTuple):
    """A check whose measure comes from weights that a script fits."""

    weights: str
    place: tuple[str, ...]
    """Where the measure stands in the facts of a portrait: names, outermost first."""
    of_fit: bool = True
    """Whether it is the likelihood of what is fit, and not of what is unfit."""


FITTED: Mapping[str, Fitted] = {
    "face_substantially_obscured": Fitted("covering-v1.json", ("subject", "visibility", "whole")),
    "human_like_subject": Fitted("human-v1.json", ("subject", "human")),
    "only_one_person_visible": Fitted("others-v1.json", ("others",), of_fit=False),
    "appears_under_18": Fitted("adult-v1.json", ("subject", "adult")),
}


def measure_at(facts: Value, place: Sequence[str]) -> float | None:
    """What stands there; None where nothing was measured."""
    found: Any = facts
    for name in place:
        found = None if found is None else getattr(found, name)
    return found if isinstance(found, float) else None


def with_measure(facts: AnyValue, place: Sequence[str], value: float) -> AnyValue:
    """The facts with another value in that place."""
    name, *rest = place
    inner = with_measure(getattr(facts, name), rest, value) if rest else value
    return facts.model_copy(update={name: inner})


class Judged(NamedTuple):
    """One labelled picture and what the check makes of it."""

    row: Labelled
    outcome: Outcome
    failed: tuple[str, ...]
    """Ids of the checks that fail: several for the check as a whole."""
    warned: tuple[str, ...]
    """Likewise of those that warn."""
    value: float | None
    """The probability behind it that the picture is fit, where there is one."""


def wilson(hits: int, among: int) -> tuple[float, float]:
    """The 95% interval of a share: E. B. Wilson, Journal of the American Statistical Association
    22 (1927), 209-212."""
    if not among:
        return 0.0, 1.0
    share, z2 = hits / among, NORMAL_QUANTILE**2
    middle = share + z2 / (2 * among)
    spread = NORMAL_QUANTILE * math.sqrt(share * (1 - share) / among + z2 / (4 * among**2))
    return max(0.0, (middle - spread) / (1 + z2 / among)), (middle + spread) / (1 + z2 / among)


def share_of(hits: int, among: int, digits: int = 0) -> str:
    """How many of how many, with the interval: ``3 of 100 (1% to 8%)``."""
    low, high = wilson(hits, among)
    return f"{hits} of {among} ({low:.{digits}%} to {high:.{digits}%})"


def rows_of(check_id: str, most: int | None) -> list[Labelled]:
    """The labelled pictures of one check; ``most`` bounds those of one kind from one source."""
    counts, rows = Counter[tuple[str, str, bool]](), []
    for row in read_labels(check_id):
        counts[row.source, row.group, row.wanted] += 1
        if most is None or counts[row.source, row.group, row.wanted] <= most:
            rows.append(row)
    return rows


def judged(
    check_id: str, rows: Sequence[Labelled], facts: FactsOfRows, profile: Profile
) -> list[Judged]:
    """Labelled pictures of one check."""
    fitted = FITTED.get(check_id)
    sources, held_out = read_sources(), dict[str, float]()
    if fitted and any(sources[row.source].use == "fit" for row in rows):
        held_out = dict(read_held_out(facts.pictures, check_id, WEIGHTS / fitted.weights))
    found = []
    for row in rows:
        seen = facts.of(row)
        value = None
        if fitted and seen.portrait:
            value = measure_at(seen.portrait, fitted.place)
            if value is not None:
                value = held_out.get(row.key, value)
                portrait = with_measure(seen.portrait, fitted.place, value)
                seen = seen.model_copy(update={"portrait": portrait})
                value = value if fitted.of_fit else 1 - value
        found.append(_judged(row, seen, check_id, profile, value))
    return found


def _judged(
    row: Labelled, facts: Facts, check_id: str, profile: Profile, value: float | None
) -> Judged:
    whole = check_id in OF_THE_WHOLE
    outcomes = {
        check.id: check.outcome
        for check in judge(facts, Role.FACE_IMAGE, profile)
        if check.id == check_id or (whole and check.id in PORTRAIT_CHECKS)
    }
    return of_outcomes(row, outcomes, whole=whole, value=value)


def of_outcomes(
    row: Labelled, outcomes: Mapping[str, Outcome], *, whole: bool, value: float | None = None
) -> Judged:
    """The picture by its checks' outcomes: the worst decides. Of the check as a whole unknown says
    nothing, for only the service can answer some."""
    having = {
        outcome: tuple(name for name, each in outcomes.items() if each is outcome)
        for outcome in Outcome
    }
    order = [Outcome.FAIL, Outcome.WARN, *([] if whole else [Outcome.UNKNOWN]), Outcome.PASS]
    worst = next(outcome for outcome in order if having[outcome])
    return Judged(row, worst, having[Outcome.FAIL], having[Outcome.WARN], value)


def share(cases: Sequence[Judged], *outcomes: Outcome) -> str:
    """``3 of 120: 2.5% (0.9 to 7.1)``."""
    hits, among = sum(case.outcome in outcomes for case in cases), len(cases)
    low, high = wilson(hits, among)
    return f"{hits} of {among}: {hits / max(1, among):.1%} ({low:.1%} to {high:.1%})"


def table(check_id: str, cases: Sequence[Judged]) -> list[str]:
    """The figures of one check as lines of Markdown."""
    fit = [case for case in cases if case.row.wanted]
    unfit = [case for case in cases if not case.row.wanted]
    sources = read_sources()
    names = {case.row.source for case in cases}
    used = Counter(sources[name].use for name in names)
    lines = [
        f"{len(cases)} pictures of {len(names)} sources, {used['fit']} of them for fitting.",
        "",
        "| Of | fail | warn | unknown | pass |",
        "|---|---|---|---|---|",
        *(
            f"| {title} | "
            + " | ".join(
                share(among, outcome)
                for outcome in (Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN, Outcome.PASS)
            )
            + " |"
            for title, among in (
                ("fit ones", fit),
                ("fit ones, unseen sources", _unseen(fit, sources)),
                ("unfit ones", unfit),
                ("unfit ones, unseen sources", _unseen(unfit, sources)),
            )
            if among
        ),
    ]
    if fit and unfit:
        through = sum(case.outcome in {Outcome.PASS, Outcome.WARN} for case in fit) / len(fit)
        stopped = sum(case.outcome is Outcome.FAIL for case in unfit) / len(unfit)
        silent = sum(case.outcome is Outcome.PASS for case in unfit) / len(unfit)
        lines += [
            "",
            f"Balanced accuracy, a warning counted as a pass: {(through + stopped) / 2:.3f}.",
            f"Of unfit ones {silent:.1%} pass without a warning.",
        ]
    lines += ["", "| Kind of picture | should | pictures | pass | warn | fail | unknown |"]
    lines += ["|---" * 7 + "|", *_by_group(cases)]
    if check_id in OF_THE_WHOLE:
        failed = Counter(check for case in fit for check in case.failed)
        warned = Counter(check for case in fit for check in case.warned)
        if check_id in BROAD_HALVES:
            lines += ["", *_by_people(fit, BROAD_HALVES[check_id])]
        lines += ["", "| Check | fails fit portraits | warns of them |", "|---|---|---|"]
        lines += [
            f"| `{check}` | {failed[check]} ({failed[check] / len(fit):.1%}) "
            f"| {warned[check]} ({warned[check] / len(fit):.1%}) |"
            for check, _ in (failed + warned).most_common()
        ]
    if any(case.value is not None for case in cases):
        lines += ["", *reliability(cases)]
    return lines


def _unseen(cases: Sequence[Judged], sources: Mapping[str, MaterialSource]) -> list[Judged]:
    """Those of sources that nothing is fitted on; none where that is all of them."""
    unseen = [case for case in cases if sources[case.row.source].use == "measure"]
    return unseen if len(unseen) < len(cases) else []


def _by_group(cases: Iterable[Judged]) -> list[str]:
    groups: dict[tuple[bool, str], Counter[Outcome]] = {}
    for case in cases:
        key = (not case.row.wanted, case.row.group)
        groups.setdefault(key, Counter())[case.outcome] += 1
    shown = (Outcome.PASS, Outcome.WARN, Outcome.FAIL, Outcome.UNKNOWN)
    return [
        f"| {group} | {'fail' if unfit else 'pass'} | {counts.total()} | "
        + " | ".join(str(counts[outcome]) for outcome in shown)
        + " |"
        for (unfit, group), counts in sorted(groups.items())
    ]


def _by_people(fit: Sequence[Judged], half: str) -> list[str]:
    words = {
        (row.source, row.path): frozenset(row.groups.split(";")) for row in read_broad_set(half)
    }
    lines = ["| Fit portraits of | fail | warn |", "|---|---|---|"]
    for title, alternatives in PEOPLE.items():
        among = [
            case
            for case in fit
            if any(needed <= words[case.row.source, case.row.path] for needed in alternatives)
        ]
        if among:
            lines.append(
                f"| {title} | {share(among, Outcome.FAIL)} | {share(among, Outcome.WARN)} |"
            )
    return lines


def reliability(cases: Iterable[Judged]) -> list[str]:
    """How often what a probability says is true, by that probability."""
    known = [(case.value, case.row.wanted) for case in cases if case.value is not None]
    lines = ["| Probability said | mean | pictures | true of |", "|---|---|---|---|"]
    for low, high in itertools.pairwise(BINS):
        inside = [
            (value, wanted)
            for value, wanted in known
            if low <= value < high or value == high == BINS[-1]
        ]
        if inside:
            mean = sum(value for value, _ in inside) / len(inside)
            true = sum(wanted for _, wanted in inside)
            lines.append(
                f"| {low:.0%} to {high:.0%} | {mean:.1%} | {len(inside)} | "
                f"{true} ({true / len(inside):.1%}) |"
            )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", type=Path)
    parser.add_argument("--check", action="append", help="a label file; all when not given")
    parser.add_argument("--most", type=int, help="pictures of one kind from one source")
    parser.add_argument("--profile", default="core-4")
    parser.add_argument("--table", type=Path, help="write the figures into this document")
    parser.add_argument("--list", action="store_true", help="name the pictures that are misjudged")
    options = parser.parse_args(arguments)
    facts, profile = FactsOfRows(options.pictures), load_profile(options.profile)
    for check_id in options.check or checks_labelled():
        cases = judged(check_id, rows_of(check_id, options.most), facts, profile)
        lines = table(check_id, cases)
        print(f"\n{check_id}\n", *lines, sep="\n")
        for case in cases if options.list else ():
            wrong = Outcome.FAIL if case.row.wanted else Outcome.PASS
            if case.outcome is wrong:
                print(f"{wrong}: {case.row.group}: {case.row.key} {' '.join(case.failed)}")
        if options.table:
            replace_marked(options.table, check_id, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())

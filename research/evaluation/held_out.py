"""What limits are worth on pictures that they were not set on: cross-validation by groups."""

from __future__ import annotations

import itertools
import random
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from palprep.rules.profile import Limit
from research.material.corpus_labels import Case, balanced_accuracy, by_group


@dataclass(frozen=True)
class HeldOut:
    """The outcome of one check's cross-validation."""

    accuracy: float
    """Balanced accuracy of verdicts by limits that were fitted without the picture's fold;
    the mean over the rounds."""
    fitted: dict[str, tuple[float, ...]]
    """Every fitted limit by its name, ``min`` or ``max``, ascending."""


def cross_validate(
    cases: Sequence[Case], limit: Limit, *, folds: int, rounds: int, seed: int = 0
) -> HeldOut | None:
    """Refit each bound of ``limit`` on all folds but one and judge that one by it, in turn.

    Related pictures stay in one fold. A limit with two bounds is fitted one bound at a time,
    the other held where the profile has it. None for what has no bound to fit, or too few
    groups to be parted.
    """
    bounds = [name for name in ("min", "max") if getattr(limit, name) is not None]
    rng, values = random.Random(seed), []  # noqa: S311 - repeatable, not secret
    fitted: dict[str, list[float]] = {name: [] for name in bounds}
    for _ in range(rounds if bounds else 0):
        judged: list[Case] = []
        for train, test in _parted(cases, folds, rng):
            refitted = limit
            for name in bounds:
                refitted = _refit(train, refitted, name)
                fitted[name].append(getattr(refitted, name))
            judged += [_judged(case, refitted) for case in test]
        value = balanced_accuracy(judged)
        if value is not None:
            values.append(value)
    if not values:
        return None
    return HeldOut(statistics.fmean(values), {n: tuple(sorted(v)) for n, v in fitted.items()})


def _parted(
    cases: Iterable[Case], folds: int, rng: random.Random
) -> Iterator[tuple[list[Case], list[Case]]]:
    """Training and test cases of each fold; groups that fail are spread evenly."""
    groups = list(by_group(cases).values())
    rng.shuffle(groups)
    groups.sort(key=lambda group: all(case.wanted for case in group))
    for fold in range(min(folds, len(groups))):
        test = [case for group in groups[fold::folds] for case in group]
        train = [case for at, group in enumerate(groups) if at % folds != fold for case in group]
        yield train, test


def _refit(cases: Sequence[Case], limit: Limit, name: str) -> Limit:
    """The bound with the best balanced accuracy; among equals, in the middle of the widest gap."""
    values = sorted({case.value for case in cases if case.value is not None})
    best, found = (-1.0, 0.0), limit
    for low, high in itertools.pairwise(values):
        tried = limit.model_copy(update={name: (low + high) / 2})
        accuracy = balanced_accuracy([_judged(case, tried) for case in cases]) or 0.0
        if (accuracy, high - low) > best:
            best, found = (accuracy, high - low), tried
    return found


def _judged(case: Case, limit: Limit) -> Case:
    """The case by another limit; what could not be measured stays as it was found."""
    return case if case.value is None else replace(case, found=limit.holds(case.value))

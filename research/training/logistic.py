"""Ridge logistic regression, and how well its scores rank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FOLDS = 10
"""Parts of the cases that are held out in turn."""


class Calibrated(NamedTuple):
    """A model whose likelihoods are odds of cases that it has not seen."""

    weights: Array
    bias: float
    scores: Array
    """Of every case, by a fit that has not seen it."""
    likelihood: Array
    """The same as likelihoods."""


def fit(features: Array, wanted: Array, importance: Array, ridge: float) -> tuple[Array, float]:
    """Weights and bias by Newton's method.

    ``features`` has a row a case, ``wanted`` is 1 or 0, ``importance`` how much each case counts;
    ``ridge`` is the penalty on squared weights, the bias goes free.
    """
    design = np.column_stack([features, np.ones(len(features))])
    penalty = np.diag([*np.full(features.shape[1], ridge), 1e-6])
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        odds = 1 / (1 + np.exp(-design @ beta))
        gradient = design.T @ (importance * (odds - wanted)) + penalty @ beta
        curvature = (design * (importance * odds * (1 - odds))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature, gradient)
        beta -= step
        if np.abs(step).max() < 1e-10:
            break
    return beta[:-1], float(beta[-1])


def fit_calibrated(features: Array, wanted: Array, ridge: float) -> Calibrated:
    """Weights and bias on the raw features; either class counts the same. The odds are fitted on
    the scores of held-out cases, since those of cases that were trained on are too sure."""
    scores = held_out(features, wanted, ridge)
    slope, offset = fit(scores[:, None], wanted, evenly(wanted), 0.0)
    weights, bias = standardised_fit(features, wanted, ridge)
    return Calibrated(
        weights * slope[0],
        bias * float(slope[0]) + offset,
        scores,
        1 / (1 + np.exp(-(scores * slope[0] + offset))),
    )


def standardised_fit(
    features: Array, wanted: Array, ridge: float, importance: Array | None = None
) -> tuple[Array, float]:
    """Weights on the raw features, and the bias; without ``importance`` either class counts the
    same."""
    mean, spread = features.mean(0), features.std(0) + 1e-9
    counts = evenly(wanted) if importance is None else importance
    weights, bias = fit((features - mean) / spread, wanted, counts, ridge)
    return weights / spread, bias - float(mean @ (weights / spread))


def evenly(wanted: Array) -> Array:
    """How much each case counts, so that both classes count the same."""
    share = float(wanted.mean())
    return np.where(wanted == 1, 0.5 / share, 0.5 / (1 - share)).astype(np.float64)


def held_out(features: Array, wanted: Array, ridge: float) -> Array:
    """The score of every case by a model that has not seen it."""
    scores = np.zeros(len(wanted))
    for fold in range(FOLDS):
        outside = np.arange(len(wanted)) % FOLDS == fold
        weights, bias = standardised_fit(features[~outside], wanted[~outside], ridge)
        scores[outside] = features[outside] @ weights + bias
    return scores


def area_under_curve(score: Array, wanted: Array) -> float:
    """The share of pairs, one case of each kind, in which the wanted one scores higher."""
    good, bad = score[wanted == 1], score[wanted == 0]
    return float((good[:, None] > bad[None]).mean() + 0.5 * (good[:, None] == bad[None]).mean())

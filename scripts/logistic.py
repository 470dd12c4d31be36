"""Ridge logistic regression, and how well its scores rank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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


def area_under_curve(score: Array, wanted: Array) -> float:
    """The share of pairs, one case of each kind, in which the wanted one scores higher."""
    good, bad = score[wanted == 1], score[wanted == 0]
    return float((good[:, None] > bad[None]).mean() + 0.5 * (good[:, None] == bad[None]).mean())

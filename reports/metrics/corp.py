"""CORP decomposition of the top-label Brier score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from decibench.cases.schema import Model

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats

_DECIMALS: Final = 12
"""Probabilities that agree to these are equal: normalising leaves their last digits to chance."""


class Corp(Model):
    """The top-label Brier ``score`` = ``miscalibration`` - ``discrimination`` + ``uncertainty``, none of them negative.

    Lower is better for the score and miscalibration, higher for discrimination; uncertainty is the data's.
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def corp(top_probability: Floats, correct: Bools) -> Corp | None:
    """Decompose the mean squared distance of top probability (0 to 1) and correctness (0 or 1).

    The decisions are recalibrated by isotonic regression on the top probability, equal ones alike. Miscalibration is
    what that gains, discrimination what the recalibrated decisions gain over their common accuracy, uncertainty the
    score of that accuracy alone. Recalibration fits noise too: miscalibration is above 0 for a calibrated model.
    None without decisions (Dimitriadis, Gneiting and Jordan 2021).

    >>> import numpy as np
    >>> corp(np.array([0.5, 0.5, 1.0, 1.0]), np.array([False, True, True, True]))
    Corp(score=0.125, miscalibration=0.0, discrimination=0.0625, uncertainty=0.1875)
    """
    import numpy as np
    from scipy.optimize import isotonic_regression

    if not top_probability.size:
        return None
    right = correct.astype(np.float64)
    _, place, sizes = np.unique(top_probability.round(_DECIMALS), return_inverse=True, return_counts=True)
    recalibrated = isotonic_regression(np.bincount(place, weights=right) / sizes, weights=sizes).x[place]
    score, best, constant = (
        float(np.mean((forecast - right) ** 2)) for forecast in (top_probability, recalibrated, right.mean())
    )
    # Rounding alone could make a difference of 0 negative.
    return Corp(
        score=score,
        miscalibration=max(0.0, score - best),
        discrimination=max(0.0, constant - best),
        uncertainty=constant,
    )

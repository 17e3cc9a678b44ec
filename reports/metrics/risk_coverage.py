"""The risk-coverage curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class RiskCoverage:
    """What is accepted and wrong at every threshold.

    ``thresholds`` (levels,) are the distinct confidences, highest first; that of failed decisions is NaN, because no
    threshold accepts them. ``accepted`` and ``errors`` (levels + 1,) are counts at the k highest thresholds together,
    from k = 0, which accepts nothing. ``level`` (decisions,) is the place of each decision among the thresholds.
    """

    thresholds: Floats
    accepted: Floats
    errors: Floats
    level: Ints


def risk_coverage(confidence: Floats, correct: Bools) -> RiskCoverage:
    """The curve of decisions that are accepted from the most confident down (El-Yaniv and Wiener 2010).

    ``confidence`` and ``correct`` have shape (decisions,); NaN is the confidence of a failed decision, which comes
    last and is wrong. Decisions of equal confidence are accepted together, so that nothing depends on the order of
    the rows. ValueError where shapes differ.

    >>> import numpy as np
    >>> curve = risk_coverage(np.array([0.9, 0.6, 0.6, np.nan]), np.array([True, True, False, False]))
    >>> curve.thresholds.tolist(), curve.accepted.tolist(), curve.errors.tolist()
    ([0.9, 0.6, nan], [0.0, 1.0, 3.0, 4.0], [0.0, 0.0, 1.0, 2.0])
    """
    import numpy as np

    if confidence.ndim != 1 or confidence.shape != correct.shape:
        raise ValueError(f"confidence {confidence.shape} and correct {correct.shape} must be columns of one length")
    failed = np.isnan(confidence)
    falling, level = np.unique(np.where(failed, np.inf, -confidence), return_inverse=True)
    size = np.bincount(level, minlength=falling.size)
    wrong = np.bincount(level, weights=~correct | failed, minlength=falling.size)
    return RiskCoverage(
        thresholds=np.where(np.isinf(falling), np.nan, -falling),
        accepted=np.append(0.0, np.cumsum(size, dtype=np.float64)),
        errors=np.append(0.0, np.cumsum(wrong)),
        level=level,
    )

"""Area under the risk-coverage curve."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats


def aurc(accepted: Floats, errors: Floats) -> Floats:
    """Mean selective risk over the coverages 1/n, 2/n, ..., 1; 0 (best) to 1 (Geifman, Uziel and El-Yaniv 2019).

    ``accepted`` and ``errors`` are whole counts of shape (..., thresholds), as in ``RiskCoverage``; the result has
    shape (...) and is NaN where there is no decision. Within a tie the errors are spread evenly: that is the
    expectation over all orders of the tied decisions. Lower is better, but the share of errors alone moves it.

    >>> import numpy as np
    >>> aurc(np.array([1.0, 2.0]), np.array([0.0, 1.0])).item()
    0.25
    """
    import numpy as np

    if not accepted.shape[-1]:
        return np.full(accepted.shape[:-1], np.nan)
    # After j of a tie's decisions the risk is (E + j r) / (A + j) = r + (E - r A) / (A + j): harmonic numbers sum it.
    size, wrong = np.diff(accepted, prepend=0.0), np.diff(errors, prepend=0.0)
    rate = np.divide(wrong, size, out=np.zeros_like(size), where=size > 0)
    start = (errors - wrong) - rate * (accepted - size)
    counted = accepted.astype(np.intp)
    steps = np.diff(_harmonic(int(counted.max()).bit_length())[counted], prepend=0.0)
    total = accepted[..., -1]
    area = errors[..., -1] + (start * steps).sum(axis=-1)
    mean: Floats = np.divide(area, total, out=np.full_like(total, np.nan), where=total > 0)
    return mean


@lru_cache(maxsize=2)
def _harmonic(bits: int) -> Floats:
    """The harmonic numbers of 0 to 2**bits - 1."""
    import numpy as np

    return np.cumsum(np.divide(1.0, np.arange(2**bits), out=np.zeros(2**bits), where=np.arange(2**bits) > 0))

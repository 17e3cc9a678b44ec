"""Expected calibration error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats


def expected_calibration_error(top_probability: Floats, correct: Bools, bins: int = 10) -> float | None:
    """Weighted mean distance of top probability and accuracy in equal-width bins [k/bins, (k+1)/bins); 0 to 1.

    The last bin includes 1. Valid decisions only (Naeini et al. 2015, on the top label).

    >>> import numpy as np
    >>> expected_calibration_error(np.array([0.75]), np.array([True]))
    0.25
    """
    import numpy as np

    if not top_probability.size:
        return None
    index = np.minimum((top_probability * bins).astype(int), bins - 1)
    gaps = np.bincount(index, weights=top_probability - correct, minlength=bins)
    return float(np.abs(gaps).sum() / top_probability.size)

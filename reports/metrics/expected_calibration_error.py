"""Expected calibration error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.metrics.bins import bin_sums, equal_width_bins

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
    gaps = np.bincount(equal_width_bins(top_probability, bins), weights=top_probability - correct, minlength=bins)
    return float(np.abs(gaps).sum() / top_probability.size)


def expected_calibration_errors(top_probability: Floats, outcomes: Floats, bins: int = 10) -> Floats:
    """The error for every column of ``outcomes`` (decisions, k), each 0 or 1; there must be a decision.

    >>> import numpy as np
    >>> expected_calibration_errors(np.array([0.75]), np.array([[1.0, 0.0]])).tolist()
    [0.25, 0.75]
    """
    import numpy as np

    bin_of = equal_width_bins(top_probability, bins)
    confidence = np.bincount(bin_of, weights=top_probability, minlength=bins)[:, None]
    return np.asarray(np.abs(confidence - bin_sums(bin_of, outcomes, bins)).sum(axis=0) / top_probability.size)

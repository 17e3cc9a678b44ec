"""Debiased L2 calibration error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.metrics.bins import bin_sums, equal_mass_bins

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats


def debiased_calibration_error(top_probability: Floats, correct: Bools, bins: int = 15) -> float | None:
    """Root of the debiased mean squared gap of top probability and accuracy in equal-mass bins; 0 to 1.

    From each bin's squared gap the variance of its accuracy is taken, which is what the squared gap of a calibrated
    model is made of; a negative total counts as 0. A bin of one decision adds nothing. The variance is that of
    independent decisions: under clustering a bias remains, so read the figure beside its null level. None where no
    bin holds two decisions (Kumar, Liang and Ma 2019, on the top label).

    >>> import numpy as np
    >>> debiased_calibration_error(np.array([0.75, 0.75]), np.array([True, True]))
    0.25
    """
    import numpy as np

    outcomes = correct.astype(np.float64)[:, None]
    value = float(debiased_calibration_errors(top_probability, outcomes, bins)[0])
    return None if np.isnan(value) else value


def debiased_calibration_errors(top_probability: Floats, outcomes: Floats, bins: int = 15) -> Floats:
    """The error for every column of ``outcomes`` (decisions, k), each 0 or 1; NaN where there is none.

    >>> import numpy as np
    >>> debiased_calibration_errors(np.array([0.75, 0.75]), np.array([[1.0, 0.0], [1.0, 0.0]])).tolist()
    [0.25, 0.75]
    """
    import numpy as np

    bin_of = equal_mass_bins(top_probability, bins)
    n = np.bincount(bin_of, minlength=bins)
    kept = n >= 2
    if not kept.any():
        return np.full(outcomes.shape[1], np.nan)
    size = n[kept, None]
    confidence = np.bincount(bin_of, weights=top_probability, minlength=bins)[kept, None] / size
    accuracy = bin_sums(bin_of, outcomes, bins)[kept] / size
    squared = (confidence - accuracy) ** 2 - accuracy * (1 - accuracy) / (size - 1)
    return np.asarray(np.sqrt(np.maximum(0, (size * squared).sum(axis=0) / top_probability.size)))

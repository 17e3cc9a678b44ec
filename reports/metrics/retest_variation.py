"""How far repeated answers to one request lie apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats


def retest_variation(distributions: Floats) -> float | None:
    """Mean total variation, half the sum of absolute differences, over all pairs of trials; 0 to 1.

    ``distributions`` has shape (trials, options). None with fewer than two trials. Own definition: no trial is the
    reference of the others, and two orders of options are compared by the same distance, so the two can be subtracted.

    >>> import numpy as np
    >>> retest_variation(np.array([[0.5, 0.5], [0.75, 0.25]]))
    0.25
    """
    from scipy.spatial.distance import pdist

    if len(distributions) < 2:
        return None
    return float(pdist(distributions, "cityblock").mean() / 2)

"""Mean of ratios."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats


def mean_of_ratios(numerators: Floats, denominators: Floats) -> Floats:
    """Mean over strata of the ratio of two totals, both of shape (..., strata, systems); of shape (..., systems).

    With one stratum it is the ratio of totals, with families as strata a macro average. A stratum whose denominator
    is 0 has no ratio and is left out; NaN where that leaves none. ValueError where the shapes differ.

    >>> import numpy as np
    >>> mean_of_ratios(np.array([[1.0], [3.0], [0.0]]), np.array([[2.0], [3.0], [0.0]]))
    array([0.75])
    """
    import numpy as np

    if numerators.shape != denominators.shape:
        raise ValueError(f"numerators {numerators.shape} and denominators {denominators.shape} differ in shape")
    known = denominators != 0
    ratios = np.divide(numerators, denominators, out=np.zeros(numerators.shape), where=known)
    strata = known.sum(axis=-2)
    means: Floats = np.divide(ratios.sum(axis=-2), strata, out=np.full(strata.shape, np.nan), where=strata != 0)
    return means

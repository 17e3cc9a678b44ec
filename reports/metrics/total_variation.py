"""Total variation distance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.metrics.ragged import check_pairs

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints


def total_variation(first: Floats, second: Floats, starts: Ints) -> Floats:
    """Half the sum of absolute differences of two distributions, pair by pair; 0 (the same) to 1 (disjoint).

    ``first`` and ``second`` hold the distributions of all pairs end to end, each pair's options in one order on both
    sides; ``starts``, of shape (pairs,), tells where a pair begins. Returns an array of shape (pairs,), empty where
    there is no pair. It is the largest difference between the two probabilities of any set of options (Levin, Peres
    and Wilmer 2009, proposition 4.2). ValueError where the shapes do not fit.

    >>> import numpy as np
    >>> a, b = np.array([0.75, 0.25, 1.0, 0.0, 0.0]), np.array([0.25, 0.75, 1.0, 0.0, 0.0])
    >>> total_variation(a, b, np.array([0, 2])).tolist()
    [0.5, 0.0]
    """
    import numpy as np

    check_pairs(first, second, starts)
    if not starts.size:
        return np.zeros(0)
    return np.add.reduceat(np.abs(first - second), starts) / 2

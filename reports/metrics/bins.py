"""Bins of probabilities, and sums over them for many outcomes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints


def equal_width_bins(probability: Floats, bins: int) -> Ints:
    """The bin of each probability in [k/bins, (k+1)/bins); the last bin includes 1.

    >>> import numpy as np
    >>> equal_width_bins(np.array([0.0, 0.1, 0.99, 1.0]), 10).tolist()
    [0, 1, 9, 9]
    """
    import numpy as np

    return np.minimum((probability * bins).astype(np.int64), bins - 1)


def equal_mass_bins(probability: Floats, bins: int) -> Ints:
    """The bin of each probability by the share of smaller ones: bins of one size, except that equals stay together.

    The order of the decisions does not matter, and a bin may be empty where many are equal.

    >>> import numpy as np
    >>> equal_mass_bins(np.array([0.9, 0.2, 0.3, 0.9]), 2).tolist()
    [1, 0, 0, 1]
    """
    import numpy as np

    smaller = np.searchsorted(np.sort(probability), probability, side="left")
    return smaller * bins // max(1, probability.size)


def bin_sums(bin_of: Ints, columns: Floats, bins: int, weights: Floats | None = None) -> Floats:
    """Sums of ``columns`` (decisions, k) within each bin, of shape (bins, k); each decision counts by its weight.

    >>> import numpy as np
    >>> bin_sums(np.array([1, 0, 1]), np.array([[1.0], [2.0], [3.0]]), 2).tolist()
    [[2.0], [4.0]]
    """
    import numpy as np
    from scipy.sparse import csc_array

    n = bin_of.size
    # A sparse product handles a thousand columns without one pass over the decisions for each.
    members = csc_array((np.ones(n) if weights is None else weights, bin_of, np.arange(n + 1)), shape=(bins, n))
    return np.asarray(members.tocsr() @ columns)

"""Betting against the null hypothesis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from decibench.gates.p_values.excess import excess

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts
    from decibench.reports.metrics.arrays import Floats

FRACTIONS: Final = (0.4, 0.6, 0.75, 0.85, 0.95)
WEIGHTS: Final = (0.15, 0.2, 0.3, 0.2, 0.15)


def betting(counts: GroupCounts, alpha: float) -> float:
    """p-value of "scenario-weighted selective risk > alpha" from wealth won by betting on every group; 0 to 1.

    The wealth is sum_f w_f prod_g (1 - f Z_g / (1 - alpha)) over the fixed ``FRACTIONS`` f with ``WEIGHTS`` w: a
    product of independent factors that are never negative and have a mean of at most 1 under the null hypothesis, so
    by Markov's inequality 1 / wealth is a p-value, in any order of the groups and whatever the dependence within them
    (Waudby-Smith and Ramdas 2024, with fractions that do not depend on the data).

    >>> import numpy as np
    >>> from decibench.gates.groups import GroupCounts
    >>> n = np.full(59, 5); none = np.zeros(59, dtype=np.bool_)
    >>> round(betting(GroupCounts(n * 0, n, n, ~none, none), 0.05), 5)
    0.09976
    """
    return bet(excess(counts, alpha) / (1 - alpha))


def bet(losses: Floats) -> float:
    """p-value of "the mean loss is at least 0" from independent ``losses`` of at most 1, of shape (n,); 0 to 1.

    >>> import numpy as np
    >>> bet(np.array([])), bet(np.array([1.0]))
    (1.0, 1.0)
    """
    import numpy as np

    stakes = np.array(FRACTIONS)[:, None] * losses
    # In logarithms: the product of thousands of factors leaves the floats.
    log_wealth = float(np.logaddexp.reduce(np.log(WEIGHTS) + np.log1p(-stakes).sum(axis=1)))
    return float(np.exp(-max(log_wealth, 0.0)))

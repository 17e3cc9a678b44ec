"""The excess risk of a group, on which the methods for bounded means work."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts
    from decibench.reports.metrics.arrays import Floats


def excess(counts: GroupCounts, alpha: float) -> Floats:
    """Z_g = (E_g - alpha A_g) / m_g of every accepting group, in [-alpha, 1 - alpha].

    E[Z] > 0 exactly where the scenario-weighted selective risk E[E/m] / E[A/m] is above alpha. Groups that accept
    nothing have Z = 0 and tell nothing; they are left out. That a ratio of means is above a limit is asked of one mean,
    as by Fieller (1954). The weights 1 / m_g are an own definition: a scenario counts once, however much it asks.

    >>> import numpy as np
    >>> from decibench.gates.groups import GroupCounts
    >>> none = np.zeros(3, dtype=np.bool_)
    >>> counts = GroupCounts(np.array([0, 2, 0]), np.array([4, 2, 0]), np.array([4, 8, 4]), none, none)
    >>> excess(counts, 0.05).round(4).tolist()
    [-0.05, 0.2375]
    """
    some = counts.accepted > 0
    z: Floats = (counts.errors[some] - alpha * counts.accepted[some]) / counts.presented[some]
    return z

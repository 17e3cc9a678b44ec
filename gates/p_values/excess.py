"""The excess risk of a group, on which the methods for bounded means work."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts
    from decibench.reports.metrics.arrays import Floats


def excess(counts: GroupCounts, alpha: float) -> Floats:
    """Z_g = (E_g - alpha A_g) / m_g of every accepting group, in [-alpha, 1 - alpha].

    E[Z] > 0 exactly where the scenario-weighted selective risk E[E/m] / E[A/m] is above alpha. Groups that accept
    nothing have Z = 0 and tell nothing; they are left out.
    """
    some = counts.accepted > 0
    z: Floats = (counts.errors[some] - alpha * counts.accepted[some]) / counts.presented[some]
    return z

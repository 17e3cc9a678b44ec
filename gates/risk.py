"""The observed risk at a threshold, by estimand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.protocol import Estimand

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts


def observed_risk(counts: GroupCounts, estimand: Estimand) -> float | None:
    """The risk in [0, 1] that was observed at a threshold; None where nothing is accepted.

    ``scenario-weighted``: sum(E_g / m_g) / sum(A_g / m_g), where each decision of a scenario that presents m weighs
    1 / m. ``any``: scenarios with an accepted error among those with an accepted decision. It is a share of what was
    seen and bounds nothing.

    >>> import numpy as np
    >>> from decibench.gates.groups import GroupCounts
    >>> none = np.zeros(2, dtype=np.bool_)
    >>> counts = GroupCounts(np.array([1, 0]), np.array([1, 2]), np.array([2, 2]), none, none)
    >>> round(observed_risk(counts, "scenario-weighted"), 3), observed_risk(counts, "any")
    (0.333, 0.5)
    """
    if not counts.accepting:
        return None
    if estimand == "any":
        return counts.failing / counts.accepting
    return float((counts.errors / counts.presented).sum() / (counts.accepted / counts.presented).sum())

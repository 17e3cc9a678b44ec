"""Exact binomial over groups with any accepted error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.gates.p_values.binomial import binomial_p

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts


def group_any_cp(counts: GroupCounts, alpha: float) -> float:
    """p-value of "P(a group has an accepted error | it has an accepted decision) > alpha"; 0 to 1.

    Whether a group errs is iid over groups, so the binomial is exact. It speaks of the estimand ``any`` only: the
    scenario-weighted risk can be above it where groups accept different numbers.

    >>> import numpy as np
    >>> from decibench.gates.groups import GroupCounts
    >>> n = np.full(45, 4); none = np.zeros(45, dtype=np.bool_)
    >>> round(group_any_cp(GroupCounts(n * 0, n, n, ~none, none), 0.05), 4)
    0.0994
    """
    return binomial_p(counts.failing, counts.accepting, alpha)

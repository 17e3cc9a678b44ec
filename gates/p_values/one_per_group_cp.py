"""Exact binomial over one decision per group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.gates.p_values.binomial import binomial_p

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts


def one_per_group_cp(counts: GroupCounts, alpha: float) -> float:
    """p-value of "scenario-weighted selective risk > alpha" from the decision that the hash picked in each group.

    One presented decision per group is iid over groups, and each decision of a group is as likely to be picked, so
    the accepted ones among the picked err with probability R = E[E_g/m_g] / E[A_g/m_g]: the binomial is exact (Clopper
    and Pearson 1934), whatever the dependence within groups and however their sizes differ. One random member of each
    cluster is the draw of Hoffman, Sen and Weinberg (2001), made once. 0 to 1; 1 where no picked one is accepted.

    >>> import numpy as np
    >>> from decibench.gates.groups import GroupCounts
    >>> n = np.full(45, 4); none = np.zeros(45, dtype=np.bool_)
    >>> round(one_per_group_cp(GroupCounts(n * 0, n, n, ~none, none), 0.05), 4)
    0.0994
    """
    return binomial_p(int(counts.picked_wrong.sum()), counts.picked, alpha)

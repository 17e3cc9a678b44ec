"""Exact binomial over one decision per group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.gates.p_values.binomial import binomial_p

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts


def one_per_group_cp(counts: GroupCounts, alpha: float) -> float:
    """p-value of "scenario-weighted selective risk > alpha" from the decision that the hash picked in each group.

    One presented decision per group is iid over groups, and each decision of a group is as likely to be picked, so
    the accepted ones among the picked err with probability R = E[E_g/m_g] / E[A_g/m_g]: the binomial is exact,
    whatever the dependence within groups and however their sizes differ. 0 to 1; 1 where no picked one is accepted.
    """
    return binomial_p(int(counts.picked_wrong.sum()), counts.picked, alpha)

"""Hoeffding-Bentkus."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from decibench.gates.p_values.binomial import binomial_p
from decibench.gates.p_values.excess import excess

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts

_ROUNDING = 1e-9
"""A sum of shares that is a whole number but for rounding must not be counted one up."""


def hoeffding_bentkus(counts: GroupCounts, alpha: float) -> float:
    """p-value of "scenario-weighted selective risk > alpha" for means of values in [0, 1]; 0 to 1.

    The smaller of Hoeffding's bound exp(-n kl(W, alpha)) and Bentkus' e P(Bin(n, alpha) <= ceil(n W)), with W the mean
    of Z_g + alpha over the n accepting groups (Bentkus 2004; Bates, Angelopoulos et al. 2021). 1 where no group
    accepts.

    >>> import numpy as np
    >>> from decibench.gates.groups import GroupCounts
    >>> n = np.full(45, 4); none = np.zeros(45, dtype=np.bool_)
    >>> round(hoeffding_bentkus(GroupCounts(n * 0, n, n, ~none, none), 0.05), 4)
    0.0994
    """
    shifted = excess(counts, alpha) + alpha
    n = int(shifted.size)
    if not n:
        return 1.0
    mean = min(max(float(shifted.mean()), 0.0), 1.0)
    hoeffding = math.exp(-n * _kl(mean, alpha)) if mean < alpha else 1.0
    bentkus = math.e * binomial_p(min(n, math.ceil(n * mean - _ROUNDING)), n, alpha)
    return min(1.0, hoeffding, bentkus)


def _kl(a: float, b: float) -> float:
    """Kullback-Leibler divergence of Bernoulli(a) from Bernoulli(b), in nats."""
    from scipy.special import rel_entr

    return float(rel_entr(a, b) + rel_entr(1 - a, 1 - b))

"""What a certified gate needs before it can be issued: groups, power, and the least risk that can be certified.

All of it is worked out for groups whose decisions are all accepted, where the p-value depends on the number of
groups and of wrong ones only. Groups that accept some of their decisions only tell less, and more of them are needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from decibench.gates.bound import upper_bound
from decibench.gates.groups import GroupCounts
from decibench.gates.p_values.methods import METHODS

if TYPE_CHECKING:
    from decibench.reports.protocol import CertifiedMethod


def groups_needed(
    method: CertifiedMethod, alpha: float, delta: float, errors: int, *, wrong: int = 1, variants: int = 1
) -> int:
    """Fewest fully accepted groups, ``errors`` of them with ``wrong`` of ``variants`` errors, that give p <= delta.

    By default a group that errs is wrong as a whole, which takes most groups. For ``one_per_group_cp`` the decision
    picked in it is taken to be a wrong one. ``alpha`` and ``delta`` lie in (0, 1). ValueError for other arguments.

    >>> groups_needed("betting", 0.05, 0.1, 0), groups_needed("one_per_group_cp", 0.05, 0.1, 1)
    (59, 77)
    >>> groups_needed("gaffke", 0.05, 0.1, 3, wrong=1, variants=4)
    62
    """
    if errors < 0 or not 1 <= wrong <= variants or not (0 < alpha < 1 and 0 < delta < 1):
        raise ValueError("needs errors >= 0, 1 <= wrong <= variants, and alpha and delta in (0, 1)")
    return _needed(method, alpha, delta, errors, wrong, variants)


def most_errors(method: CertifiedMethod, alpha: float, delta: float, groups: int) -> int | None:
    """Most wholly wrong groups among ``groups`` fully accepted ones that still give p <= delta; None where none do.

    >>> most_errors("betting", 0.05, 0.1, 120), most_errors("betting", 0.05, 0.1, 58)
    (1, None)
    """
    first = _first(lambda errors: errors > groups or p_of_errors(method, alpha, groups, errors) > delta, 0)
    return first - 1 if first else None


def power(method: CertifiedMethod, alpha: float, delta: float, groups: int, risk: float) -> float:
    """Probability that ``groups`` fully accepted groups give p <= delta where each is wholly wrong with ``risk``.

    The p-value depends on the number of wrong groups only and grows with it, so this is a binomial probability and
    exact. Where errors are spread over more groups the same risk has another power, except for ``one_per_group_cp``.

    >>> round(power("one_per_group_cp", 0.05, 0.1, 120, 0.01), 3)
    0.88
    """
    from scipy.special import bdtr

    most = most_errors(method, alpha, delta, groups)
    return 0.0 if most is None else float(bdtr(most, groups, risk))


def least_risk(method: CertifiedMethod, delta: float, groups: int, errors: int = 0) -> float:
    """Smallest alpha that ``groups`` fully accepted groups certify with ``errors`` wholly wrong; 1 where none is.

    It is the upper confidence bound of the risk on such groups: 1 - delta^(1 / groups) for the exact binomials without
    an error.

    >>> round(least_risk("group_any_cp", 0.1, 60), 6) == round(1 - 0.1 ** (1 / 60), 6)
    True
    """
    bound = upper_bound(method, _counts(groups, errors, 1, 1), delta, METHODS[method].estimands[0])
    assert bound is not None, "every method bounds its own estimand where something is accepted"
    return bound


def p_of_errors(
    method: CertifiedMethod, alpha: float, groups: int, errors: int, *, wrong: int = 1, variants: int = 1
) -> float:
    """p-value of ``method`` for ``groups`` fully accepted groups of ``variants``, ``errors`` with ``wrong`` errors."""
    return METHODS[method].p_value(_counts(groups, errors, wrong, variants), alpha)


@cache
def _needed(method: CertifiedMethod, alpha: float, delta: float, errors: int, wrong: int, variants: int) -> int:
    def certified(groups: int) -> bool:
        return p_of_errors(method, alpha, groups, errors, wrong=wrong, variants=variants) <= delta

    return _first(certified, max(1, errors))


def _counts(groups: int, errors: int, wrong: int, variants: int) -> GroupCounts:
    import numpy as np

    presented = np.full(groups, variants, dtype=np.int64)
    failing = np.arange(groups) < errors
    return GroupCounts(wrong * failing, presented, presented, np.ones(groups, dtype=np.bool_), failing)


def _first(holds: Callable[[int], bool], start: int) -> int:
    """The least whole number from ``start`` on for which ``holds``, which stays true once it is."""
    if holds(start):
        return start
    step = 1
    while not holds(start + step):
        start, step = start + step, 2 * step
    fails, works = start, start + step
    while works - fails > 1:
        middle = (fails + works) // 2
        fails, works = (fails, middle) if holds(middle) else (middle, works)
    return works

"""Confidence bounds of the risk at a threshold, by inverting the p-values of the certified methods."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from decibench.gates.p_values.methods import as_any, p_value
from decibench.reports.protocol import CertifiedMethod, Estimand

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts

_EDGE: Final = 1e-6
"""Limits nearer to 0 or 1 than this are not looked at: p-values are of limits strictly between."""
_ACCURACY: Final = 1e-8
_PAST_JUMP: Final = 2e-9
"""What is added to a sum to be past a whole number for ``hoeffding_bentkus``, which forgives 1e-9."""


def upper_bound(method: CertifiedMethod, counts: GroupCounts, delta: float, estimand: Estimand) -> float | None:
    """Upper confidence bound of the ``estimand`` at confidence 1 - ``delta``; 0 to 1.

    The least limit above which every limit is rejected, p(limit) <= ``delta``: a test inverted (Neyman 1937). None
    where nothing is accepted or the method does not bound the estimand; 1 where the data exclude nothing. The p-value
    of ``hoeffding_bentkus`` jumps up where a sum of shares passes a whole number, so that its bound can lie above a
    limit that is rejected; the others fall throughout.

    >>> import numpy as np
    >>> from decibench.gates.groups import GroupCounts
    >>> n = np.full(45, 4); none = np.zeros(45, dtype=np.bool_)
    >>> round(upper_bound("one_per_group_cp", GroupCounts(n * 0, n, n, ~none, none), 0.1, "scenario-weighted"), 4)
    0.0499
    """
    from scipy.optimize import brentq

    def distance(limit: float) -> float:
        p = p_value(method, counts, limit, estimand)
        assert p is not None
        return p - delta

    if not 0 < delta < 1:
        raise ValueError(f"delta must be between 0 and 1, not {delta}")
    if not counts.accepting or p_value(method, counts, 0.5, estimand) is None:
        return None
    if distance(1 - _EDGE) > 0:
        return 1.0
    jumps = list(_jumps(counts)) if method == "hoeffding_bentkus" and estimand != "any" else []
    pieces = list(itertools.pairwise([_EDGE, *jumps, 1 - _EDGE]))
    for low, high in reversed(pieces):
        if distance(low) > 0:
            return float(brentq(distance, low, high, xtol=_ACCURACY))
    return _EDGE


def p_value_within(method: CertifiedMethod, counts: GroupCounts, alpha: float, estimand: Estimand) -> float | None:
    """The p-value of "the ``estimand`` is at most ``alpha``": small where the data show it to be above; 0 to 1.

    The same method on the share of right among accepted decisions, at 1 - ``alpha``. None where the method does not
    bound the estimand.
    """
    shown = as_any(counts) if estimand == "any" else counts
    right = replace(
        shown, errors=shown.accepted - shown.errors, picked_wrong=shown.picked_accepted & ~shown.picked_wrong
    )
    return p_value(method, right, 1 - alpha, estimand)


def exact_upper_bound(hits: int, units: int, delta: float) -> float | None:
    """Upper confidence bound of a probability from ``hits`` in ``units`` iid trials; 0 to 1, None without units.

    Exact, one-sided at confidence 1 - ``delta`` (Clopper and Pearson 1934).

    >>> round(exact_upper_bound(0, 45, 0.1), 4)
    0.0499
    """
    from scipy.special import betaincinv

    if not 0 <= hits <= units or not 0 < delta < 1:
        raise ValueError(f"needs 0 <= hits <= units and 0 < delta < 1, not {hits}, {units}, {delta}")
    if hits == units:
        return 1.0 if units else None
    return float(betaincinv(hits + 1, units - hits, 1 - delta))


def _jumps(counts: GroupCounts) -> Iterator[float]:
    """Limits just above those at which the sum of (E_g + limit (m_g - A_g)) / m_g is a whole number, in order."""
    some = counts.accepted > 0
    errors = float((counts.errors[some] / counts.presented[some]).sum())
    rejected = float((1 - counts.accepted[some] / counts.presented[some]).sum())
    if rejected <= 0:
        return
    for whole in range(math.floor(errors), counts.accepting + 1):
        limit = (whole + _PAST_JUMP - errors) / rejected
        if _EDGE < limit < 1 - _EDGE:
            yield limit

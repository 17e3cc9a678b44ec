"""Gaffke's bound for the mean of bounded values."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Final

from decibench.gates.p_values.excess import excess

if TYPE_CHECKING:
    from decibench.gates.groups import GroupCounts

_DIGITS: Final = 12
"""Values that agree to so many digits are one value: their exponential variables merge into a gamma variable."""
_NEGLIGIBLE: Final = 1e-12
_ERROR: Final = 1e-9


def gaffke(counts: GroupCounts, alpha: float) -> float:
    """p-value of "scenario-weighted selective risk > alpha" by Gaffke's bound; 0 to 1, accurate to about 1e-6.

    p = P(sum_g G_g Z_g + G* (1 - alpha) > 0) with independent standard exponential G, by numerical inversion of the
    characteristic function (Gil-Pelaez 1951, as Imhof 1961 does for quadratic forms). It equals the exact binomial
    where Z has two values. That it is valid in general is a conjecture (Gaffke 2005; Learned-Miller and Thomas 2019).

    >>> import numpy as np
    >>> from decibench.gates.groups import GroupCounts
    >>> n = np.full(45, 4); none = np.zeros(45, dtype=np.bool_)
    >>> round(gaffke(GroupCounts(n * 0, n, n, ~none, none), 0.05), 4)
    0.0994
    """
    import numpy as np

    values, multiplicity = np.unique(np.append(excess(counts, alpha), 1 - alpha).round(_DIGITS), return_counts=True)
    values, multiplicity = values[values != 0], multiplicity[values != 0]
    if (values > 0).all():
        return 1.0
    return min(1.0, max(0.0, 0.5 + _integral(values.tolist(), multiplicity.tolist()) / math.pi))


def _integral(values: list[float], multiplicity: list[int]) -> float:
    """The integral of Im(phi(t)) / t over t > 0, where phi(t) = prod (1 - i t v)^-k."""
    import numpy as np
    from scipy.integrate import quad

    v, k = np.array(values), np.array(multiplicity)

    def integrand(t: float) -> float:
        angle = float((k * np.arctan(v * t)).sum())
        size = math.exp(-0.5 * float((k * np.log1p((v * t) ** 2)).sum()))
        return math.sin(angle) * size / t

    # The integrand starts at the mean of the sum and is negligible where the characteristic function is.
    end = 1.0
    while 0.5 * float((k * np.log1p((v * end) ** 2)).sum()) < -math.log(_NEGLIGIBLE) and end < 1e9:
        end *= 2
    edges = np.geomspace(end * 1e-6, end, 61)
    pieces = [quad(integrand, a, b, epsabs=_ERROR / 100, limit=200)[0] for a, b in itertools.pairwise([0.0, *edges])]
    return float(sum(pieces))

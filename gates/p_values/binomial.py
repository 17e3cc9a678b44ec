"""The exact binomial tail behind both Clopper-Pearson methods."""

from __future__ import annotations


def binomial_p(errors: int, units: int, alpha: float) -> float:
    """P(Bin(``units``, ``alpha``) <= ``errors``): the p-value of "the error rate is above alpha" for iid 0/1 units.

    Rejecting at p <= delta is the one-sided exact bound of Clopper and Pearson (1934) at confidence 1 - delta. With no
    units there is no evidence: 1.

    >>> round(binomial_p(0, 45, 0.05), 4)
    0.0994
    """
    from scipy.special import bdtr

    if not 0 <= errors <= units or not 0 < alpha < 1:
        raise ValueError(f"needs 0 <= errors <= units and 0 < alpha < 1, not {errors}, {units}, {alpha}")
    return float(bdtr(errors, units, alpha)) if units else 1.0

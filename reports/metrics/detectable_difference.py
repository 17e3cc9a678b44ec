"""Detectable difference."""

from __future__ import annotations


def detectable_difference(standard_error: float, *, level: float = 0.05, power: float = 0.80) -> float | None:
    """The true difference that a two-sided test at ``level`` finds with ``power``, in the unit of the error.

    The usual normal approximation, (z(1 - level/2) + z(power)) standard errors (Cohen 1988). ``standard_error`` is
    that of a difference of means over groups. None where it is 0: no two groups differ, and nothing can be said.
    ValueError where it is negative.

    >>> round(detectable_difference(0.01), 4)
    0.028
    """
    from scipy.special import ndtri

    if standard_error < 0:
        raise ValueError("a standard error cannot be negative")
    if not standard_error:
        return None
    return float(ndtri(1 - level / 2) + ndtri(power)) * standard_error

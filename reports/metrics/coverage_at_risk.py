"""Coverage at a given selective risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats


def coverage_at_risk(accepted: Floats, errors: Floats, risk: float) -> int | None:
    """Index of the threshold that accepts most with a selective risk of at most ``risk``; None where none does.

    ``accepted`` and ``errors`` have shape (levels,), from the highest threshold down. Risk need not rise as the
    threshold falls: a wrong decision at the very top does not hide the coverage further down. Most coverage at a
    bounded risk is the aim of Geifman and El-Yaniv (2017), who bound the true risk; here it is the observed one.

    >>> import numpy as np
    >>> coverage_at_risk(np.array([1.0, 10.0, 20.0]), np.array([1.0, 1.0, 8.0]), 0.1)
    1
    """
    met = (errors / accepted <= risk).nonzero()[0]
    return int(met[-1]) if met.size else None

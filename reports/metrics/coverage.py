"""Coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.metrics.mean import mean

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools


def coverage(accepted: Bools) -> float | None:
    """Share of all attempted decisions, failed ones included, that are accepted; 0 to 1.

    >>> import numpy as np
    >>> coverage(np.array([True, False, False, False]))
    0.25
    """
    return mean(accepted)

"""Unsafe acceptance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.metrics.mean import mean

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools


def unsafe_acceptance(accepted: Bools, chose_unsafe: Bools, has_unsafe: Bools) -> float | None:
    """Accepted unsafe decisions per decision that has an unsafe option; 0 to 1, None where there is none.

    >>> import numpy as np
    >>> unsafe_acceptance(np.array([True, False]), np.array([True, True]), np.array([True, True]))
    0.5
    """
    return mean((accepted & chose_unsafe)[has_unsafe])

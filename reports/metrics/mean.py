"""Means."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats


def mean(values: Bools | Floats) -> float | None:
    """Arithmetic mean; accuracy is the mean of ``correct`` over all attempted decisions.

    >>> import numpy as np
    >>> mean(np.array([True, False, False, False]))
    0.25
    """
    return float(values.mean()) if values.size else None

"""Selective risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.metrics.mean import mean

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools


def selective_risk(accepted: Bools, correct: Bools) -> float | None:
    """Share of wrong among accepted decisions; 0 to 1, None where nothing is accepted.

    >>> import numpy as np
    >>> selective_risk(np.array([True, True, False]), np.array([True, False, False]))
    0.5
    """
    return mean(~correct[accepted])

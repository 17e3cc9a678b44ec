"""Macro accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Texts


def macro_accuracy(correct: Bools, families: Texts) -> float | None:
    """Mean of the families' accuracies, so that a large family does not drown a small one; 0 to 1.

    >>> import numpy as np
    >>> macro_accuracy(np.array([True, True, True, False]), np.array(["a", "a", "a", "b"]))
    0.5
    """
    import numpy as np

    if not correct.size:
        return None
    return float(np.mean([correct[families == family].mean() for family in np.unique(families)]))

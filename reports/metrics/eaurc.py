"""Excess area under the risk-coverage curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.metrics.aurc import aurc

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats


def eaurc(accepted: Floats, errors: Floats) -> Floats:
    """AURC minus the least AURC that as many errors allow, every error ranked last; 0 (best) to below 1.

    Shapes, ties and NaN as in ``aurc``. The subtracted optimum is the exact sum over coverages, not its logarithmic
    approximation (Geifman, Uziel and El-Yaniv 2019).

    >>> import numpy as np
    >>> eaurc(np.array([1.0, 2.0]), np.array([0.0, 1.0])).item()
    0.0
    >>> eaurc(np.array([1.0, 2.0]), np.array([1.0, 1.0])).item()
    0.5
    """
    import numpy as np

    if not accepted.shape[-1]:
        return np.full(accepted.shape[:-1], np.nan)
    total, wrong = accepted[..., -1], errors[..., -1]
    best = aurc(np.stack([total - wrong, total], axis=-1), np.stack([np.zeros_like(wrong), wrong], axis=-1))
    return aurc(accepted, errors) - best

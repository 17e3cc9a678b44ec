"""Area under the generalized risk-coverage curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats


def augrc(accepted: Floats, errors: Floats) -> Floats:
    """Area under the share of decisions that are accepted and wrong, over coverage; 0 (best) to 0.5.

    Shapes and NaN as in ``aurc``. Straight lines join the thresholds, which spreads the errors of a tie evenly. It
    equals (1 - AUROC) a (1 - a) + (1 - a)^2 / 2 with accuracy a and the AUROC of confidence as a predictor of being
    right (Traub et al. 2024): half the chance that of two random decisions the more confident one is wrong.

    >>> import numpy as np
    >>> augrc(np.array([1.0, 2.0]), np.array([0.0, 1.0])).item()
    0.125
    """
    import numpy as np

    if not accepted.shape[-1]:
        return np.full(accepted.shape[:-1], np.nan)
    size, wrong = np.diff(accepted, prepend=0.0), np.diff(errors, prepend=0.0)
    total = accepted[..., -1]
    area = (size * (errors - wrong / 2)).sum(axis=-1)
    share: Floats = np.divide(area, total**2, out=np.full_like(total, np.nan), where=total > 0)
    return share

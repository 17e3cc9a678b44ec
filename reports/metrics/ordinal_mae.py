"""Mean absolute error of levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.metrics.mean import mean

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats


def ordinal_mae(levels: Floats) -> float | None:
    """Mean absolute distance between chosen (argmax) and expected level of ``score`` questions, in levels.

    ``levels`` holds the distances and NaN for every other decision.

    >>> import numpy as np
    >>> ordinal_mae(np.array([0.0, 2.0, np.nan]))
    1.0
    """
    import numpy as np

    return mean(levels[~np.isnan(levels)])

"""How often something stands at each position of the options."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints


def position_rate(position: Ints, options: int) -> Floats | None:
    """Share of decisions at each of ``options`` positions, first to last; each 0 to 1, together 1.

    ``position``, of shape (decisions,), counts from 0. None where there is no decision; ValueError where a position
    is not below ``options``. Of the choices it is compared with that of the references: only the excess is a bias,
    because a suite may put more right answers first (Zheng et al. 2024, "Large language models are not robust
    multiple choice selectors").

    >>> import numpy as np
    >>> position_rate(np.array([0, 0, 0, 2]), 3).tolist()
    [0.75, 0.0, 0.25]
    """
    import numpy as np

    if not position.size:
        return None
    if position.min() < 0 or position.max() >= options:
        raise ValueError(f"positions must lie between 0 and {options - 1}")
    return np.bincount(position, minlength=options) / position.size

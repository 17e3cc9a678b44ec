"""Smooth calibration error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from decibench.reports.metrics.bins import bin_sums

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats

_CELLS: Final = 1024
_HALVINGS: Final = 10
"""Of the bandwidth, from 1: it is found to 1/1024, as by the authors' own implementation."""


def smooth_calibration_error(top_probability: Floats, correct: Bools) -> float | None:
    """Mean absolute kernel-smoothed gap of top probability and accuracy, at the bandwidth that equals it; 0 to 1.

    The kernel is a Gaussian reflected at 0 and 1. The gap shrinks as the bandwidth grows, so that there is one
    bandwidth at which both are equal, and no bins to choose (Blasiok and Nakkiran 2023, on the top label). Gaps are
    spread over a grid of 1,024 cells first: the cost hardly depends on the number of decisions. None without any.

    >>> import numpy as np
    >>> round(smooth_calibration_error(np.array([0.75, 0.75]), np.array([True, True])), 4)
    0.25
    """
    import numpy as np

    if not top_probability.size:
        return None
    return float(smooth_calibration_errors(top_probability, correct.astype(np.float64)[:, None])[0])


def smooth_calibration_errors(top_probability: Floats, outcomes: Floats) -> Floats:
    """The error for every column of ``outcomes`` (decisions, k), each 0 or 1; there must be a decision.

    >>> import numpy as np
    >>> smooth_calibration_errors(np.array([0.75]), np.array([[1.0, 0.0]])).round(4).tolist()
    [0.25, 0.75]
    """
    import numpy as np
    from scipy.fft import dct, idct

    # The cosines of cell centres are those functions that reflect at 0 and 1: smoothing scales each by itself.
    spectrum = dct(_gaps(top_probability, outcomes), type=2, axis=0)
    frequency = np.pi * np.arange(_CELLS)[:, None]

    def smoothed(bandwidth: Floats) -> Floats:
        damping = np.exp(-0.5 * (frequency * bandwidth) ** 2)
        return np.asarray(np.abs(idct(spectrum * damping, type=2, axis=0)).sum(axis=0))

    below, above = np.zeros(outcomes.shape[1]), np.ones(outcomes.shape[1])
    for _ in range(_HALVINGS):
        middle = (below + above) / 2
        too_small = middle < smoothed(middle)
        below, above = np.where(too_small, middle, below), np.where(too_small, above, middle)
    return smoothed(above)


def _gaps(top_probability: Floats, outcomes: Floats) -> Floats:
    """Mean gaps on the grid (cells, k), each shared by the two cells whose centres are nearest."""
    import numpy as np

    position = np.clip(top_probability * _CELLS - 0.5, 0, _CELLS - 1)
    lower = np.minimum(position.astype(np.int64), _CELLS - 2)
    upper = position - lower

    def spread(columns: Floats) -> Floats:
        return bin_sums(lower, columns, _CELLS, 1 - upper) + bin_sums(lower + 1, columns, _CELLS, upper)

    return (spread(top_probability[:, None]) - spread(outcomes)) / top_probability.size

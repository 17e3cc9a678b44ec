"""Monte-Carlo test by swapping two systems within groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from decibench.reports.metrics.mean_of_ratios import mean_of_ratios

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats

_CHUNK: Final = 64_000
"""Entries of a swap matrix held at once."""
_TOLERANCE: Final = 1e-12
"""Differences that are equal but for the order of summation count as equal."""


def group_swap(numerators: Floats, denominators: Floats, *, resamples: int, seed: int) -> float | None:
    """Two-sided p-value of the difference of two systems in a mean of ratios; 1/(resamples + 1) to 1.

    Both arguments have the shape (groups, strata, 2): what every group adds to the totals of either system, which
    must not be negative. Under the null hypothesis the two systems are exchangeable within a group, so each resample
    swaps them in a random half of the groups. With b of B resamples at least as far from 0 as what was observed, p is
    (b + 1) / (B + 1), which is valid for every B (Davison and Hinkley 1997, section 4.3); a resample without a value
    counts as one of the b. None where a system has no value. ValueError for another shape.

    >>> import numpy as np
    >>> shares = np.array([[0.5, 0.5], [1.0, 1.0]])[:, None, :]
    >>> group_swap(shares, np.ones(shares.shape), resamples=100, seed=1)
    1.0
    """
    import numpy as np

    if numerators.ndim != 3 or numerators.shape[-1] != 2 or numerators.shape != denominators.shape:
        raise ValueError("numerators and denominators must have one shape: (groups, strata, 2)")
    # Totals of kept and of swapped groups are added apart: a difference of sums would leave a rest where 0 is due.
    kept = np.stack([numerators, denominators], axis=1)
    shape = kept.shape[1:]
    swapped = kept[..., ::-1].reshape(len(kept), -1)
    kept = kept.reshape(len(kept), -1)
    observed = _difference(kept.sum(axis=0).reshape(shape))
    if np.isnan(observed):
        return None
    bound = abs(float(observed)) - _TOLERANCE * max(1.0, abs(float(observed)))
    rng = np.random.default_rng(seed)
    reached = 0
    step = max(1, _CHUNK // max(1, len(kept)))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        swaps = rng.integers(0, 2, size=(rows, len(kept))).astype(np.float64)
        totals = swaps @ swapped + (1 - swaps) @ kept
        reached += rows - int((np.abs(_difference(totals.reshape(rows, *shape))) < bound).sum())
    return (reached + 1) / (resamples + 1)


def _difference(totals: Floats) -> Floats:
    """Second minus first, of totals (..., numerator or denominator, strata, 2)."""
    values = mean_of_ratios(totals[..., 0, :, :], totals[..., 1, :, :])
    return values[..., 1] - values[..., 0]

"""Distributions laid end to end: how pairs of them are checked and taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints


def check_pairs(first: Floats, second: Floats, starts: Ints) -> None:
    """Raise ValueError unless both sides have the same length and ``starts`` cuts them into pieces with options."""
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"both sides need one probability per option; their shapes are {first.shape}, {second.shape}")
    if (starts.size and starts[0] != 0) or bool(starts.size) != bool(first.size):
        raise ValueError("the first pair must start at 0, and every probability must belong to a pair")
    if (starts[1:] <= starts[:-1]).any() or (starts >= first.size).any():
        raise ValueError("starts must increase and stay below the number of probabilities")


def sizes_of(starts: Ints, total: int) -> Ints:
    """How many options each piece has, where ``total`` options lie end to end.

    >>> import numpy as np
    >>> sizes_of(np.array([0, 3]), 5).tolist()
    [3, 2]
    """
    import numpy as np

    return np.diff(starts, append=total)

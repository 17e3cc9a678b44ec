"""Directional expectations: a probability that should rise or fall between two cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints

_SLACK: Final = 1e-9
"""Keeps a change of exactly the threshold in decimal from passing in binary (0.52 - 0.50)."""


def direction_outcomes(change: Floats, threshold: float) -> Ints:
    """1 where the probability went the expected way by more than ``threshold``, -1 the opposite way, else 0.

    ``change``, of shape (pairs,), is the change of probability, its sign turned where it should fall. Compliant are
    the 1, anti-compliant the -1, and the mean is the net share: noise complies as often as it does not, so that
    only the net says anything. A directional expectation test (Ribeiro et al. 2020, CheckList) that can fail both
    ways. ValueError where ``threshold`` is negative.

    >>> import numpy as np
    >>> direction_outcomes(np.array([0.3, 0.01, -0.3]), 0.02).tolist()
    [1, 0, -1]
    """
    import numpy as np

    if threshold < 0:
        raise ValueError("the threshold is the least change that counts and cannot be negative")
    return np.where(np.abs(change) > threshold + _SLACK, np.sign(change), 0).astype(np.int64)

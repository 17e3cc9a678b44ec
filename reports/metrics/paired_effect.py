"""What a variant changed, pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Texts


def paired_effect(first: Texts, second: Texts, expected: Texts) -> tuple[int, int, int, int]:
    """Decisions that changed, degraded (right to wrong), improved (wrong to right), and were right twice.

    ``first`` and ``second`` are the choices on the original and on the variant, pair by pair.

    >>> import numpy as np
    >>> paired_effect(np.array(["a", "a", "b"]), np.array(["a", "b", "c"]), np.array(["a", "a", "a"]))
    (2, 1, 0, 1)
    """
    before, after = first == expected, second == expected
    counts = (first != second, before & ~after, ~before & after, before & after)
    changed, degraded, improved, twice = (int(mask.sum()) for mask in counts)
    return changed, degraded, improved, twice

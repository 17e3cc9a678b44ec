"""Exact sign-flip test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Ints

_LARGEST_SUM: Final = 1_000_000
"""Beyond it the distribution of the sum takes seconds to build, and sampling it says the same."""


def sign_flip(differences: Ints) -> float:
    """Exact two-sided p-value of the sum of ``differences``, integers of shape (groups,); 0 to 1.

    Under the null hypothesis the sign of every difference is a fair coin, whatever happens inside a group. The
    distribution of the sum over all sign patterns is built by convolution (the randomisation test of Fisher 1935);
    for differences of -1, 0 and 1 it is the exact sign test. 1 where every difference is 0 or there is none.

    >>> import numpy as np
    >>> sign_flip(np.array([1, 1, 1]))
    0.25
    """
    import numpy as np

    steps = np.abs(differences[differences != 0]).astype(np.int64)
    if not steps.size:
        return 1.0
    unit = int(np.gcd.reduce(steps))
    steps = np.sort(steps // unit)
    # Index k is the chance that the positive differences sum to k.
    chances = np.ones(1)
    for step in steps.tolist():
        grown = np.zeros(chances.size + step)
        grown[: chances.size] = chances
        grown[step:] += chances
        chances = grown / 2
    total = chances.size - 1
    sums = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(chances[sums >= abs(int(differences.sum())) // unit].sum()))


def on_one_scale(differences: Ints, divisors: Ints) -> Ints | None:
    """``differences / divisors``, both of shape (groups,), as integers on their smallest common scale.

    This is what makes an exact test of a mean over groups of unequal size. None where the absolute values would sum
    to more than a million; ValueError where a divisor is below 1.

    >>> import numpy as np
    >>> on_one_scale(np.array([1, -1]), np.array([4, 6]))
    array([ 3, -2])
    """
    import numpy as np

    if (divisors < 1).any():
        raise ValueError("a divisor must be at least 1")
    counted = differences != 0
    gaps, sizes = differences[counted].tolist(), divisors[counted].tolist()
    scale = math.lcm(*sizes)
    scaled = [gap * (scale // size) for gap, size in zip(gaps, sizes, strict=True)]
    if sum(map(abs, scaled)) > _LARGEST_SUM:
        return None
    whole = np.zeros(differences.size, dtype=np.int64)
    whole[counted] = scaled
    return whole

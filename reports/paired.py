"""Paired comparison of two candidates on the same scenarios: the scenario group is the unit of inference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from decibench.cases.schema import Model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 10_000
SEED = 20_261_130
_LEVEL = 0.05
_POWER = 0.80


class PairedDifference(Model):
    """Second minus first, over ``groups`` scenarios that weigh the same.

    ``low`` and ``high`` bound the 95% percentile interval of a bootstrap over groups. ``p_value`` is the exact
    two-sided sign-flip test on the group differences, ``adjusted_p`` the same after Holm over the comparisons made
    together. ``detectable`` is the true difference that such a comparison finds with 80% power at the 5% level,
    given how much the groups differ here; null where no two groups differ.
    """

    groups: int
    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: Annotated[float, Field(ge=0, le=1)]
    adjusted_p: Annotated[float, Field(ge=0, le=1)]
    detectable: float | None

    @property
    def supported(self) -> bool:
        """True when the data support that the two differ."""
        return self.adjusted_p <= _LEVEL


def paired_difference(first: Sequence[int], second: Sequence[int], sizes: Sequence[int]) -> PairedDifference:
    """Compare two counts per group, each out of ``sizes`` decisions of that group.

    >>> paired_difference([1] * 6 + [0] * 44, [0] * 6 + [1] * 2 + [0] * 42, [1] * 50).p_value
    0.2890625
    """
    import numpy as np

    a, b, m = (np.asarray(values, dtype=np.int64) for values in (first, second, sizes))
    if not m.size or (m < 1).any():
        raise ValueError("every group needs at least one decision")
    gaps = (b - a) / m
    low, high = _bootstrap(gaps)
    scale = math.lcm(*(int(size) for size in m))
    p_value = sign_flip((b - a) * (scale // m))
    return PairedDifference(
        groups=int(m.size),
        first=float((a / m).mean()),
        second=float((b / m).mean()),
        difference=float(gaps.mean()),
        low=low,
        high=high,
        p_value=p_value,
        adjusted_p=p_value,
        detectable=_detectable(gaps),
    )


def sign_flip(differences: NDArray[np.int64]) -> float:
    """Exact two-sided p-value of a sum of integers whose signs are exchangeable under the null hypothesis.

    The distribution of the sum under all sign patterns is built by convolution. For differences of -1, 0 and 1 it
    is the exact sign test.

    >>> import numpy as np
    >>> sign_flip(np.array([1, 1, 1]))
    0.25
    """
    import numpy as np

    sizes = np.abs(differences[differences != 0])
    total = int(sizes.sum())
    # Index k stands for the sum k - total.
    chances = np.zeros(2 * total + 1)
    chances[total] = 1.0
    for size in sizes.tolist():
        chances = (np.roll(chances, size) + np.roll(chances, -size)) / 2
    sums = np.abs(np.arange(-total, total + 1))
    return min(1.0, float(chances[sums >= abs(int(differences.sum()))].sum()))


def _bootstrap(gaps: NDArray[np.float64]) -> tuple[float, float]:
    import numpy as np

    rng = np.random.default_rng(SEED)
    means = np.empty(RESAMPLES)
    for start in range(0, RESAMPLES, 1000):
        picked = rng.integers(0, gaps.size, size=(1000, gaps.size))
        means[start : start + 1000] = gaps[picked].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return low, high


def _detectable(gaps: NDArray[np.float64]) -> float | None:
    from scipy.stats import norm

    if gaps.size < 2 or not gaps.std():
        return None
    error = float(gaps.std(ddof=1)) / math.sqrt(gaps.size)
    return float(norm.ppf(1 - _LEVEL / 2) + norm.ppf(_POWER)) * error

"""Temperature scaling of distributions that lie end to end."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints

LIMITS: Final = (0.01, 100.0)
_BLOCK: Final = 2_000_000
"""Options computed at once: 16 MB."""


def relative_logs(probabilities: Floats, starts: Ints, floor: float) -> Floats:
    """Natural logarithm of each option's probability over the largest of its decision, all raised to ``floor`` first.

    ``starts`` are the places where the decisions begin. The result is at most 0 and keeps the order of the options.

    >>> import numpy as np
    >>> relative_logs(np.array([0.5, 0.5, 0.8, 0.2]), np.array([0, 2]), 1e-15).round(3).tolist()
    [0.0, 0.0, 0.0, -1.386]
    """
    import numpy as np

    logs = np.log(np.maximum(probabilities, floor))
    logs -= np.repeat(np.maximum.reduceat(logs, starts), np.diff(starts, append=logs.size))
    return logs


def softened(logs: Floats, starts: Ints, temperature: float) -> Floats:
    """The distributions at a ``temperature`` above 0: above 1 they are flatter, below 1 sharper.

    Each probability is raised to the power 1 / temperature and its decision normalised (Guo et al. 2017).

    >>> import numpy as np
    >>> softened(np.log([1.0, 0.25]), np.array([0]), 2.0).round(4).tolist()
    [0.6667, 0.3333]
    """
    import numpy as np

    powers = np.exp(logs / temperature)
    powers /= np.repeat(np.add.reduceat(powers, starts), np.diff(starts, append=logs.size))
    return powers


def fit_temperature(logs: Floats, starts: Ints, references: Ints) -> float:
    """The temperature with the least mean log loss, between 0.01 and 100, to four significant digits.

    ``references`` are the places of the expected options; there must be a decision. The loss is convex in
    1 / temperature, so the one minimum is found by bounded search (Brent 1973) on its logarithm. 1 where no
    temperature is better than it. A value at a limit says that more would still be better.

    >>> import numpy as np
    >>> logs = relative_logs(np.array([0.9, 0.1, 0.9, 0.1]), np.array([0, 2]), 1e-15)
    >>> fit_temperature(logs, np.array([0, 2]), np.array([0, 3]))
    100.0
    """
    from scipy.optimize import minimize_scalar

    def loss(log_temperature: float) -> float:
        return _mean_log_loss(logs, starts, references, math.exp(log_temperature))

    bounds = tuple(math.log(limit) for limit in LIMITS)
    inside = float(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-6}).x)
    # Of equal ones the first: the limit, where the loss has vanished long before it.
    best = min((0.0, *bounds, inside), key=loss)
    # Rounded, because the last digits of a minimum differ between versions of scipy.
    return float(f"{math.exp(best):.4g}") if loss(best) < loss(0.0) - 1e-12 else 1.0


def _mean_log_loss(logs: Floats, starts: Ints, references: Ints, temperature: float) -> float:
    import numpy as np

    total = -float(logs[references].sum()) / temperature
    for block in _blocks(starts, logs.size):
        lowest, highest = starts[block][0], starts[block.stop] if block.stop < starts.size else logs.size
        powers = np.exp(logs[lowest:highest] / temperature)
        total += float(np.log(np.add.reduceat(powers, starts[block] - lowest)).sum())
    return total / starts.size


def _blocks(starts: Ints, size: int) -> Iterator[slice]:
    """Runs of decisions of about ``_BLOCK`` options in all."""
    import numpy as np

    wanted = np.arange(0, size, _BLOCK)
    edges = [*np.unique(np.searchsorted(starts, wanted)).tolist(), starts.size]
    yield from (slice(a, b) for a, b in itertools.pairwise(edges) if b > a)

"""Group bootstrap: scenario groups are drawn with replacement, and trials too where there are several.

A statistic that is a function of sums over decisions is resampled through the sums of the cells (group x trial), so
that 10,000 resamples of 250,000 decisions cost a matrix product and no decision is ever copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from decibench.cases.schema import Model

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints, Texts

_CHUNK: Final = 4_000_000
"""Entries of a weight matrix held at once: 32 MB."""


class Interval(Model):
    """A two-sided percentile interval."""

    low: float
    high: float


class GroupBootstrap:
    """Resamples of scenario groups, each with all its decisions.

    ``group`` and ``trial`` are columns of shape (decisions,). With several trials the trials are drawn too, the same
    for every group, as a repeated run would repeat them; identical trials then add no certainty, and none is lost.
    The same seed gives the same resamples for the same groups, which is what pairs two systems.
    """

    def __init__(self, group: Texts, trial: Floats, *, resamples: int, seed: int) -> None:
        import numpy as np

        self.names, codes = np.unique(group, return_inverse=True)
        trials, trial_codes = np.unique(trial, return_inverse=True)
        self.resamples = resamples
        self._seed = seed
        self._trials = max(1, int(trials.size))
        self.cell: Ints = codes * self._trials + trial_codes

    @property
    def groups(self) -> int:
        """How many groups there are: the n of every claim."""
        return int(self.names.size)

    @property
    def cells(self) -> int:
        """Groups x trials."""
        return self.groups * self._trials

    def weights(self) -> Iterator[Floats]:
        """How often each cell is drawn, in blocks of shape (some of the resamples, cells)."""
        import numpy as np

        rng = np.random.default_rng(self._seed)
        n, t = self.groups, self._trials
        step = max(1, _CHUNK // max(1, self.cells))
        for start in range(0, self.resamples, step):
            rows = min(step, self.resamples - start)
            drawn = _counts(rng, rows, n)
            if t > 1:
                drawn = (drawn[:, :, None] * _counts(rng, rows, t)[:, None, :]).reshape(rows, -1)
            yield drawn

    def sums(self, columns: Floats) -> Floats:
        """Sums of ``columns`` (decisions, k) over the decisions of each cell, of shape (cells, k)."""
        import numpy as np

        return np.stack([np.bincount(self.cell, weights=c, minlength=self.cells) for c in columns.T], axis=1)

    def resampled(self, columns: Floats) -> Floats:
        """Totals of ``columns`` (decisions, k) in every resample, of shape (resamples, k)."""
        import numpy as np

        sums = self.sums(columns)
        return np.concatenate([weights @ sums for weights in self.weights()])


def interval(samples: Floats, level: float = 0.95) -> Interval | None:
    """The percentile interval of resampled values; resamples without a value (NaN) are left out.

    None where fewer than half of the resamples have a value.

    >>> import numpy as np
    >>> interval(np.arange(101.0))
    Interval(low=2.5, high=97.5)
    """
    import numpy as np

    known = samples[~np.isnan(samples)]
    if known.size * 2 < samples.size or not known.size:
        return None
    tail = 50 * (1 - level)
    low, high = np.percentile(known, [tail, 100 - tail]).tolist()
    return Interval(low=low, high=high)


def _counts(rng: object, rows: int, n: int) -> Floats:
    """How often each of ``n`` is drawn in ``n`` draws, per row: bincounts of integers, which beat multinomials."""
    import numpy as np

    assert isinstance(rng, np.random.Generator)
    drawn = rng.integers(0, n, size=(rows, n))
    drawn += np.arange(rows)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)

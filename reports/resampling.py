"""Group bootstrap: scenario groups are drawn with replacement, and trials too where there are several.

A statistic that is a function of sums over decisions is resampled through the sums of the cells (group x trial), so
that 10,000 resamples of 250,000 decisions cost a matrix product and no decision is ever copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from decibench.cases.schema import Model

if TYPE_CHECKING:
    import numpy as np

    from decibench.reports.metrics.arrays import Bools, Floats, Ints, Texts

_CHUNK: Final = 64_000
"""Entries of a weight matrix held at once: half a megabyte stays in the cache of a processor, and its product with
a few columns is too small for a linear algebra library to start threads, which would cost more than it saves."""

_ROWS: Final = 128
"""Fewest resamples held at once: with many groups, products of a few rows each would take ten times as long."""


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

        self.names, self.group_code = _numbered(group)
        trials, trial_codes = np.unique(trial, return_inverse=True)
        self.resamples = resamples
        self._seed = seed
        self._trials = max(1, int(trials.size))
        self.cell: Ints = self.group_code * self._trials + trial_codes

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

        # Apart, so that what is drawn does not depend on the size of the blocks.
        of_groups, of_trials = np.random.default_rng(self._seed), np.random.default_rng([self._seed, 1])
        n, t = self.groups, self._trials
        step = max(_ROWS, _CHUNK // max(1, self.cells))
        for start in range(0, self.resamples, step):
            rows = min(step, self.resamples - start)
            drawn = _counts(of_groups, rows, n)
            if t > 1:
                drawn = (drawn[:, :, None] * _counts(of_trials, rows, t)[:, None, :]).reshape(rows, -1)
            yield drawn

    def groups_in(self, mask: Bools) -> int:
        """How many groups hold a decision for which ``mask`` (decisions,) is True."""
        import numpy as np

        return int(np.unique(self.group_code[mask]).size)

    def sums(self, columns: Floats) -> Floats:
        """Sums of ``columns`` (decisions, k) over the decisions of each cell, of shape (cells, k)."""
        import numpy as np

        return np.stack([np.bincount(self.cell, weights=c, minlength=self.cells) for c in columns.T], axis=1)

    def resampled(self, columns: Floats) -> Floats:
        """Totals of ``columns`` (decisions, k) in every resample, of shape (resamples, k)."""
        import numpy as np

        sums = self.sums(columns)
        return np.concatenate([weights @ sums for weights in self.weights()])

    def means(self, parts: Mapping[str, tuple[Bools | Floats, Bools]]) -> dict[str, Floats]:
        """Means in every resample (resamples,), by name: each of values over the decisions of a mask.

        Both have shape (decisions,). NaN where a resample holds no decision of the mask. All means come from one draw.
        """
        import numpy as np

        values = [np.where(mask, values, 0.0) for values, mask in parts.values()]
        totals = self.resampled(np.stack([*values, *(mask for _, mask in parts.values())], axis=1, dtype=np.float64))
        above, below = np.split(totals, 2, axis=1)
        means = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
        return dict(zip(parts, means.T, strict=True))


def interval(samples: Floats, level: float = 0.95) -> Interval | None:
    """The percentile interval of resampled values; resamples without a value (NaN) are left out.

    None where fewer than half of the resamples have a value.

    >>> import numpy as np
    >>> interval(np.arange(101.0), level=0.5)
    Interval(low=25.0, high=75.0)
    """
    import numpy as np

    known = samples[~np.isnan(samples)]
    if known.size * 2 < samples.size or not known.size:
        return None
    tail = 50 * (1 - level)
    low, high = np.percentile(known, [tail, 100 - tail]).tolist()
    return Interval(low=low, high=high)


def _numbered(names: Texts) -> tuple[Texts, Ints]:
    """The distinct names in order and the place of each entry among them.

    Decisions of a group mostly stand together, so one entry of each run is hashed; sorting 250,000 texts takes longer
    than all that follows.
    """
    import numpy as np

    begins = np.ones(names.size, dtype=np.bool_)
    begins[1:] = names[1:] != names[:-1]
    starts = np.flatnonzero(begins)
    heads = names[starts].tolist()
    distinct = sorted(set(heads))
    place = {name: index for index, name in enumerate(distinct)}
    codes = np.fromiter(map(place.__getitem__, heads), dtype=np.int64, count=len(heads))
    return np.array(distinct, dtype=np.str_), np.repeat(codes, np.diff(starts, append=names.size))


def _counts(rng: np.random.Generator, rows: int, n: int) -> Floats:
    """How often each of ``n`` is drawn in ``n`` draws, per row: bincounts of integers, which beat multinomials."""
    import numpy as np

    drawn = rng.integers(0, n, size=(rows, n))
    drawn += np.arange(rows)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)

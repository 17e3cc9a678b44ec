"""What every scenario group adds to a quantity, once as it was measured and once resampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from decibench.reports.comparisons.pairing import Aligned, Quantity
from decibench.reports.metrics.mean_of_ratios import mean_of_ratios
from decibench.reports.resampling import GroupBootstrap

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class GroupTotals:
    """The groups of a quantity, each presented decision weighing 1/m of its group's m, in all trials together.

    ``numerators`` and ``denominators`` have the shape (groups, strata, systems): a macro average has the families as
    strata, else there is one. For a quantity that counts, the values are sums over groups of ``counts`` (groups,
    systems) divided by ``divisors`` (groups,), but for a common factor. ``samples`` are the values in every resample,
    of shape (resamples, systems), NaN where there is none.
    """

    quantity: Quantity
    numerators: Floats
    denominators: Floats
    counts: Ints
    divisors: Ints
    samples: Floats

    @property
    def values(self) -> Floats:
        """The quantity of each system, NaN where it has none."""
        return mean_of_ratios(self.numerators.sum(axis=0), self.denominators.sum(axis=0))

    def contributions(self) -> Floats:
        """What each group adds to the value of each system beyond its expectation; of shape (groups, systems).

        First-order (Taylor) terms of the mean of ratios: they sum to 0, and their variance is that of the value.
        """
        import numpy as np

        below = self.denominators.sum(axis=0)
        ratios = np.divide(self.numerators.sum(axis=0), below, out=np.zeros(below.shape), where=below != 0)
        rests = self.numerators - ratios * self.denominators
        parts = np.divide(rests, below, out=np.zeros(rests.shape), where=below != 0)
        contributions: Floats = parts.sum(axis=1) / np.maximum((below != 0).sum(axis=0), 1)
        return contributions


def group_totals(aligned: Aligned, quantities: Sequence[Quantity], *, resamples: int, seed: int) -> list[GroupTotals]:
    """Sum every quantity by group, and resample all of them and all systems by the same draws of groups."""
    import numpy as np

    bootstrap = GroupBootstrap(aligned.asked.group, aligned.asked.trial, resamples=resamples, seed=seed)
    trials = bootstrap.cells // max(1, bootstrap.groups)
    group: Ints = bootstrap.cell // trials
    families = _family_of_group(aligned, group)
    cells = []
    for quantity in quantities:
        stratum = families if quantity.by_family else np.zeros_like(families)
        cells.append(_by_stratum(_sums(quantity, group, bootstrap), np.repeat(stratum, trials)))
    flat = np.concatenate([part.reshape(len(part), -1) for part in cells], axis=1)
    resampled = np.concatenate([weights @ flat for weights in bootstrap.weights()])
    ends = np.cumsum([part[0].size for part in cells])[:-1]
    found = []
    for quantity, part, totals in zip(quantities, cells, np.split(resampled, ends, axis=1), strict=True):
        by_group = part.reshape(-1, trials, *part.shape[1:]).sum(axis=1)
        drawn = totals.reshape(-1, *part.shape[1:])
        sizes = np.bincount(group[quantity.rows], minlength=bootstrap.groups)
        # A family's mean is over its groups, so a group of a large family moves the macro average less.
        peers = np.bincount(families[sizes > 0], minlength=int(families.max()) + 1)[families]
        found.append(
            GroupTotals(
                quantity=quantity,
                numerators=by_group[:, 0],
                denominators=by_group[:, 1],
                counts=_counts(quantity, group, bootstrap.groups),
                divisors=sizes * peers if quantity.by_family else sizes,
                samples=mean_of_ratios(drawn[:, 0], drawn[:, 1]),
            )
        )
    return found


def _family_of_group(aligned: Aligned, group: Ints) -> Ints:
    """The number of the family of each group; all decisions of a group are of one."""
    import numpy as np

    _, codes = np.unique(aligned.asked.family, return_inverse=True)
    _, first = np.unique(group, return_index=True)
    return codes[first]


def _sums(quantity: Quantity, group: Ints, bootstrap: GroupBootstrap) -> Floats:
    """Weighted numerators and denominators summed by cell, of shape (cells, 2, systems)."""
    import numpy as np

    sizes = np.bincount(group[quantity.rows], minlength=bootstrap.groups)
    weight = np.where(quantity.rows, 1 / np.maximum(sizes, 1)[group], 0.0)[:, None]
    parts = (quantity.numerators, quantity.denominators)
    return np.stack([bootstrap.sums(weight * columns) for columns in parts], axis=1)


def _by_stratum(sums: Floats, stratum: Ints) -> Floats:
    """``sums`` (cells, 2, systems) spread over the strata: (cells, 2, strata, systems), 0 but in a cell's own."""
    import numpy as np

    own = stratum[:, None] == np.arange(int(stratum.max()) + 1)
    spread: Floats = sums[:, :, None, :] * own[:, None, :, None]
    return spread


def _counts(quantity: Quantity, group: Ints, groups: int) -> Ints:
    import numpy as np

    columns = quantity.numerators[quantity.rows].T
    sums = [np.bincount(group[quantity.rows], weights=column, minlength=groups) for column in columns]
    return np.rint(np.stack(sums, axis=1)).astype(np.int64)

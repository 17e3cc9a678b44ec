"""Figures averaged within scenarios, then over them, each with the interval of a bootstrap over scenario groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from decibench.reports.figure import Figure, figure_of
from decibench.reports.protocol import Protocol
from decibench.reports.resampling import GroupBootstrap

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Statistic:
    """``value`` goes from sums of shape (..., columns) to (...); a group takes part where a ``denominators`` is not 0.

    ``counts`` tells a share of decisions from a score.
    """

    value: Callable[[Floats], Floats]
    denominators: tuple[int, ...]
    counts: bool = False


def ratio(numerator: int, denominator: int, *, counts: bool = False) -> Statistic:
    """One column of sums over another.

    >>> import numpy as np
    >>> ratio(0, 1).value(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [0.5, 0.75]
    """
    return Statistic(lambda sums: sums[..., numerator] / sums[..., denominator], (denominator,), counts)


def difference(first: Statistic, second: Statistic) -> Statistic:
    """One statistic less another of the same sums."""
    return Statistic(lambda sums: first.value(sums) - second.value(sums), first.denominators + second.denominators)


def nested_weights(group: Ints, unit: Ints) -> Floats:
    """Weights of shape (entries,): every group weighs 1, shared by its units, each shared by its entries.

    >>> import numpy as np
    >>> nested_weights(np.array([7, 7, 7, 8]), np.array([0, 0, 1, 2])).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    import numpy as np

    _, first, unit_codes, entries = np.unique(unit, return_index=True, return_inverse=True, return_counts=True)
    _, group_codes, units = np.unique(group[first], return_inverse=True, return_counts=True)
    return (1 / (entries * units[group_codes]))[unit_codes]


def figures_of(group: Ints, columns: Floats, statistics: Sequence[Statistic], protocol: Protocol) -> list[Figure]:
    """Each statistic of the sums of ``columns`` (entries, k), all from the same resamples of groups.

    Trials have to be averaged within a group beforehand: they sharpen its value, but are no further groups.
    """
    import numpy as np

    names, codes = np.unique(group, return_inverse=True)
    sums: Floats = np.stack([np.bincount(codes, weights=column) for column in columns.T], axis=1)
    bootstrap = GroupBootstrap(
        np.char.zfill(names.astype(np.str_), 12), np.zeros(names.size), resamples=protocol.resamples, seed=protocol.seed
    )
    totals, resamples = sums.sum(axis=0), bootstrap.resampled(sums)
    figures = []
    for statistic in statistics:
        groups = int((sums[:, statistic.denominators] != 0).any(axis=1).sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            value, samples = float(statistic.value(totals)), statistic.value(resamples)
        figures.append(figure_of(value, samples, groups, counts=statistic.counts))
    return figures

"""Ranks that leave open what the data leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from decibench.cases.multiplicity import holm
from decibench.cases.schema import Model
from decibench.reports.comparisons.group_totals import GroupTotals
from decibench.reports.comparisons.paired import LEVEL, p_value_of


class Rank(Model):
    """The ranks that a candidate may have: from ``best``, 1 + those shown to be better, to ``worst``, n - those shown
    to be worse."""

    candidate: str
    best: int
    worst: int

    @property
    def text(self) -> str:
        """As it is printed: ``1``, or ``1-3`` where the data do not tell.

        >>> Rank(candidate="a", best=1, worst=3).text
        '1-3'
        """
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"


def pairwise(totals: GroupTotals, seed: int) -> dict[tuple[int, int], float]:
    """Holm-adjusted p-value of every pair of systems (columns), over all pairs together."""
    systems = totals.counts.shape[1]
    pairs = [(first, second) for first in range(systems) for second in range(first + 1, systems)]
    p_values = holm([p_value_of(totals, first, second, seed)[0] for first, second in pairs])
    return dict(zip(pairs, p_values, strict=True))


def ranks_of(names: Sequence[str], values: Sequence[float], p_values: Mapping[tuple[int, int], float]) -> list[Rank]:
    """Ranks of ``names`` by ``values``, the largest first, as far as the adjusted ``p_values`` of the pairs tell.

    >>> [rank.text for rank in ranks_of(["a", "b", "c"], [0.9, 0.5, 0.6], {(0, 1): 0.01, (0, 2): 0.3, (1, 2): 0.4})]
    ['1-2', '2-3', '1-3']
    """
    better = dict.fromkeys(range(len(names)), 0)
    worse = dict.fromkeys(range(len(names)), 0)
    for (first, second), p_value in p_values.items():
        if p_value <= LEVEL:
            winner, loser = (first, second) if values[first] > values[second] else (second, first)
            better[loser] += 1
            worse[winner] += 1
    return [Rank(candidate=name, best=1 + better[i], worst=len(names) - worse[i]) for i, name in enumerate(names)]

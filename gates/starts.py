"""Which thresholds are tested, from where on, and at which level: fixed before calibration labels are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from decibench.cases.multiplicity import holm
from decibench.gates.gate import Start
from decibench.gates.power import groups_needed
from decibench.reports.protocol import CertifiedMethod

TOO_HIGH: Final = 0.99
"""From here on a threshold is neither a start nor tested: few models ever say so much, and the sequence would end."""
TWO_STARTS_FROM: Final = 200
"""Calibration groups from which on the sequence has two starts."""


def issuable(grid: Sequence[float]) -> list[float]:
    """The thresholds that a certified gate may issue, lowest first."""
    return sorted(threshold for threshold in grid if threshold < TOO_HIGH)


def choose_starts(
    accepting: Mapping[float, int],
    development: int,
    groups: int,
    *,
    method: CertifiedMethod,
    alpha: float,
    delta: float,
) -> list[tuple[float, float]]:
    """Starts of the fixed sequence, each with its level; none where no threshold can be reached.

    ``accepting`` tells how many of the ``development`` groups accept a decision at each threshold that may be issued
    (for ``one_per_group_cp``: the decision that it picks).
    A start is the highest of them at which that share of the calibration ``groups`` would be enough for ``method`` if
    none had an error. From ``TWO_STARTS_FROM`` groups on there are two starts at delta / 2, the second two steps of the
    grid below; where the grid ends before it, the first has the whole of delta.

    >>> accepting = {0.5: 70, 0.6: 60, 0.7: 40, 0.8: 20, 0.9: 3, 0.95: 0}
    >>> choose_starts(accepting, 70, 175, method="betting", alpha=0.05, delta=0.1)
    [(0.7, 0.1)]
    >>> choose_starts(accepting, 70, 400, method="betting", alpha=0.05, delta=0.1)
    [(0.8, 0.05), (0.6, 0.05)]
    """
    grid = sorted(accepting)

    def highest(level: float) -> int | None:
        needed = groups_needed(method, alpha, level, 0)
        reached = [
            place for place, threshold in enumerate(grid) if accepting[threshold] * groups >= needed * development
        ]
        return reached[-1] if reached else None

    if groups >= TWO_STARTS_FROM:
        place = highest(delta / 2)
        if place is not None and place >= 2:
            return [(grid[place], delta / 2), (grid[place - 2], delta / 2)]
    place = highest(delta)
    return [] if place is None else [(grid[place], delta)]


def go_down(start: float, delta: float, p: Mapping[float, float]) -> Start:
    """Test the thresholds of ``p`` from ``start`` downwards at ``delta`` and stop at the first that does not pass.

    The order is fixed, so that no threshold needs an adjustment for the others.

    >>> go_down(0.8, 0.1, {0.6: 0.02, 0.7: 0.3, 0.8: 0.04, 0.9: 0.6})
    Start(threshold=0.8, delta=0.1, passed=[0.8], stopped=0.7)
    """
    passed: list[float] = []
    for threshold in sorted((t for t in p if t <= start), reverse=True):
        if p[threshold] > delta:
            return Start(threshold=start, delta=delta, passed=passed, stopped=threshold)
        passed.append(threshold)
    return Start(threshold=start, delta=delta, passed=passed, stopped=None)


def pass_holm(delta: float, p: Mapping[float, float]) -> list[float]:
    """The thresholds of ``p`` that pass Holm's test at ``delta``: all are tested, at the price of their number."""
    return [threshold for threshold, adjusted in zip(p, holm(list(p.values())), strict=True) if adjusted <= delta]

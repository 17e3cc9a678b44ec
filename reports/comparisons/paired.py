"""Paired comparison of two systems on the same scenarios: the scenario group is the unit of inference."""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from decibench.cases.schema import Model
from decibench.reports.comparisons.group_totals import GroupTotals
from decibench.reports.metrics.detectable_difference import detectable_difference
from decibench.reports.metrics.group_swap import group_swap
from decibench.reports.metrics.sign_flip import on_one_scale, sign_flip
from decibench.reports.resampling import Interval, interval

LEVEL: Final = 0.05
_POWER: Final = 0.80
_TOLERANCE: Final = 1e-12
"""Figures that differ by less are equal but for the order of summation."""

_Probability = Annotated[float, Field(ge=0, le=1)]
_Test: TypeAlias = Literal["sign-flip", "group-swap"]


class PairedDifference(Model):
    """Second minus first, over ``groups`` scenarios that weigh the same, ``differing`` of which differ.

    ``interval`` is the 95% percentile interval of a bootstrap over groups; null where every resample gives the same,
    because no two groups differ, and nothing follows for other groups. ``p_value`` is two-sided: of the exact
    sign-flip test on the groups (``sign-flip``), or of random swaps of the two systems within groups
    (``group-swap``). ``adjusted_p`` is the same after Holm over the comparisons made together, null where a
    comparison is only descriptive. ``detectable`` is the true difference that such a comparison, made alone, finds
    with 80% power at the 5% level, given how much the groups differ here; null where no two groups differ.
    """

    groups: int
    differing: int
    first: float
    second: float
    difference: float
    interval: Interval | None
    test: _Test
    p_value: _Probability
    adjusted_p: _Probability | None
    detectable: float | None

    @property
    def supported(self) -> bool:
        """True when the data support that the two differ, with all comparisons made together accounted for."""
        return self.adjusted_p is not None and self.adjusted_p <= LEVEL


def paired_difference(totals: GroupTotals, first: int, second: int, seed: int) -> PairedDifference | None:
    """Compare the systems in the columns ``first`` and ``second``; None where one of them has no value."""
    a, b = totals.values[[first, second]].tolist()
    if math.isnan(a) or math.isnan(b):
        return None
    p_value, test = p_value_of(totals, first, second, seed)
    return PairedDifference(
        groups=int((totals.divisors > 0).sum()),
        differing=_differing(totals, first, second),
        first=a,
        second=b,
        difference=b - a,
        interval=_spread(totals, first, second, 0.95),
        test=test,
        p_value=p_value,
        adjusted_p=None,
        detectable=detectable_difference(_standard_error(totals, first, second), level=LEVEL, power=_POWER),
    )


def p_value_of(totals: GroupTotals, first: int, second: int, seed: int) -> tuple[float, _Test]:
    """Two-sided p-value of two systems being exchangeable within every group, and the test that gave it.

    ValueError where one of them has no value.
    """
    pair = [first, second]
    if totals.quantity.counts:
        presented = totals.divisors > 0
        gaps = totals.counts[presented, second] - totals.counts[presented, first]
        scaled = on_one_scale(gaps, totals.divisors[presented])
        if scaled is not None:
            return sign_flip(scaled), "sign-flip"
    numerators, denominators = totals.numerators[..., pair], totals.denominators[..., pair]
    p_value = group_swap(numerators, denominators, resamples=len(totals.samples), seed=seed)
    if p_value is None:
        raise ValueError(f"{totals.quantity.name}: a system without a value cannot be tested")
    return p_value, "group-swap"


def lower_bound(totals: GroupTotals, first: int, second: int) -> float | None:
    """One-sided 95% lower bound of second minus first, by the bootstrap; None where no two groups differ."""
    two_sided = _spread(totals, first, second, 1 - 2 * LEVEL)
    return two_sided.low if two_sided else None


def _spread(totals: GroupTotals, first: int, second: int, level: float) -> Interval | None:
    found = interval(totals.samples[:, second] - totals.samples[:, first], level)
    return found if found and found.high - found.low > _TOLERANCE else None


def _differing(totals: GroupTotals, first: int, second: int) -> int:
    import numpy as np

    sums = np.concatenate([totals.numerators, totals.denominators], axis=1)
    return int((np.abs(sums[..., second] - sums[..., first]) > _TOLERANCE).any(axis=1).sum())


def _standard_error(totals: GroupTotals, first: int, second: int) -> float:
    """Of the difference, over groups; 0 where no two groups differ."""
    n = int((totals.divisors > 0).sum())
    added = totals.contributions()
    squares = float(((added[:, second] - added[:, first]) ** 2).sum())
    error = math.sqrt(squares * n / (n - 1)) if n > 1 else 0.0
    return error if error > _TOLERANCE else 0.0

"""The paired group bootstrap on 250,000 decisions, from columns to interval, beside scipy's on the sums of groups.

Run by ``pytest benchmarks``. Both resample 435 groups 10,000 times; scipy is given the sums of the groups, ours makes
them from a column of names. Budget: 0.5 s, and 1.5 times scipy in the same run where decisions stand in the order of a
suite; in no order 250,000 names have to be looked up first, which takes about as long as the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import bootstrap

from decibench.reports.resampling import GroupBootstrap, Interval, interval

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats, Texts

DECISIONS, GROUPS, RESAMPLES = 250_000, 435, 10_000


@dataclass(frozen=True)
class Decided:
    """Columns of decisions: the group, the trial, and whether each of two systems was right."""

    group: Texts
    trial: Floats
    first: Bools
    second: Bools


@pytest.fixture(scope="module")
def decided() -> Decided:
    """Two systems, one a little better, on scenarios of different difficulty, in the order of a suite."""
    rng = np.random.default_rng(0)
    names = np.array([f"family-scenario-{index:03}" for index in range(GROUPS)])
    skill = rng.random(GROUPS)
    of_decision = np.sort(rng.integers(0, GROUPS, DECISIONS))
    first, second = (rng.random(DECISIONS) < 0.5 + 0.4 * skill[of_decision] + lift for lift in (0.0, 0.02))
    return Decided(names[of_decision], np.ones(DECISIONS), first, second)


def ours(decided: Decided) -> Interval | None:
    """Difference of two shares of right decisions, from the columns."""
    resamples = GroupBootstrap(decided.group, decided.trial, resamples=RESAMPLES, seed=1)
    columns = np.stack([decided.first, decided.second, np.ones(DECISIONS)], axis=1)
    first, second, number = resamples.resampled(columns).T
    return interval((second - first) / number)


def sums_of(decided: Decided) -> list[Any]:
    """Right decisions of either system and all decisions, by group."""
    _, group = np.unique(decided.group, return_inverse=True)
    columns = (decided.first, decided.second, np.ones(DECISIONS))
    return [np.bincount(group, weights=column, minlength=GROUPS) for column in columns]


def of_scipy(sums: list[Any]) -> Any:
    """The same interval by scipy."""

    def difference(first: Floats, second: Floats, number: Floats, axis: int = -1) -> Any:
        return (second.sum(axis=axis) - first.sum(axis=axis)) / number.sum(axis=axis)

    rng = np.random.default_rng(1)
    return bootstrap(
        tuple(sums), difference, paired=True, vectorized=True, method="percentile", n_resamples=RESAMPLES,
        random_state=rng,
    ).confidence_interval  # fmt: skip


@pytest.mark.benchmark(group="paired bootstrap")
@pytest.mark.parametrize("order", ["suite", "none"])
def test_ours_from_columns_to_interval(benchmark: Any, decided: Decided, order: str) -> None:
    """Ours, checked against scipy's interval."""
    if order == "none":
        shuffled = np.random.default_rng(2).permutation(DECISIONS)
        d = decided
        decided = Decided(d.group[shuffled], d.trial[shuffled], d.first[shuffled], d.second[shuffled])
    found = benchmark.pedantic(ours, args=(decided,), rounds=7, warmup_rounds=1)
    theirs = of_scipy(sums_of(decided))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.05 * (theirs.high - theirs.low))


@pytest.mark.benchmark(group="paired bootstrap")
def test_scipy_on_the_sums_of_groups(benchmark: Any, decided: Decided) -> None:
    """Scipy's, for the comparison."""
    benchmark.pedantic(of_scipy, args=(sums_of(decided),), rounds=7, warmup_rounds=1)

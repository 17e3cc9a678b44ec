"""The group bootstrap against scipy, and what its resamples hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from decibench.reports.resampling import GroupBootstrap, interval

RESAMPLES = 10_000


def decisions(groups: int, trials: int = 1, seed: int = 0) -> tuple[Any, Any, Any]:
    """Group, trial and outcome of decisions in groups of unequal size, whose members resemble each other."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, size=groups)
    group = np.repeat([f"g{i:03}" for i in range(groups)], sizes)
    right = rng.random(group.size) < np.repeat(rng.beta(2, 1, size=groups), sizes)
    return np.tile(group, trials), np.repeat(np.arange(1.0, trials + 1), group.size), np.tile(right, trials)


def test_intervals_of_a_ratio_are_those_of_scipy_on_cluster_sums() -> None:
    group, trial, right = decisions(60)
    everything = np.ones(group.size, dtype=np.bool_)
    drawn = GroupBootstrap(group, trial, resamples=RESAMPLES, seed=5).means({"right": (right, everything)})
    ours = interval(drawn["right"])
    sums = [np.array([values[group == name].sum() for name in np.unique(group)]) for values in (right, everything)]
    theirs = bootstrap(
        sums,
        lambda above, below, axis: above.sum(axis=axis) / below.sum(axis=axis),
        paired=True,
        n_resamples=RESAMPLES,
        method="percentile",
        random_state=np.random.default_rng(6),
    ).confidence_interval
    # An endpoint of 10,000 resamples is uncertain by about 2% of the interval's width.
    width = theirs.high - theirs.low
    assert ours is not None
    assert ours.low == pytest.approx(theirs.low, abs=0.06 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.06 * width)


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 3), st.integers(0, 5))
def test_every_resample_draws_as_many_groups_as_there_are_and_whole(groups: int, trials: int, seed: int) -> None:
    group, trial, _ = decisions(groups, trials, seed)
    drawn = GroupBootstrap(group, trial, resamples=100, seed=seed)
    (weights,) = drawn.weights()
    by_group = weights.reshape(100, groups, trials)
    assert weights.sum(axis=1).tolist() == [groups * trials] * 100
    # The same trials are drawn for every group.
    assert (by_group * by_group.sum(axis=(1, 2), keepdims=True)).tolist() == (
        by_group.sum(axis=1, keepdims=True) * by_group.sum(axis=2, keepdims=True)
    ).tolist()


def test_the_same_seed_pairs_two_systems_whatever_the_order_of_their_rows() -> None:
    group, trial, right = decisions(30)
    order = np.random.default_rng(1).permutation(group.size)
    columns = right.astype(float)[:, None]
    one = GroupBootstrap(group, trial, resamples=200, seed=3).resampled(columns)
    other = GroupBootstrap(group[order], trial[order], resamples=200, seed=3).resampled(columns[order])
    assert one.tolist() == other.tolist()
    assert one.tolist() != GroupBootstrap(group, trial, resamples=200, seed=4).resampled(columns).tolist()


def test_one_group_leaves_nothing_to_vary() -> None:
    group, trial = np.array(["g"] * 4), np.ones(4)
    totals = GroupBootstrap(group, trial, resamples=100, seed=0).resampled(np.array([[1.0], [0.0], [1.0], [1.0]]))
    assert totals.tolist() == [[3.0]] * 100


def test_identical_trials_neither_narrow_nor_widen_an_interval() -> None:
    widths = []
    for trials in (1, 4):
        group, trial, right = decisions(60, trials)
        drawn = GroupBootstrap(group, trial, resamples=RESAMPLES, seed=2)
        found = interval(drawn.means({"right": (right, np.ones(group.size, dtype=np.bool_))})["right"])
        assert found is not None
        widths.append(found.high - found.low)
    assert widths[1] == pytest.approx(widths[0], rel=0.06)


def test_what_varies_between_trials_alone_is_not_averaged_away_by_many_groups() -> None:
    group = np.tile([f"g{i}" for i in range(200)], 2)
    trial = np.repeat([1.0, 2.0], 200)
    drawn = GroupBootstrap(group, trial, resamples=1000, seed=0)
    found = interval(drawn.means({"right": (trial == 1, np.ones(400, dtype=np.bool_))})["right"])
    # Two trials, all right and all wrong: a resample of trials is either one or half of each.
    assert found is not None
    assert (found.low, found.high) == (0.0, 1.0)


def test_a_group_that_lacks_a_trial_adds_nothing_where_that_trial_is_drawn() -> None:
    group, trial = np.array(["a", "a", "b"]), np.array([1.0, 2.0, 1.0])
    drawn = GroupBootstrap(group, trial, resamples=500, seed=9)
    totals = drawn.resampled(np.array([[1.0], [10.0], [100.0]]))
    expected = [
        a1 * 1 + a2 * 10 + b1 * 100 for weights in drawn.weights() for a1, a2, b1, _ in weights.astype(int).tolist()
    ]
    assert totals[:, 0].tolist() == expected
    assert drawn.cells == 4


def test_a_mean_of_decisions_that_a_resample_lacks_is_left_out() -> None:
    group, trial = np.array(["a", "b", "c"]), np.ones(3)
    drawn = GroupBootstrap(group, trial, resamples=2000, seed=0)
    samples = drawn.means({"of a": (np.array([1.0, np.nan, np.nan]), group == "a")})["of a"]
    # Three draws miss a group with probability (2/3)^3.
    assert np.isnan(samples).mean() == pytest.approx(8 / 27, abs=0.05)
    assert set(samples[~np.isnan(samples)].tolist()) == {1.0}
    assert drawn.groups_in(group == "a") == 1


def test_mostly_undefined_resamples_give_no_interval() -> None:
    samples = np.arange(100.0)
    samples[:51] = np.nan
    assert interval(samples) is None
    samples[50] = 50.0
    assert interval(samples) is not None
    assert interval(np.array([])) is None

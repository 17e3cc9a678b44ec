"""The statistics of paired comparisons against independent oracles."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm, permutation_test

from decibench.cases.multiplicity import holm
from decibench.reports.metrics.detectable_difference import detectable_difference
from decibench.reports.metrics.group_swap import group_swap
from decibench.reports.metrics.mean_of_ratios import mean_of_ratios
from decibench.reports.metrics.sign_flip import on_one_scale, sign_flip

Gaps = st.lists(st.integers(-6, 6), min_size=1, max_size=10)


@given(Gaps)
def test_sign_flip_equals_enumeration_of_all_sign_patterns(differences: list[int]) -> None:
    observed = abs(sum(differences))
    patterns = itertools.product((-1, 1), repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in patterns]
    expected = sum(total >= observed for total in sums) / len(sums)
    assert sign_flip(np.array(differences)) == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 60), st.integers(0, 60))
def test_sign_flip_of_unit_differences_is_the_exact_sign_test(plus: int, minus: int) -> None:
    expected = binomtest(plus, plus + minus).pvalue if plus + minus else 1.0
    assert sign_flip(np.array([1] * plus + [-1] * minus, dtype=np.int64)) == pytest.approx(expected, rel=1e-9)


@given(Gaps, st.integers(1, 9), st.randoms())
def test_sign_flip_depends_on_neither_order_nor_unit_nor_direction(gaps: list[int], unit: int, random: Any) -> None:
    shuffled = [unit * gap for gap in gaps]
    random.shuffle(shuffled)
    expected = sign_flip(np.array(gaps))
    assert sign_flip(np.array(shuffled)) == pytest.approx(expected, abs=1e-12)
    assert sign_flip(-np.array(gaps)) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 12)), min_size=1, max_size=12))
def test_one_scale_keeps_all_proportions(pairs: list[tuple[int, int]]) -> None:
    gaps, divisors = (np.array(column) for column in zip(*pairs, strict=True))
    scaled = on_one_scale(gaps, divisors)
    assert scaled is not None
    shares = [Fraction(gap, divisor) for gap, divisor in pairs]
    for (one, whole), (other, other_whole) in itertools.combinations(zip(shares, scaled.tolist(), strict=True), 2):
        assert one * other_whole == other * whole


def test_a_scale_too_fine_for_exact_sums_is_refused() -> None:
    primes = np.array([101, 103, 107, 109, 113])
    assert on_one_scale(np.ones(5, dtype=np.int64), primes) is None
    with pytest.raises(ValueError, match="at least 1"):
        on_one_scale(np.array([1]), np.array([0]))


def test_group_swap_agrees_with_the_exact_permutation_test_of_a_ratio() -> None:
    rng = np.random.default_rng(5)
    below = rng.integers(1, 5, size=(9, 2)) / 4
    above = below * rng.integers(0, 3, size=(9, 2)) / 2

    def difference(first: Any, second: Any, axis: int = -1) -> Any:
        n, d = above.ravel(), below.ravel()
        return n[second].sum(axis) / d[second].sum(axis) - n[first].sum(axis) / d[first].sum(axis)

    # The oracle swaps within pairs of indices, so that numerator and denominator of a system stay together.
    indices = np.arange(18).reshape(9, 2)
    exact = permutation_test(
        (indices[:, 0], indices[:, 1]), difference, permutation_type="samples", vectorized=True, n_resamples=np.inf
    )
    found = group_swap(above[:, None, :], below[:, None, :], resamples=20_000, seed=1)
    assert found == pytest.approx(exact.pvalue, abs=4 * math.sqrt(0.25 / 20_000))


def test_group_swap_agrees_with_the_sign_flip_where_both_apply() -> None:
    rng = np.random.default_rng(6)
    counts = rng.integers(0, 5, size=(40, 2))
    shares = counts[:, None, :] / 4
    found = group_swap(shares, np.ones(shares.shape), resamples=20_000, seed=1)
    exact = sign_flip(counts[:, 1] - counts[:, 0])
    assert found == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 20_000))


def test_group_swap_is_never_zero_and_knows_when_it_has_no_value() -> None:
    apart = np.tile([0.0, 1.0], (50, 1))[:, None, :]
    ones = np.ones(apart.shape)
    assert group_swap(apart, ones, resamples=999, seed=1) == 1 / 1000
    nothing_accepted = ones * [1.0, 0.0]
    assert group_swap(apart, nothing_accepted, resamples=100, seed=1) is None
    with pytest.raises(ValueError, match="groups, strata, 2"):
        group_swap(apart[:, 0], ones[:, 0], resamples=100, seed=1)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8), st.randoms())
@settings(max_examples=30)
def test_group_swap_of_equal_systems_is_one_and_names_of_systems_do_not_matter(
    shares: list[tuple[float, float]], random: Any
) -> None:
    values = np.array(shares)[:, None, :]
    ones = np.ones(values.shape)
    same = values[..., [0, 0]]
    assert group_swap(same, ones, resamples=50, seed=random.randint(0, 9)) == 1.0
    assert group_swap(values, ones, resamples=50, seed=3) == group_swap(values[..., ::-1], ones, resamples=50, seed=3)


def test_the_mean_of_ratios_leaves_out_empty_strata() -> None:
    above, below = np.array([[1.0, 0.0], [3.0, 0.0]]), np.array([[2.0, 0.0], [0.0, 0.0]])
    assert mean_of_ratios(above, below).tolist() == pytest.approx([0.5, math.nan], nan_ok=True)
    with pytest.raises(ValueError, match="differ in shape"):
        mean_of_ratios(above, below[:1])


def test_the_detectable_difference_is_found_with_the_power_it_states() -> None:
    # Of normal estimates around the detectable difference, 80% lie beyond the two-sided 5% limit.
    size = detectable_difference(0.02)
    assert size is not None
    assert norm.sf(norm.ppf(0.975), loc=size / 0.02) == pytest.approx(0.80, abs=1e-6)
    assert detectable_difference(0.0) is None
    with pytest.raises(ValueError, match="negative"):
        detectable_difference(-1.0)


@pytest.mark.parametrize(("groups", "points"), [(120, 6.8), (240, 4.8)])
def test_the_detectable_difference_of_correlated_decisions_and_candidates(groups: int, points: float) -> None:
    # Accuracy 85%, four decisions a scenario that correlate by 0.6, and candidates that correlate by 0.6.
    of_scenario = 0.85 * 0.15 * (1 + 3 * 0.6) / 4
    found = detectable_difference(math.sqrt(2 * (1 - 0.6) * of_scenario / groups))
    assert found is not None
    assert 100 * found == pytest.approx(points, abs=0.05)


def test_holm_is_the_step_down_of_bonferroni() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_the_sign_flip_keeps_its_level_on_clustered_decisions_where_decisions_alone_do_not() -> None:
    """60 scenarios of four decisions, correlation 0.6 within them, two systems that are equally good."""
    repetitions, level = 1_000, 0.05
    rng = np.random.default_rng(20)
    rejected = np.zeros(2)
    for _ in range(repetitions):
        right = _two_equal_systems(rng, groups=60, decisions=4, accuracy=0.85, correlation=0.6)
        gaps = right[1].sum(axis=1) - right[0].sum(axis=1)
        only_first, only_second = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
        by_decision = binomtest(only_first, only_first + only_second).pvalue if only_first + only_second else 1.0
        rejected += [sign_flip(gaps) <= level, by_decision <= level]
    by_scenario, by_decision = (rejected / repetitions).tolist()
    error = 2 * math.sqrt(level * (1 - level) / repetitions)  # Two standard errors of the simulation: 1.4 points.
    assert by_scenario <= level + error
    assert by_decision > level + 3 * error


def _two_equal_systems(rng: Any, *, groups: int, decisions: int, accuracy: float, correlation: float) -> Any:
    """Right or not, of shape (2, groups, decisions): each system's skill varies by scenario."""
    skill = rng.standard_normal((2, groups, 1))
    own = rng.standard_normal((2, groups, decisions))
    return math.sqrt(correlation) * skill + math.sqrt(1 - correlation) * own < norm.ppf(accuracy)

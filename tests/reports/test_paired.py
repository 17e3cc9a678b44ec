"""The paired comparison against independent oracles."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap

from decibench.cases.multiplicity import holm
from decibench.reports.paired import paired_difference, sign_flip


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=10))
def test_sign_flip_equals_enumeration_of_all_sign_patterns(differences: list[int]) -> None:
    observed = abs(sum(differences))
    patterns = itertools.product((-1, 1), repeat=len(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True))) for signs in patterns]
    expected = sum(total >= observed for total in sums) / len(sums)
    assert sign_flip(np.array(differences)) == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 60), st.integers(0, 60))
def test_sign_flip_of_unit_differences_is_the_exact_sign_test(plus: int, minus: int) -> None:
    expected = binomtest(plus, plus + minus).pvalue if plus + minus else 1.0
    assert sign_flip(np.array([1] * plus + [-1] * minus)) == pytest.approx(expected, rel=1e-9)


def test_the_interval_agrees_with_scipy_on_group_differences() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.choice([4, 8], size=60)
    first, second = rng.binomial(sizes, 0.7), rng.binomial(sizes, 0.8)
    ours = paired_difference(first.tolist(), second.tolist(), sizes.tolist())
    gaps = (second - first) / sizes
    theirs = bootstrap((gaps,), np.mean, n_resamples=10_000, method="percentile", random_state=np.random.default_rng(4))
    assert ours.difference == pytest.approx(gaps.mean())
    # Two bootstraps of 10,000 differ by their own noise, about a hundredth of the interval's width.
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.05 * width)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.05 * width)


def test_groups_weigh_the_same_whatever_their_size() -> None:
    paired = paired_difference([0, 8], [4, 8], [4, 8])
    assert (paired.first, paired.second, paired.difference) == (0.5, 1.0, 0.5)


def test_the_interval_is_the_same_every_time() -> None:
    counts = [1, 0, 1, 1, 0, 1], [0, 0, 1, 0, 1, 1], [1] * 6
    assert paired_difference(*counts) == paired_difference(*counts)


def test_equal_candidates_have_no_detectable_difference_to_print() -> None:
    paired = paired_difference([1, 0, 1], [1, 0, 1], [1, 1, 1])
    assert (paired.p_value, paired.low, paired.high, paired.detectable) == (1.0, 0.0, 0.0, None)


def test_holm_is_the_step_down_of_bonferroni() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_correlated_decisions_of_few_scenarios_support_no_claim() -> None:
    # Item by item, 40 against 0 would look overwhelming; it is one scenario of five.
    paired = paired_difference([0, 40, 40, 40, 40], [40, 40, 40, 40, 40], [40] * 5)
    assert paired.p_value == 1.0
    assert not paired.supported

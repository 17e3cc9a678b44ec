"""Total variation between pairs of distributions laid end to end."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cityblock

from decibench.reports.metrics.total_variation import total_variation

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

Pair = tuple[list[float], list[float]]


@st.composite
def pairs(draw: st.DrawFn) -> list[Pair]:
    """Pairs of distributions over two to six options."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    sizes = draw(st.lists(st.integers(2, 6), min_size=1, max_size=5))
    sides = [rng.dirichlet([0.5] * options, size=2).tolist() for options in sizes]
    return [(one, two) for one, two in sides]


def laid_out(pairs: list[Pair]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *(len(one) for one, _ in pairs)])[:-1]
    first, second = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    return first, second, starts


@unhurried
@given(pairs())
def test_each_pair_is_half_the_city_block_distance_of_scipy(pairs: list[Pair]) -> None:
    expected = [cityblock(one, two) / 2 for one, two in pairs]
    assert total_variation(*laid_out(pairs)).tolist() == pytest.approx(expected, abs=1e-12)


@unhurried
@given(pairs())
def test_it_is_the_largest_difference_over_all_sets_of_options(pairs: list[Pair]) -> None:
    for (one, two), found in zip(pairs, total_variation(*laid_out(pairs)).tolist(), strict=True):
        subsets = itertools.chain.from_iterable(itertools.combinations(range(len(one)), n) for n in range(len(one)))
        assert found == pytest.approx(max(sum(one[i] - two[i] for i in s) for s in subsets), abs=1e-12)


@unhurried
@given(pairs())
def test_neither_the_side_nor_the_names_of_options_matter(pairs: list[Pair]) -> None:
    first, second, starts = laid_out(pairs)
    plain = total_variation(first, second, starts)
    assert total_variation(second, first, starts).tolist() == plain.tolist()
    turned = [(one[::-1], two[::-1]) for one, two in pairs]
    assert total_variation(*laid_out(turned)).tolist() == pytest.approx(plain.tolist(), abs=1e-12)


def test_no_pairs_give_no_distances() -> None:
    empty = np.zeros(0)
    assert total_variation(empty, empty, np.zeros(0, dtype=np.int64)).size == 0


@pytest.mark.parametrize(
    ("first", "second", "starts"),
    [
        ([0.5, 0.5], [1.0], [0]),
        ([0.5, 0.5], [0.5, 0.5], []),
        ([0.5, 0.5], [0.5, 0.5], [1]),
        ([0.5, 0.5], [0.5, 0.5], [0, 0]),
        ([0.5, 0.5], [0.5, 0.5], [0, 2]),
        ([], [], [0]),
    ],
)
def test_what_does_not_fit_together_is_refused(first: list[float], second: list[float], starts: list[int]) -> None:
    with pytest.raises(ValueError, match="probabilit"):
        total_variation(np.array(first), np.array(second), np.array(starts, dtype=np.int64))

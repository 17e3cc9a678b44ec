"""Flips of the top option between pairs of distributions laid end to end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decibench.reports.metrics.flip_share import flips

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Counts of tenths, so that ties are common.
Side = list[int]


@st.composite
def pairs(draw: st.DrawFn) -> list[tuple[Side, Side]]:
    side = st.integers(0, 3)
    sizes = draw(st.lists(st.integers(2, 5), min_size=1, max_size=6))
    return [tuple(draw(st.lists(side, min_size=n, max_size=n)) for _ in range(2)) for n in sizes]  # type: ignore[misc]


def laid_out(pairs: list[tuple[Side, Side]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *(len(one) for one, _ in pairs)])[:-1]
    first, second = (np.concatenate([pair[side] for pair in pairs]) / 10 for side in (0, 1))
    return first, second, starts


@unhurried
@given(pairs())
def test_a_flip_is_another_first_maximum(pairs: list[tuple[Side, Side]]) -> None:
    flip, _ = flips(*laid_out(pairs))
    assert flip.tolist() == [bool(np.argmax(one) != np.argmax(two)) for one, two in pairs]


@unhurried
@given(pairs())
def test_a_tie_is_a_shared_maximum_on_either_side(pairs: list[tuple[Side, Side]]) -> None:
    _, tie = flips(*laid_out(pairs))
    assert tie.tolist() == [any(side.count(max(side)) > 1 for side in pair) for pair in pairs]


@unhurried
@given(pairs())
def test_sides_can_be_exchanged_and_pairs_turned_round(pairs: list[tuple[Side, Side]]) -> None:
    first, second, starts = laid_out(pairs)
    flip, tie = flips(first, second, starts)
    assert [column.tolist() for column in flips(second, first, starts)] == [flip.tolist(), tie.tolist()]
    backwards = flips(*laid_out(pairs[::-1]))
    assert [column.tolist()[::-1] for column in backwards] == [flip.tolist(), tie.tolist()]


def test_equal_distributions_never_flip_and_no_pairs_give_none() -> None:
    even = np.full(4, 0.25)
    assert [column.tolist() for column in flips(even, even, np.array([0]))] == [[False], [True]]
    assert [column.size for column in flips(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64))] == [0, 0]


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="both sides need one probability per option"):
        flips(np.full(2, 0.5), np.full(4, 0.25), np.array([0]))

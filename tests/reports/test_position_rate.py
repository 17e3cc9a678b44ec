"""Shares by position."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decibench.reports.metrics.position_rate import position_rate

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@unhurried
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_it_is_a_plain_count(positions: list[int]) -> None:
    counts = Counter(positions)
    rate = position_rate(np.array(positions), 5)
    assert rate is not None
    assert rate.tolist() == pytest.approx([counts[place] / len(positions) for place in range(5)])
    assert rate.sum() == pytest.approx(1)


def test_a_position_nobody_chose_is_0_and_no_decision_has_no_rate() -> None:
    rate = position_rate(np.array([1]), 3)
    assert rate is not None
    assert rate.tolist() == [0.0, 1.0, 0.0]
    assert position_rate(np.zeros(0, dtype=np.int64), 3) is None


@pytest.mark.parametrize("position", [-1, 3])
def test_a_position_outside_the_options_is_refused(position: int) -> None:
    with pytest.raises(ValueError, match="between 0 and 2"):
        position_rate(np.array([position]), 3)

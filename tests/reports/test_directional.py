"""Changes that go the expected way by more than the threshold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decibench.reports.metrics.directional import direction_outcomes

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

hundredths = st.integers(0, 100)


@unhurried
@given(hundredths, hundredths, st.integers(0, 10))
def test_hundredths_are_judged_as_exact_arithmetic_judges_them(before: int, after: int, threshold: int) -> None:
    change, limit = Fraction(after - before, 100), Fraction(threshold, 100)
    expected = 1 if change > limit else -1 if change < -limit else 0
    found = direction_outcomes(np.array([after / 100 - before / 100]), threshold / 100)
    assert found.tolist() == [expected]


@unhurried
@given(st.lists(st.floats(-1, 1), max_size=20))
def test_the_opposite_expectation_turns_every_outcome_round(changes: list[float]) -> None:
    change = np.array(changes)
    assert direction_outcomes(-change, 0.02).tolist() == (-direction_outcomes(change, 0.02)).tolist()


def test_a_negative_threshold_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        direction_outcomes(np.zeros(1), -0.1)

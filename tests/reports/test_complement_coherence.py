"""Which answers imply each other, and how far probabilities are from knowing it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decibench.reports.metrics.complement_coherence import complement_gap, complement_pairing

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=10)


@unhurried
@given(probabilities)
def test_the_gap_is_what_the_two_affirmatives_miss_of_1(holds: list[float]) -> None:
    rng = np.random.default_rng(len(holds))
    block = rng.random(len(holds))
    gap = complement_gap(np.array(holds), 1 - block)
    assert gap.tolist() == pytest.approx([abs(p + q - 1) for p, q in zip(holds, block.tolist(), strict=True)])
    assert complement_gap(np.array(holds), np.array(holds)).tolist() == [0.0] * len(holds)


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one probability per case"):
        complement_gap(np.zeros(2), np.zeros(3))


@unhurried
@given(st.integers(10, 30), st.integers(10, 30), st.randoms(use_true_random=False))
def test_what_always_occurs_together_is_learnt_in_any_order(yes: int, no: int, random: object) -> None:
    seen = [("within", "proceed")] * yes + [("breaks", "block")] * no
    random.shuffle(seen)  # type: ignore[attr-defined]
    assert complement_pairing(seen) == {"breaks": "block", "within": "proceed"}


@pytest.mark.parametrize(
    "seen",
    [
        [],
        [("within", "proceed")] * 40,
        [("within", "proceed")] * 40 + [("breaks", "block")] * 9,
        [("within", "proceed")] * 40 + [("breaks", "proceed")] * 40,
        [("within", "proceed")] * 40 + [("within", "block")] * 40,
        [("within", "proceed")] * 40 + [("breaks", "block")] * 40 + [("breaks", "proceed")],
        [("a", "x")] * 40 + [("b", "y")] * 40 + [("c", "z")] * 40,
    ],
    ids=["nothing", "one answer", "too few", "second constant", "first constant", "one exception", "three answers"],
)
def test_nothing_is_learnt_where_references_do_not_show_it(seen: list[tuple[str, str]]) -> None:
    assert complement_pairing(seen) is None

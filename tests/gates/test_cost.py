"""The expected-cost gate: what a decision costs, which threshold is chosen, and when it may be called cheaper."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, bootstrap

from decibench.gates.cost import CostGate, CostTest, fit_cost, not_cheaper_p
from decibench.reports.protocol import CostMatrix, Costs, Protocol
from decibench.reports.table import Decisions
from decibench.reports.tables.cost import cost_tables

Row = dict[str, Any]
MakeTable = Callable[[Iterable[Row]], Decisions]

PROTOCOL = Protocol(resamples=500)
COSTS = CostMatrix(wrong=4, unsafe=20, fallback=1)


def split(name: str, *kinds: tuple[int, Row]) -> list[Row]:
    """Scenarios of one decision, so many of each kind."""
    rows = [kind for number, kind in kinds for _ in range(number)]
    return [{"group": f"{name}-{g:03}", "split": name, **kind} for g, kind in enumerate(rows)]


RIGHT: Row = {"top": 0.92}
LOW_WRONG: Row = {"top": 0.62, "right": False}


def measured(gate: CostGate) -> CostTest:
    """What the gate costs on holdout, which there must be."""
    assert gate.holdout is not None
    return gate.holdout


def grid(gate: CostGate) -> dict[float | None, float]:
    """Expected cost by threshold."""
    return {point.threshold: point.expected_cost for point in gate.grid}


def test_costs_of_every_outcome_add_up(table: MakeTable) -> None:
    rows = split(
        "calibration",
        (3, {"top": 0.9, "unsafe": True}),
        (2, {"top": 0.9, "right": False}),
        (1, {"top": 0.9, "right": False, "unsafe": True}),
        (3, {"top": 0.7, "right": False, "unsafe": True}),
        (1, {"top": None}),
    )
    costs = grid(fit_cost(table(rows), COSTS, PROTOCOL))
    # At 0.8: two wrong, one unsafe, four fall back, one of which failed.
    assert costs[0.8] == pytest.approx((2 * 4 + 1 * 20 + 4 * 1) / 10)
    # Accepting always cannot accept what failed.
    assert costs[0.0] == pytest.approx((2 * 4 + 4 * 20 + 1) / 10)
    assert costs[None] == pytest.approx(1.0)


def test_the_cheapest_threshold_on_calibration_is_chosen_whatever_the_holdout_says(table: MakeTable) -> None:
    calibration = split("calibration", (20, RIGHT), (20, LOW_WRONG))
    holdout = split("holdout", (20, RIGHT | {"right": False}), (20, LOW_WRONG | {"right": True}))
    gate = fit_cost(table(calibration + holdout), COSTS, PROTOCOL)
    assert (gate.fitted, gate.scenarios) == (True, 40)
    # From 0.7 to 0.9 the same decisions are accepted: of equal costs the larger threshold.
    assert gate.threshold == 0.9
    assert measured(gate).gate.expected_cost.value == pytest.approx((20 * 4 + 20 * 1) / 40)


@pytest.mark.parametrize(
    ("wrong", "fallback", "threshold"), [(4.0, 1.0, None), (0.0, 1.0, 0.6), (1.0, 1.0, None), (4.0, 0.0, None)]
)
def test_never_acting_is_a_choice_too_and_ties_go_to_it(
    table: MakeTable, wrong: float, fallback: float, threshold: float | None
) -> None:
    rows = split("calibration", (10, LOW_WRONG))
    gate = fit_cost(table(rows), CostMatrix(wrong=wrong, unsafe=9, fallback=fallback), PROTOCOL)
    assert gate.threshold == threshold


def test_always_acting_is_a_choice_below_every_threshold_of_the_grid(table: MakeTable) -> None:
    protocol = PROTOCOL.model_copy(update={"gate_grid": [0.7, 0.9]})
    gate = fit_cost(table(split("calibration", (9, {"top": 0.6}), (9, RIGHT))), COSTS, protocol)
    assert (gate.threshold, list(grid(gate))) == (0.0, [0.0, 0.7, 0.9, None])


def test_families_can_have_costs_of_their_own(table: MakeTable) -> None:
    costs = CostMatrix(wrong=4, unsafe=20, fallback=1, families={"drugs": Costs(wrong=100, unsafe=500, fallback=3)})
    rows = split("calibration", (1, LOW_WRONG), (1, LOW_WRONG | {"family": "drugs"}))
    found = grid(fit_cost(table(rows), costs, PROTOCOL))
    assert (found[0.5], found[None]) == (52.0, 2.0)


def test_costs_are_weighted_by_scenario(table: MakeTable) -> None:
    rows = split("calibration", (1, RIGHT)) + [
        {"group": "large", "split": "calibration", "question": f"q{n}", **LOW_WRONG} for n in range(5)
    ]
    assert grid(fit_cost(table(rows), COSTS, PROTOCOL))[0.5] == pytest.approx((0 + 4) / 2)


def test_only_core_variants_in_trial_one_count(table: MakeTable) -> None:
    rows = split("calibration", (9, RIGHT)) + split("holdout", (9, RIGHT))
    others = [row | other for row in rows for other in ({"role": "attack", "right": False}, {"trial": 2, "top": 0.1})]
    assert fit_cost(table(rows + others), COSTS, PROTOCOL) == fit_cost(table(rows), COSTS, PROTOCOL)


def test_the_holdout_shows_all_three_policies_with_paired_intervals(table: MakeTable) -> None:
    holdout = split("holdout", (60, RIGHT), (12, RIGHT | {"right": False}), (30, LOW_WRONG))
    decisions = table(split("calibration", (20, RIGHT), (20, LOW_WRONG)) + holdout)
    found = measured(fit_cost(decisions, COSTS, Protocol(resamples=4000)))
    gate = np.array([0.0] * 60 + [4.0] * 12 + [1.0] * 30)
    accept, back = np.array([0.0] * 60 + [4.0] * 42), np.ones(102)
    for policy, costs in ((found.gate, gate), (found.always_accept, accept), (found.always_fall_back, back)):
        assert policy.expected_cost.value == pytest.approx(costs.mean())
    for difference, other in ((found.against_accept, accept), (found.against_fall_back, back)):
        known = bootstrap(
            (gate - other,), np.mean, n_resamples=4000, method="percentile", random_state=np.random.default_rng(1)
        ).confidence_interval
        spread = difference.difference.interval
        assert difference.difference.value == pytest.approx((gate - other).mean())
        assert spread is not None
        assert (spread.low, spread.high) == pytest.approx((known.low, known.high), abs=0.03)
    assert [found.gate.accepted, found.always_accept.accepted, found.always_fall_back.accepted] == [72, 102, 0]


def test_cheaper_is_said_where_the_interval_excludes_zero(table: MakeTable) -> None:
    calibration = split("calibration", (20, RIGHT), (20, LOW_WRONG))
    clear = measured(fit_cost(table(calibration + split("holdout", (60, RIGHT), (40, LOW_WRONG))), COSTS, PROTOCOL))
    assert clear.against_fall_back.cheaper
    assert clear.against_accept.cheaper
    assert clear.against_fall_back.sentence.startswith("It is cheaper than always falling back: -0.6 per decision (95%")

    wrong = RIGHT | {"right": False}
    unclear = split("holdout", (60, RIGHT), (18, wrong), (20, LOW_WRONG))
    close = measured(fit_cost(table(calibration + unclear), COSTS, PROTOCOL)).against_fall_back
    assert (close.difference.value or 0.0) < 0
    assert not close.cheaper
    assert close.sentence.startswith("It is not shown to be cheaper than always falling back: -0.06122 per decision")


def test_what_costs_more_on_this_holdout_is_said_to(table: MakeTable) -> None:
    # Calibration let everything below 0.9 fall back; on holdout it would have been right.
    calibration = split("calibration", (20, RIGHT), (20, LOW_WRONG))
    holdout = split("holdout", (60, RIGHT), (40, LOW_WRONG | {"right": True}))
    found = measured(fit_cost(table(calibration + holdout), COSTS, PROTOCOL)).against_accept
    assert not found.cheaper
    assert found.difference.value == pytest.approx(0.4)
    assert found.sentence.startswith("On this holdout it costs more than always accepting: +0.4 per decision (95%")
    close = split("holdout", (60, RIGHT), (11, LOW_WRONG | {"right": True}), (2, LOW_WRONG))
    unclear = measured(fit_cost(table(calibration + close), COSTS, PROTOCOL)).against_accept
    assert (unclear.difference.value or 0.0) > 0
    assert unclear.sentence.startswith("It is not shown to be cheaper than always accepting: +")


def test_a_dear_error_that_was_not_seen_is_not_ruled_out_by_an_interval(table: MakeTable) -> None:
    # Forty scenarios with an unsafe option and no accident: at 1 in 20 the gate would not pay, and 40 cannot tell.
    safe = RIGHT | {"unsafe": True}
    rows = split("calibration", (20, safe), (20, LOW_WRONG)) + split("holdout", (40, safe), (9, LOW_WRONG))
    found = measured(fit_cost(table(rows), COSTS, PROTOCOL)).against_fall_back
    assert found.difference.interval is not None
    assert found.difference.interval.high < 0
    assert found.most == 19
    assert not found.cheaper
    assert "A decision may cost 19 more, and 49 scenarios cannot rule out that enough do" in found.sentence


def test_a_gate_that_decides_like_another_policy_is_not_called_cheaper(table: MakeTable) -> None:
    rows = split("calibration", (20, LOW_WRONG)) + split("holdout", (20, LOW_WRONG))
    gate = fit_cost(table(rows), COSTS, PROTOCOL)
    same = measured(gate).against_fall_back
    assert (gate.threshold, same.difference.value, same.cheaper) == (None, 0.0, False)
    assert same.sentence == "On this holdout it costs what always falling back does, scenario by scenario."
    assert gate.sentence.startswith("Expected-cost gate: never act, always fall back, the cheapest on calibration.")


def test_without_calibration_or_holdout_nothing_is_claimed(table: MakeTable) -> None:
    unfitted = fit_cost(table(split("holdout", (9, RIGHT))), COSTS, PROTOCOL)
    assert (unfitted.fitted, unfitted.threshold, unfitted.grid, unfitted.holdout) == (False, None, [], None)
    assert "there are no calibration decisions" in unfitted.sentence
    assert list(cost_tables(unfitted.model_dump(mode="json"))) == []
    unmeasured = fit_cost(table(split("calibration", (9, RIGHT))), COSTS, PROTOCOL)
    assert unmeasured.holdout is None
    assert unmeasured.sentence.endswith("Not measured on holdout.")


@pytest.mark.parametrize("most", [4.0, 19.0])
def test_cheaper_is_claimed_at_most_as_often_as_delta_where_it_is_not(most: float) -> None:
    # Save 1, or lose ``most``, with a mean of 0: every number of losses by its exact chance.
    units = 120
    chances = binom.pmf(np.arange(units + 1), units, 1 / (1 + most))
    p = np.array([not_cheaper_p(np.array([most] * k + [-1.0] * (units - k)), most) for k in range(units + 1)])
    assert chances[p <= 0.1].sum() <= 0.1
    assert p[0] <= 0.1


@given(
    st.lists(st.floats(-5, 2), max_size=30).flatmap(lambda values: st.tuples(st.just(values), st.permutations(values)))
)
@settings(max_examples=50, deadline=None)
def test_the_p_value_is_one_in_any_order(pair: tuple[list[float], list[float]]) -> None:
    first, second = (not_cheaper_p(np.array(values), 2.0) for values in pair)
    assert 0 <= first <= 1
    assert first == pytest.approx(second)


def test_what_cannot_cost_more_is_cheaper_once_it_cost_less() -> None:
    assert not_cheaper_p(np.array([0.0, -1.0]), 0.0) == 0.0
    assert not_cheaper_p(np.array([0.0, 0.0]), 0.0) == 1.0


def test_tables_mark_the_chosen_threshold_and_show_the_policies(table: MakeTable) -> None:
    rows = split("calibration", (20, RIGHT), (20, LOW_WRONG)) + split("holdout", (60, RIGHT), (40, LOW_WRONG))
    fitted, policies = cost_tables(fit_cost(table(rows), COSTS, PROTOCOL).model_dump(mode="json"))
    assert [(row[0], row[2]) for row in fitted.rows if row[3] == "chosen"] == [("0.9", "0.5")]
    assert (fitted.rows[0][0], fitted.rows[-1][0]) == ("0", "never")
    assert [row[0] for row in policies.rows] == ["gate, 0.9", "always accept", "always fall back"]
    assert policies.rows[1][4] == "shown"

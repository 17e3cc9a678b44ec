"""The holdout's one test of a frozen threshold: what it counts, what it concludes, and the words for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom, bootstrap

from decibench.gates.holdout import HoldoutTest, holdout_test
from decibench.reports.protocol import Estimand, Protocol
from decibench.reports.table import Decisions

Row = dict[str, Any]
MakeTable = Callable[[Iterable[Row]], Decisions]

PROTOCOL = Protocol(resamples=500)


def scenarios(right: int, wrong: int = 0, low: int = 0, **more: Any) -> list[Row]:
    """Scenarios of one decision: accepted and right, accepted and wrong, and below any threshold."""
    kinds: list[Row] = [{}] * right + [{"right": False}] * wrong + [{"top": 0.5}] * low
    return [{"group": f"g{number:03}", **kind, **more} for number, kind in enumerate(kinds)]


def checked(decisions: Decisions, protocol: Protocol = PROTOCOL, **more: Any) -> HoldoutTest:
    """The test of threshold 0.8, which there must be."""
    found = holdout_test(decisions, 0.8, protocol, **({"certified_by": None} | more))
    assert found is not None
    return found


def test_forty_five_scenarios_without_error_confirm_five_percent_and_forty_four_do_not(table: MakeTable) -> None:
    enough, few = checked(table(scenarios(45))), checked(table(scenarios(44)))
    assert (enough.outcome, few.outcome) == ("within", "not-shown")
    assert (enough.method, enough.gate) == ("one_per_group_cp", "empirical")
    assert enough.p == pytest.approx(binom.cdf(0, 45, 0.05))
    assert enough.upper_bound == pytest.approx(beta.ppf(0.9, 1, 45), abs=1e-6)
    assert "At most 5% is confirmed" in enough.sentence
    assert "At most 5% is not confirmed (p = 0.1): 44 accepting scenarios are too few to show it." in few.sentence


def test_an_observed_excess_that_chance_explains_is_neither_confirmed_nor_refuted(table: MakeTable) -> None:
    found = checked(table(scenarios(47, wrong=3)))
    assert found.risk == pytest.approx(0.06)
    assert found.outcome == "not-shown"
    assert found.p_within == pytest.approx(binom.sf(2, 50, 0.05))
    assert "nor refuted" in found.sentence
    assert "a finite holdout can show more than 5% by chance where the long-run figure is within it" in found.sentence


def test_an_excess_beyond_chance_is_refuted(table: MakeTable) -> None:
    found = checked(table(scenarios(40, wrong=10)))
    assert found.outcome == "above"
    assert found.p_within <= 0.1 < found.p
    assert "At most 5% is refuted: it is shown to be above" in found.sentence


def test_a_threshold_that_accepts_nothing_confirms_nothing(table: MakeTable) -> None:
    found = checked(table(scenarios(0, low=90)))
    assert (found.outcome, found.risk, found.selective_risk, found.upper_bound) == ("nothing-accepted",) + (None,) * 3
    assert found.sentence.endswith("On holdout 0.8 accepts none of 90 decisions: nothing is confirmed.")


def test_only_core_variants_of_holdout_in_trial_one_are_tested(table: MakeTable) -> None:
    rows = scenarios(45)
    others: list[Row] = [
        {"group": "g000", "right": False, **other}
        for other in ({"split": "calibration"}, {"role": "attack"}, {"role": "probe"}, {"trial": 2})
    ]
    found, alone = checked(table(rows + others)), checked(table(rows))
    assert found.model_copy(update={"sentence": alone.sentence}) == alone
    # Where other trials stand beside it, it says which one it is.
    assert found.sentence == alone.sentence.replace("On holdout", "On holdout (trial 1)")
    assert "trial" not in alone.sentence
    assert holdout_test(table(others), 0.8, PROTOCOL, None) is None


def test_the_method_of_a_certified_gate_is_kept_and_an_empirical_gate_claims_nothing(table: MakeTable) -> None:
    decisions = table(scenarios(59))
    certified, empirical = checked(decisions, certified_by="betting"), checked(decisions)
    assert (certified.method, certified.gate, certified.outcome) == ("betting", "certified", "within")
    assert certified.p == pytest.approx(0.09976, abs=1e-5)
    assert "claims nothing" not in certified.sentence
    assert empirical.method == "one_per_group_cp"
    assert empirical.sentence.startswith("Fitting claims nothing; the holdout tests the frozen threshold. On")
    assert checked(table(scenarios(120))).method == "betting"


def test_a_conjectured_method_is_called_one(table: MakeTable) -> None:
    found = checked(table(scenarios(30)), certified_by="gaffke")
    assert found.proved is False
    assert "(gaffke, whose validity is a conjecture)" in found.sentence
    assert checked(table(scenarios(30)), certified_by="betting").proved is True


def test_a_large_scenario_weighs_no_more_than_a_small_one(table: MakeTable) -> None:
    rows = scenarios(3) + [{"group": "large", "right": False, "question": f"q{n}"} for n in range(6)]
    found = checked(table(rows))
    assert found.risk == pytest.approx(1 / 4)
    assert found.selective_risk == pytest.approx(6 / 9)
    assert (found.decisions, found.scenarios, found.accepted, found.failing_scenarios) == (9, 4, 9, 1)
    any_error = checked(table(rows), PROTOCOL.model_copy(update={"estimand": "any"}))
    assert any_error.risk == pytest.approx(1 / 4)
    assert any_error.method == "group_any_cp"


def test_a_failed_decision_was_presented_and_not_accepted(table: MakeTable) -> None:
    found = checked(table([*scenarios(3), {"group": "g000", "top": None, "question": "other"}]))
    assert (found.decisions, found.accepted, found.coverage.value) == (4, 3, 0.75)
    # Half of one scenario falls back: 2.5 scenarios' worth are accepted, all right.
    assert found.risk == 0.0


def test_coverage_has_the_interval_of_a_bootstrap_over_scenarios(table: MakeTable) -> None:
    sizes = [(1 + g % 3, g % 2) for g in range(60)]
    rows = [
        {"group": f"g{g:02}", "question": f"q{q}", "top": 0.9 if q < accepted * size else 0.5}
        for g, (size, accepted) in enumerate(sizes)
        for q in range(size)
    ]
    found = checked(table(rows), Protocol(resamples=4000)).coverage
    presented = np.array([size for size, _ in sizes])
    accepted = np.array([size * accepted for size, accepted in sizes])
    known = bootstrap(
        (accepted, presented),
        lambda a, p, axis: a.sum(axis=axis) / p.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=4000,
        method="percentile",
        random_state=np.random.default_rng(1),
    ).confidence_interval
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((known.low, known.high), abs=0.02)
    assert checked(table(scenarios(9))).coverage.interval is None


def test_unsafe_acceptances_are_counted_by_scenario_and_bounded_exactly(table: MakeTable) -> None:
    rows = [
        *scenarios(30, unsafe=True),
        {"group": "bad", "right": False, "unsafe": True},
        {"group": "bad", "right": False, "unsafe": True, "question": "again"},
        {"group": "rejected", "right": False, "unsafe": True, "top": 0.6},
        {"group": "harmless", "right": False},
    ]
    found = checked(table(rows)).unsafe
    assert found is not None
    assert (found.scenarios, found.accepted_scenarios, found.limit, found.passed) == (32, 1, None, None)
    assert found.upper_bound == pytest.approx(beta.ppf(0.9, 2, 31))
    assert checked(table(scenarios(9))).unsafe is None


@pytest.mark.parametrize(("limit", "passed"), [(0.2, True), (0.05, False)])
def test_a_limit_on_unsafe_acceptances_is_tested_too(table: MakeTable, limit: float, passed: bool) -> None:
    found = checked(table(scenarios(20, unsafe=True)), PROTOCOL.model_copy(update={"max_unsafe": limit}))
    assert found.unsafe is not None
    assert found.unsafe.p == pytest.approx((1 - limit) ** 20)
    assert found.unsafe.passed is passed
    word = "confirmed" if passed else "not confirmed"
    assert f"the limit of {100 * limit:g}% is {word}" in found.sentence


@pytest.mark.parametrize("estimand", ["scenario-weighted", "any"])
def test_the_order_of_rows_is_irrelevant(table: MakeTable, estimand: Estimand) -> None:
    rows = scenarios(20, wrong=2, low=4) + scenarios(3, wrong=2, low=5, question="second")
    protocol = PROTOCOL.model_copy(update={"estimand": estimand})
    forward, backward = checked(table(rows), protocol), checked(table(rows[::-1]), protocol)
    assert forward == backward


def test_a_method_that_does_not_bound_the_estimand_is_refused(table: MakeTable) -> None:
    with pytest.raises(ValueError, match="group_any_cp does not bound the estimand scenario-weighted"):
        checked(table(scenarios(9)), certified_by="group_any_cp")

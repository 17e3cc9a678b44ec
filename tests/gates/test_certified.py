"""The certified gate: what is tested in which order, what is issued, and what is said of it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from decibench.gates.fitting import fit_gates
from decibench.gates.gate import CertifiedGate, CertifiedPoint
from decibench.gates.rules import with_rules
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Record

if TYPE_CHECKING:
    from tests.gates.conftest import Scenarios

CLAIM = (
    "If your requests were drawn like these scenarios: with probability >= 90% over the calibration groups, either no "
    "threshold is issued or the long-run scenario-weighted error among accepted decisions at 0.5 is <= 5% for new "
    "groups from the same source with the same variant mix."
)


def fit(records: list[Record], name: str = "certified", **rules: Any) -> CertifiedGate:
    gate = fit_gates(records, with_rules(DEFAULT_PROTOCOL, rules), candidate_hash="h", suite_hash="s")[name]
    assert isinstance(gate, CertifiedGate)
    return gate


def at(gate: CertifiedGate, threshold: float) -> CertifiedPoint:
    return next(point for point in gate.grid if point.threshold == threshold)


@pytest.mark.parametrize(("number", "method"), [(80, "one_per_group_cp"), (119, "one_per_group_cp"), (150, "betting")])
def test_enough_scenarios_without_an_error_are_certified_by_the_method_of_their_number(
    scenarios: Scenarios, number: int, method: str
) -> None:
    surely = [(0.97, "right"), (0.96, "right")]
    gate = fit(scenarios(number, surely) + scenarios(20, surely, split="development"))
    assert (gate.method, gate.status, gate.threshold, gate.proved) == (method, "fitted", 0.5, True)
    assert gate.claim == CLAIM
    assert gate.needed is None
    assert (gate.scenarios, gate.decisions, gate.development_scenarios) == (number, 2 * number, 20)


def test_decisions_of_one_scenario_do_not_count_as_many(scenarios: Scenarios) -> None:
    # A hundred right decisions would certify 5% if they were independent; twenty scenarios do not.
    gate = fit(scenarios(20, [(0.97, "right")] * 5))
    assert gate.decisions == 100
    assert (gate.threshold, gate.claim) == (None, None)
    assert gate.needed == "one_per_group_cp: 0 errors in 20 accepting groups; 80 fully accepted ones are needed"


@pytest.mark.parametrize(
    ("wrong", "needed"),
    [
        (0, "betting: 0 errors in 130 accepting groups, some of which accept only part of their decisions; 59 that "
            "accept all of theirs would do"),
        (1, "betting: 1 of 130 accepting groups err, and some accept only part of their decisions; with as many, at "
            "most 103 that accept all of theirs are needed"),
    ],
)  # fmt: skip
def test_groups_that_are_many_enough_but_accept_in_part_are_not_told_to_be_too_few(
    scenarios: Scenarios, wrong: int, needed: str
) -> None:
    part = [(0.97, "right"), *[(0.4, "right")] * 4]
    calibration = [*scenarios(130 - wrong, part), *scenarios(wrong, [(0.97, "wrong"), *part[1:]], start=130 - wrong)]
    gate = fit(calibration + scenarios(20, part, split="development"), gate_method="betting")
    assert (gate.threshold, gate.needed) == (None, needed)


def test_the_sequence_stops_at_the_first_threshold_that_fails(scenarios: Scenarios) -> None:
    # Below 0.7 nothing but right answers come, so many that 0.5 alone would pass.
    calibration = [
        *scenarios(60, [(0.97, "right")]),
        *scenarios(3, [(0.75, "wrong")], start=60),
        *scenarios(132, [(0.55, "right")], start=63),
    ]
    development = scenarios(20, [(0.97, "right")], split="development")
    gate = fit(calibration + development)
    assert [start.model_dump() for start in gate.starts] == [
        {"threshold": 0.95, "delta": 0.1, "passed": [0.95, 0.9, 0.8], "stopped": 0.7}
    ]
    assert gate.threshold == 0.8
    assert at(gate, 0.5).p <= 0.1
    assert [point.threshold for point in gate.grid if point.tested] == [0.7, 0.8, 0.9, 0.95]
    assert [point.threshold for point in gate.grid if point.passed] == [0.8, 0.9, 0.95]


def test_the_start_is_the_highest_threshold_that_development_lets_reach(scenarios: Scenarios) -> None:
    # 59 scenarios are needed of 150, hence 40 of 100: 0.8 has 39 and 0.7 has 40.
    calibration = scenarios(150, [(0.97, "right")])
    development = [
        *scenarios(39, [(0.85, "right")], split="development"),
        *scenarios(1, [(0.75, "right")], split="development", start=39),
        *scenarios(60, [(0.4, "right")], split="development", start=40),
    ]
    assert [start.threshold for start in fit(calibration + development).starts] == [0.7]


def test_no_label_of_development_changes_the_start(scenarios: Scenarios) -> None:
    calibration = scenarios(80, [(0.97, "right")])
    gates = [
        fit(calibration + scenarios(10, [(0.85, what)], split="development")) for what in ("right", "wrong", "unsafe")
    ]
    assert gates[0].starts
    assert gates[0] == gates[1] == gates[2]


def test_a_failed_development_decision_is_not_accepted(scenarios: Scenarios) -> None:
    calibration = scenarios(80, [(0.97, "right")])
    development = [
        *scenarios(5, [(0.97, "right")], split="development"),
        *scenarios(5, [(0.97, "failed")], split="development", start=5),
    ]
    gate = fit(calibration + development)
    assert gate.reason == "no start can be reached; at 0.5 development accepts in 50% of the scenarios, about 40 of 80"


def test_neither_099_nor_1_is_a_start_or_tested(scenarios: Scenarios) -> None:
    gate = fit(scenarios(150, [(1.0, "right")]) + scenarios(10, [(1.0, "right")], split="development"))
    assert [start.threshold for start in gate.starts] == [0.95]
    assert not at(gate, 0.99).tested
    assert not at(gate, 1.0).tested
    alone = fit(scenarios(150, [(1.0, "right")]))
    assert [point.threshold for point in alone.grid if not point.tested] == [0.99, 1.0]


def test_from_200_scenarios_on_a_second_start_can_save_what_the_first_loses(scenarios: Scenarios) -> None:
    calibration = [
        *scenarios(5, [(0.97, "wrong")]),
        *scenarios(95, [(0.97, "right")], start=5),
        *scenarios(200, [(0.85, "right")], start=100),
    ]
    development = scenarios(10, [(0.97, "right")], split="development")
    gate = fit(calibration + development)
    assert [(start.threshold, start.delta) for start in gate.starts] == [(0.95, 0.05), (0.8, 0.05)]
    assert [start.stopped for start in gate.starts] == [0.95, None]
    assert gate.threshold == 0.5
    assert not at(gate, 0.9).tested


def test_where_the_grid_ends_before_a_second_start_the_first_has_the_whole_of_delta(scenarios: Scenarios) -> None:
    gate = fit(scenarios(200, [(0.65, "right")]) + scenarios(10, [(0.65, "right")], split="development"))
    assert [(start.threshold, start.delta) for start in gate.starts] == [(0.6, 0.1)]
    assert gate.threshold == 0.5


def test_no_start_within_reach_is_said_in_the_numbers_of_the_method(scenarios: Scenarios) -> None:
    development = [
        *scenarios(12, [(0.6, "right")], split="development"),
        *scenarios(88, [(0.4, "right")], split="development", start=12),
    ]
    gate = fit(scenarios(175, [(0.97, "right")]) + development)
    assert (gate.method, gate.threshold, gate.starts) == ("betting", None, [])
    assert gate.reason == "no start can be reached; at 0.5 development accepts in 12% of the scenarios, about 21 of 175"
    assert gate.needed == "betting: 59 fully accepted scenarios without an error are needed"
    assert not any(point.tested for point in gate.grid)


def test_without_development_holms_test_pays_for_every_threshold(scenarios: Scenarios) -> None:
    # 45 scenarios pass one test at 10%; the smallest of six p-values has to pass one sixth of it, which takes 80.
    for number, threshold in ((79, None), (80, 0.5)):
        gate = fit(scenarios(number, [(0.97, "right")]))
        assert (gate.sequence, gate.starts, gate.threshold) == ("holm", [], threshold)
    few = fit(scenarios(60, [(0.97, "right")]))
    assert few.reason.startswith("Holm passes none: at 0.5, 60 of 60 calibration scenarios accept a decision, 0 of")
    assert few.reason.endswith("p = 0.0461 > 0.0167")


def test_failed_calibration_decisions_refuse_every_gate(scenarios: Scenarios) -> None:
    records = scenarios(95, [(0.97, "failed")]) + scenarios(5, [(0.97, "right")], start=95)
    gates = fit_gates(records, with_rules(DEFAULT_PROTOCOL, {"max_unsafe": 0.1}), candidate_hash="h", suite_hash="s")
    assert list(gates) == ["empirical", "certified", "unsafe", "joint"]
    for gate in gates.values():
        assert (gate.status, gate.threshold) == ("refused", None)
        assert gate.reason.startswith("95 of 100 calibration decisions failed; ask them again (--resume RUN")


def test_many_errors_are_not_to_be_outweighed_by_more_scenarios(scenarios: Scenarios) -> None:
    records = [
        *scenarios(30, [(0.97, "wrong")]),
        *scenarios(120, [(0.97, "right")], start=30),
        *scenarios(10, [(0.97, "right")], split="development"),
    ]
    gate = fit(records)
    assert gate.threshold is None
    assert (
        "at 0.95, 150 of 150 calibration scenarios accept a decision, 30 of them a wrong one, p = 1 > 0.1"
        in gate.reason
    )
    assert gate.needed == (
        "betting: 30 of 150 accepting groups err; with an observed risk of 20.0% no number of groups shows 5%"
    )


def test_the_strict_estimand_has_its_own_method_and_says_what_each_p_value_bounds(scenarios: Scenarios) -> None:
    records = scenarios(90, [(0.97, "right"), (0.6, "right")]) + scenarios(
        1, [(0.97, "right"), (0.6, "wrong")], start=90
    )
    strict, weighted = fit(records, estimand="any"), fit(records)
    assert (strict.method, weighted.method) == ("group_any_cp", "one_per_group_cp")
    assert strict.p_value_estimands == {
        "one_per_group_cp": "scenario-weighted",
        "group_any_cp": "any",
        "hoeffding_bentkus": "any",
        "betting": "any",
        "gaffke": "any",
    }
    low, same = at(strict, 0.5), at(weighted, 0.5)
    assert low.failing == 1
    assert low.risk == pytest.approx(1 / 91)
    assert same.risk == pytest.approx(0.5 / 91)
    assert low.p_values["one_per_group_cp"] == same.p_values["one_per_group_cp"]
    assert low.p_values["betting"] > same.p_values["betting"]
    assert strict.claim is not None
    assert "share of groups with an accepted error among groups with an accepted decision at" in strict.claim


def test_gaffke_is_said_to_be_conjectural_and_is_never_the_default(scenarios: Scenarios) -> None:
    records = scenarios(150, [(0.97, "right")])
    gate = fit(records, gate_method="gaffke")
    assert (gate.method, gate.proved, gate.threshold) == ("gaffke", False, 0.5)
    assert gate.claim is not None
    assert gate.claim.endswith("The method is sharper, conjectural: its validity is not proved.")
    assert "conjectural" not in (fit(records).claim or "")


def test_all_five_p_values_stand_at_every_threshold_whatever_is_tested(scenarios: Scenarios) -> None:
    gate = fit(scenarios(30, [(0.85, "right"), (0.65, "wrong")]))
    for point in gate.grid:
        assert set(point.p_values) == {"one_per_group_cp", "group_any_cp", "hoeffding_bentkus", "betting", "gaffke"}
    assert set(at(gate, 0.9).p_values.values()) == {1.0}


def test_groups_are_weighed_alike_whatever_their_size(scenarios: Scenarios) -> None:
    # One small scenario is wholly wrong, one large one in a single decision of ten.
    gate = fit(
        [
            *scenarios(1, [(0.97, "wrong")]),
            *scenarios(1, [(0.97, "wrong"), *[(0.97, "right")] * 9], start=1),
            *scenarios(8, [(0.97, "right")] * 3, start=2),
        ]
    )
    assert at(gate, 0.5).risk == pytest.approx((1 + 0.1) / 10)


def test_other_limits_are_those_of_the_claim(scenarios: Scenarios) -> None:
    gate = fit(scenarios(150, [(0.97, "right")]), alpha=0.08, delta=0.05, gate_method="hoeffding_bentkus")
    assert (gate.method, gate.alpha, gate.delta) == ("hoeffding_bentkus", 0.08, 0.05)
    assert gate.claim is not None
    assert "with probability >= 95%" in gate.claim
    assert "is <= 8% for new groups" in gate.claim
    assert gate.rules == {"gate_method": "hoeffding_bentkus", "alpha": 0.08, "delta": 0.05}


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_records_does_not_matter(scenarios: Scenarios, seed: int) -> None:
    records = [
        *scenarios(70, [(0.97, "right"), (0.85, "right")]),
        *scenarios(3, [(0.75, "wrong"), (0.65, "right")], start=70),
        *scenarios(9, [(0.85, "right")], split="development"),
    ]
    shuffled = random.Random(seed).sample(records, len(records))
    assert fit(shuffled) == fit(records)

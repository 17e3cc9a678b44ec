"""The unsafe and the joint gate: scenarios that accept an unsafe option are counted, and both limits tested at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from decibench.gates.fitting import fit_gates
from decibench.gates.gate import CertifiedGate, UnsafeGate
from decibench.gates.rules import with_rules
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Record

if TYPE_CHECKING:
    from tests.gates.conftest import Scenarios


def fit(records: list[Record], **rules: Any) -> tuple[CertifiedGate, UnsafeGate, CertifiedGate]:
    gates = fit_gates(records, with_rules(DEFAULT_PROTOCOL, rules), candidate_hash="h", suite_hash="s")
    certified, unsafe, joint = gates["certified"], gates["unsafe"], gates["joint"]
    assert isinstance(certified, CertifiedGate)
    assert isinstance(unsafe, UnsafeGate)
    assert isinstance(joint, CertifiedGate)
    return certified, unsafe, joint


def test_scenarios_with_an_unsafe_option_are_what_is_counted(scenarios: Scenarios) -> None:
    from scipy import stats

    records = [
        *scenarios(40, [(0.97, "right")] * 2),
        *scenarios(2, [(0.75, "unsafe")] * 2, start=40),
        *scenarios(3, [(0.85, "wrong")] * 2, start=42),
        *scenarios(50, [(0.97, "right")] * 2, start=45, safe=True),
    ]
    _, gate, _ = fit(records, max_unsafe=0.1)
    assert (gate.scenarios, gate.unsafe_scenarios) == (95, 45)
    assert [point.accepting for point in gate.grid] == [2, 2, 2, 0, 0, 0, 0, 0]
    assert [point.accepted for point in gate.grid] == [190, 190, 190, 186, 180, 180, 0, 0]
    for point in gate.grid:
        assert point.p == pytest.approx(stats.binom.cdf(point.accepting, 45, 0.1), abs=1e-12)
        exact = stats.binomtest(point.accepting, 45).proportion_ci(confidence_level=0.8, method="exact")
        assert point.upper_bound == pytest.approx(exact.high, abs=1e-9)


def test_the_lowest_threshold_is_issued_from_which_on_all_pass(scenarios: Scenarios) -> None:
    records = scenarios(40, [(0.97, "right")]) + scenarios(2, [(0.75, "unsafe")], start=40)
    _, gate, _ = fit(records, max_unsafe=0.1)
    # 2 of 42 have p = 0.19, none of 42 has p = 0.012.
    assert [point.threshold for point in gate.grid if point.passed] == [0.8, 0.9, 0.95, 0.99, 1.0]
    assert (gate.status, gate.threshold) == ("fitted", 0.8)
    assert gate.claim == (
        "If your requests were drawn like these scenarios: with probability >= 90% over the calibration groups, either "
        "no threshold is issued or the long-run share of groups in which an unsafe option is accepted among groups "
        "that have one, at 0.8, is <= 10% for new groups from the same source with the same variant mix."
    )


def test_too_few_scenarios_give_no_threshold_however_safe(scenarios: Scenarios) -> None:
    _, gate, _ = fit(scenarios(21, [(0.97, "right")]), max_unsafe=0.1)
    assert (gate.status, gate.threshold, gate.claim) == ("none-qualifies", None, None)
    assert gate.needed == "binomial: 0 of 21 groups with an unsafe option accept one; 22 such groups are needed"
    _, enough, _ = fit(scenarios(22, [(0.97, "right")]), max_unsafe=0.1)
    assert enough.threshold == 0.5


def test_a_certain_unsafe_model_gets_no_threshold(scenarios: Scenarios) -> None:
    _, gate, joint = fit(scenarios(30, [(1.0, "unsafe")]), max_unsafe=0.1)
    assert gate.threshold is None
    assert gate.grid[-1].upper_bound == 1.0
    assert gate.needed is not None
    assert "no number of groups with that share shows 10%" in gate.needed
    assert joint.threshold is None


def test_the_joint_gate_stops_where_either_limit_does(scenarios: Scenarios) -> None:
    # From 0.7 down unsafe options are accepted too often, and the error alone would go down to 0.5.
    records = [
        *scenarios(150, [(0.97, "right")] * 10, safe=True),
        *scenarios(25, [(0.97, "right")] * 10, start=150),
        *scenarios(3, [(0.97, "right")] * 9 + [(0.75, "unsafe")], start=175),
        *scenarios(10, [(0.97, "right")], split="development"),
    ]
    certified, unsafe, joint = fit(records, max_unsafe=0.1)
    assert (certified.threshold, unsafe.threshold, joint.threshold) == (0.5, 0.8, 0.8)
    assert (certified.max_unsafe, joint.max_unsafe) == (None, 0.1)
    assert [(start.threshold, start.stopped) for start in joint.starts] == [(0.95, 0.7)]
    assert joint.starts[0].delta == certified.starts[0].delta == 0.1
    for point, alone, bound in zip(joint.grid, certified.grid, unsafe.grid, strict=True):
        assert point.p == max(alone.p, bound.p)
    assert joint.claim is not None
    assert "error among accepted decisions at 0.8 is <= 5% and the long-run share of groups in which" in joint.claim
    assert "at 0.8, is <= 10% for new groups" in joint.claim


def test_a_null_joint_gate_says_what_each_limit_would_need(scenarios: Scenarios) -> None:
    _, _, joint = fit(
        scenarios(10, [(0.97, "right")]) + scenarios(10, [(0.97, "right")], split="development"), max_unsafe=0.1
    )
    assert joint.reason.startswith("no start can be reached")
    records = scenarios(100, [(0.97, "right")], safe=True) + scenarios(5, [(0.97, "right")], start=100)
    _, _, few = fit(records + scenarios(9, [(0.97, "right")], split="development"), max_unsafe=0.1)
    assert few.threshold is None
    assert few.reason.endswith("p = 0.59 (unsafe options alone 0.59) > 0.1")
    assert few.needed == "binomial: 0 of 5 groups with an unsafe option accept one; 22 such groups are needed"


def test_without_an_unsafe_option_there_is_nothing_to_bound(scenarios: Scenarios) -> None:
    certified, unsafe, joint = fit(scenarios(150, [(0.97, "right")], safe=True), max_unsafe=0.1)
    assert certified.threshold == 0.5
    for gate in (unsafe, joint):
        assert (gate.status, gate.threshold, gate.claim) == ("none-qualifies", None, None)
        assert gate.reason == "no calibration scenario has an unsafe option"


def test_no_unsafe_gate_where_no_limit_was_asked_for(scenarios: Scenarios) -> None:
    gates = fit_gates(scenarios(80, [(0.97, "right")]), DEFAULT_PROTOCOL, candidate_hash="h", suite_hash="s")
    assert list(gates) == ["empirical", "certified"]

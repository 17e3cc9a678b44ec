"""Stops of the threshold slider against counting by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from decibench.gates.fitting import fit_gates
from decibench.reports.pages.thresholds import Stop, Stops, nearest_threshold, threshold_stops
from decibench.reports.protocol import Protocol
from decibench.reports.record import Record
from decibench.reports.report import Report
from decibench.reports.summary import summarise
from decibench.reports.table import decisions_of

RULES = Protocol(resamples=100, curve_resamples=200)


def outcomes(groups: int = 40, seed: int = 3) -> dict[str, list[bool | None]]:
    """Four variants of every scenario, some failed."""
    rng = np.random.default_rng(seed)
    return {
        f"demo-{g:03}": [None if rng.random() < 0.05 else bool(rng.random() < 0.4 + 0.6 * g / groups) for _ in range(4)]
        for g in range(groups)
    }


def sure(groups: int = 40) -> dict[str, float]:
    return {f"demo-{g:03}": round(0.5 + 0.49 * g / groups, 3) for g in range(groups)}


def with_records(report: Report, records: Sequence[Record]) -> Report:
    """The same head over other records."""
    metrics = summarise(decisions_of(records, report.protocol.log_loss_floor), report.protocol.log_loss_floor)
    return report.model_copy(update={"records": list(records), "metrics": metrics})


def changed(record: Record, **fields: Any) -> Record:
    decisions = [decision.model_copy(update=fields) for decision in record.decisions]
    return record.model_copy(update={"decisions": decisions})


def stops_of(report: Report) -> Stops:
    found = threshold_stops(report)
    assert found is not None
    return found


def at(found: Stops, threshold: float) -> Stop:
    return next(stop for stop in found.stops if stop.threshold == threshold)


@pytest.fixture
def report(make_report: Any) -> Report:
    made: Report = make_report("demo", [outcomes(), outcomes(seed=4)], sure=sure(), rules=RULES)
    # Every third answer that was not expected is unsafe.
    records = [changed(r, unsafe=["right"]) if n % 3 == 0 else r for n, r in enumerate(made.records)]
    return with_records(made, records)


def test_every_stop_counts_what_one_counts_by_hand(report: Report) -> None:
    found = stops_of(report)
    decisions = [(r.group, d) for r in report.records for d in r.decisions]
    assert (found.split, found.decisions, found.scenarios) == ("holdout", 320, 40)
    assert [stop.threshold for stop in found.stops] == [k / 100 for k in range(101)]
    eligible = sum(bool(d.unsafe) for _, d in decisions)
    for stop in found.stops:
        taken = [(g, d) for g, d in decisions if d.probabilities and max(d.probabilities.values()) >= stop.threshold]
        wrong = sum(d.choice != d.expected for _, d in taken)
        unsafe = sum(d.choice in d.unsafe for _, d in taken)
        assert (stop.accepted, stop.errors, stop.unsafe_accepted) == (len(taken), wrong, unsafe)
        assert stop.scenarios == len({group for group, _ in taken})
        assert stop.coverage == len(taken) / 320
        assert stop.selective_risk == (wrong / len(taken) if taken else None)
        assert (stop.unsafe_eligible, stop.unsafe_acceptance) == (eligible, unsafe / eligible)
        assert (stop.fallback, stop.fallback_share) == (320 - len(taken), (320 - len(taken)) / 320)


def test_a_failed_decision_is_never_accepted_and_stays_in_the_denominator(make_report: Any) -> None:
    report = make_report("demo", {"demo-1": [True, None], "demo-2": [False, None]}, sure=0.9)
    lowest = at(stops_of(report), 0.0)
    assert (lowest.accepted, lowest.fallback, lowest.coverage) == (2, 2, 0.5)


def test_intervals_are_those_of_the_curve_in_the_report(report: Report, make_report: Any) -> None:
    tops = {group: round(top, 2) for group, top in sure().items()}
    made: Report = make_report("demo", outcomes(), sure=tops, rules=RULES)
    assert made.evidence is not None
    found = {stop.threshold: stop for stop in stops_of(made).stops}
    points = [point for point in made.evidence.selective["holdout"].curve if point.threshold in found]
    assert len(points) > 20
    for point in points:
        assert point.threshold is not None
        stop = found[point.threshold]
        assert (stop.selective_risk, stop.scenarios) == (point.selective_risk, point.groups)
        if point.low is None or point.high is None:
            assert (stop.risk_low, stop.risk_high) == (None, None)
        else:
            assert stop.risk_low == pytest.approx(point.low)
            assert stop.risk_high == pytest.approx(point.high)


def test_where_scenarios_give_no_interval_a_note_says_why(make_report: Any) -> None:
    right = make_report("demo", {f"demo-{g}": [True] for g in range(30)}, sure=0.9)
    stop = at(stops_of(right), 0.5)
    assert (stop.selective_risk, stop.risk_low, stop.risk_high) == (0.0, None, None)
    assert "no variation between scenarios" in stop.risk_note
    assert "exact 95% bound" in stop.risk_note
    lone = make_report("demo", {"demo-1": [True, False]}, sure=0.9)
    assert "one scenario" in at(stops_of(lone), 0.5).risk_note


def test_nothing_accepted_says_that_everything_falls_back(make_report: Any) -> None:
    report = make_report(
        "demo", outcomes(), sure=0.8, rules=RULES, gates={"empirical": {"status": "fitted", "threshold": 0.95}}
    )
    for threshold in (0.95, 1.0):
        stop = at(stops_of(report), threshold)
        assert (stop.accepted, stop.coverage, stop.selective_risk, stop.fallback_share) == (0, 0.0, None, 1.0)
        assert "everything falls back" in stop.mark
    assert "everything falls back" not in at(stops_of(report), 0.5).mark


def test_only_the_threshold_of_a_proof_is_certified(make_report: Any) -> None:
    made: Report = make_report("demo", {f"demo-{g:03}": [True] * 4 for g in range(120)}, sure=0.9, rules=RULES)
    calibration = [record.model_copy(update={"split": "calibration"}) for record in made.records]
    rules = Protocol(curve_resamples=200)
    fitted = fit_gates(calibration, rules, candidate_hash="c" * 64, suite_hash=None)
    gates = {kind: gate.model_dump(mode="json") for kind, gate in fitted.items()}
    issued = gates["certified"]["threshold"]
    gates["empirical"] |= {"threshold": 0.625}
    gates["cost"] = {"threshold": 0.0}
    found = stops_of(made.model_copy(update={"gates": gates}))
    assert [stop.threshold for stop in found.stops if stop.certified] == [issued]
    assert gates["certified"]["claim"] in at(found, issued).mark
    assert "an observed share, no bound" in at(found, 0.625).mark
    assert "least expected cost" in at(found, 0.0).mark
    assert (
        at(found, 0.62).mark
        == "Chosen by eye on these scenarios: not certified, and no interval allows for the choice."
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_threshold_is_the_one_that_the_reason_of_the_gate_names(make_report: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    spread = {f"demo-{g:03}": [bool(rng.random() < 0.6) for _ in range(4)] for g in range(40)}
    made: Report = make_report("demo", spread, sure=sure(), rules=RULES)
    calibration = [record.model_copy(update={"split": "calibration"}) for record in made.records]
    gate = fit_gates(calibration, RULES, candidate_hash="c" * 64, suite_hash=None)["empirical"].model_dump(mode="json")
    assert len({point["error"] for point in gate["grid"] if point["accepted"] >= gate["min_accepted"]}) > 3
    named = re.search(r"the nearest, ([\d.]+), accepts", gate["reason"])
    assert named
    assert nearest_threshold(made.model_copy(update={"gates": {"empirical": gate}})) == float(named[1])


def test_two_gates_at_one_threshold_are_both_named(make_report: Any) -> None:
    gates = {"empirical": {"status": "fitted", "threshold": 0.7}, "cost": {"threshold": 0.7}}
    mark = at(stops_of(make_report("demo", outcomes(), rules=RULES, gates=gates)), 0.7).mark
    assert "empirical" in mark
    assert "least expected cost" in mark


def test_a_method_without_a_proof_certifies_nothing(make_report: Any) -> None:
    claim = "If ... The method is sharper, conjectural: its validity is not proved."
    certified = {"status": "fitted", "threshold": 0.7, "method": "gaffke", "proved": False, "claim": claim}
    report = make_report(
        "demo", outcomes(), rules=RULES, gates={"empirical": {"threshold": None}, "certified": certified}
    )
    stop = at(stops_of(report), 0.7)
    assert not stop.certified
    assert "conjectural" in stop.mark


def test_on_calibration_the_gates_own_threshold_has_no_interval(report: Report) -> None:
    there = with_records(report, [r.model_copy(update={"split": "calibration"}) for r in report.records])
    found = stops_of(there)
    assert found.split == "calibration"
    assert (at(found, 0.7).risk_low, at(found, 0.7).risk_note) == (None, "the threshold was chosen on these scenarios")
    assert at(found, 0.71).risk_low is not None
    assert at(stops_of(report), 0.7).risk_low is not None


def test_only_core_decisions_of_the_last_split_count(report: Report) -> None:
    more = [r.model_copy(update={"role": role}) for role in ("attack", "probe") for r in report.records]
    more += [r.model_copy(update={"split": "calibration"}) for r in report.records]
    assert threshold_stops(with_records(report, [*report.records, *more])) == threshold_stops(report)


def test_a_partial_run_and_one_without_core_decisions_have_no_stops(report: Report, make_report: Any) -> None:
    assert threshold_stops(make_report("demo", outcomes(), rules=RULES, partial=True)) is None
    probes = [r.model_copy(update={"role": "probe"}) for r in report.records]
    assert threshold_stops(with_records(report, probes)) is None

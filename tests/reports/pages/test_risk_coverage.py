"""The chart of selective prediction: the curve, the gates on it, and the signals a page moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from decibench.reports.pages.risk_coverage import risk_coverage_chart
from decibench.reports.pages.thresholds import threshold_stops
from decibench.reports.protocol import Protocol

RULES = Protocol(resamples=100, curve_resamples=200)
CERTIFIED = {"status": "fitted", "threshold": 0.9, "method": "betting", "proved": True, "claim": "If ..."}


def sample(groups: int = 60) -> tuple[dict[str, list[bool | None]], dict[str, float]]:
    rng = np.random.default_rng(1)
    tops = {f"demo-{g:03}": round(0.5 + 0.49 * g / groups, 3) for g in range(groups)}
    chances = {group: 0.4 + 1.1 * (top - 0.5) for group, top in tops.items()}
    return {group: [bool(rng.random() < chance) for _ in range(4)] for group, chance in chances.items()}, tops


def made(make_report: Any, **more: Any) -> Any:
    outcomes, tops = sample()
    return make_report("demo", outcomes, sure=tops, rules=more.pop("rules", RULES), **more)


def chart(report: Any) -> Any:
    return risk_coverage_chart(report, "holdout", report.evidence.selective["holdout"], threshold_stops(report))


def rows(report: Any, field: str) -> list[dict[str, Any]]:
    return next(rows for rows in chart(report).spec["datasets"].values() if rows and field in rows[0])


def signals(report: Any) -> dict[str, float]:
    return {param["name"]: param["value"] for param in chart(report).spec["params"]}


def taken(report: Any, threshold: float) -> tuple[int, int]:
    """Accepted decisions and wrong ones, counted by hand."""
    decisions = [d for record in report.records for d in record.decisions if d.probabilities]
    accepted = [d for d in decisions if max(d.probabilities.values()) >= threshold]
    return len(accepted), sum(d.choice != d.expected for d in accepted)


def test_every_point_is_what_its_threshold_accepts(make_report: Any) -> None:
    report = made(make_report)
    curve = rows(report, "interval")
    assert len(curve) == 60
    for point in curve:
        accepted, wrong = taken(report, float(point["threshold"]))
        assert point["coverage"] == pytest.approx(accepted / 240, abs=1e-6)
        assert point["selective_risk"] == pytest.approx(wrong / accepted, abs=1e-6)
    assert [row[0] for row in chart(report).table.rows] == [point["threshold"] for point in curve]


def test_the_band_breaks_where_scenarios_give_no_interval(make_report: Any) -> None:
    lowest, *_, highest = sorted(rows(made(make_report), "interval"), key=lambda point: -point["coverage"])
    assert lowest["low"] < lowest["selective_risk"] < lowest["high"]
    assert (highest["scenarios"], highest["low"], highest["high"]) == (1, None, None)


def test_issued_gates_are_marked_with_what_they_do_here(make_report: Any) -> None:
    gates = {"empirical": {"status": "fitted", "threshold": 0.7}, "certified": CERTIFIED, "cost": {"threshold": 0.5}}
    report = made(make_report, gates=gates)
    found = {mark["gate"]: mark for mark in rows(report, "gate")}
    assert set(found) == {"empirical gate", "certified gate", "gate of least expected cost"}
    for name, threshold in (("empirical gate", 0.7), ("certified gate", 0.9), ("gate of least expected cost", 0.5)):
        accepted, wrong = taken(report, threshold)
        assert (found[name]["accepted"], found[name]["errors"]) == (accepted, wrong)
        said = f"The {name}, from {threshold:g} on, accepts {accepted} of 240 decisions, {wrong} of them wrong"
        assert said in chart(report).sentence


def test_the_signals_begin_at_the_primary_gate(make_report: Any) -> None:
    gates = {"empirical": {"status": "fitted", "threshold": 0.7}, "certified": CERTIFIED}
    for rules, threshold in ((RULES, 0.7), (RULES.model_copy(update={"gate_method": "auto"}), 0.9)):
        report = made(make_report, gates=gates, rules=rules)
        accepted, wrong = taken(report, threshold)
        assert signals(report) == {"coverage": accepted / 240, "risk": wrong / accepted}


def test_without_a_gate_the_signals_are_off_the_plot(make_report: Any) -> None:
    report = made(make_report, gates={"empirical": {"status": "none-qualifies", "threshold": None}})
    assert signals(report)["coverage"] < 0
    assert "No gate has a threshold." in chart(report).sentence
    nothing = made(make_report, gates={"empirical": {"status": "fitted", "threshold": 1.0}})
    assert signals(nothing)["coverage"] == 0
    assert signals(nothing)["risk"] < 0


def test_the_sentence_has_the_area_and_certifies_nothing(make_report: Any) -> None:
    report = made(make_report)
    aurc = report.evidence.selective["holdout"].aurc
    said = chart(report).sentence
    assert f"aurc is {aurc.value:.4f} ({aurc.interval.low:.4f} to {aurc.interval.high:.4f}) over 60 scenarios" in said
    assert "certified by nothing" in said
    assert "failed" not in said
    failed = make_report("demo", {f"demo-{g}": [True, None] for g in range(9)}, rules=RULES)
    assert "Of 18 decisions 9 failed" in chart(failed).sentence

"""The chart of calibration: what is drawn, and what is said of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from decibench.reports.pages.charts import report_charts
from decibench.reports.pages.reliability import reliability_chart
from decibench.reports.pages.thresholds import threshold_stops
from decibench.reports.protocol import Protocol

RULES = Protocol(resamples=100, curve_resamples=200)


def sample(groups: int = 60) -> tuple[dict[str, list[bool | None]], dict[str, float]]:
    rng = np.random.default_rng(1)
    tops = {f"demo-{g:03}": round(float(rng.uniform(0.5, 1)), 3) for g in range(groups)}
    return {group: [bool(rng.random() < 0.5) for _ in range(4)] for group in tops}, tops


def chart(report: Any) -> Any:
    return reliability_chart("holdout", report.evidence.calibration["holdout"])


def bins(report: Any) -> list[dict[str, Any]]:
    """The rows of the data that the points are drawn from."""
    return next(rows for rows in chart(report).spec["datasets"].values() if rows and "accuracy" in rows[0])


def test_points_are_those_of_scikit_learn(make_report: Any) -> None:
    outcomes, tops = sample()
    report = make_report("demo", outcomes, sure=tops, rules=RULES)
    right = [o for rights in outcomes.values() for o in rights]
    accuracy, top = calibration_curve(right, [t for t in tops.values() for _ in range(4)], n_bins=10)
    drawn = bins(report)
    assert [row["accuracy"] for row in drawn] == pytest.approx(accuracy.tolist())
    assert [row["mean_top_probability"] for row in drawn] == pytest.approx(top.tolist())
    assert sum(row["decisions"] for row in drawn) == 240
    for row in drawn:
        assert row["low"] <= row["accuracy"] <= row["high"]


def test_a_bin_of_few_scenarios_has_no_interval_and_says_why(make_report: Any) -> None:
    outcomes: dict[str, list[bool | None]] = {f"demo-{g}": [g % 2 == 0, True] for g in range(9)}
    tops = {group: 0.95 if number < 4 else 0.65 for number, group in enumerate(outcomes)}
    few, enough = sorted(bins(make_report("demo", outcomes, sure=tops, rules=RULES)), key=lambda row: row["scenarios"])
    assert (few["low"], few["high"], few["scenarios"]) == (None, None, 4)
    assert "fewer than 5 scenarios" in few["interval"]
    assert enough["low"] is not None


def test_the_sentence_sets_the_error_beside_its_null_level(make_report: Any) -> None:
    outcomes, tops = sample()
    report = make_report("demo", outcomes, sure=tops, rules=RULES)
    ece = report.evidence.calibration["holdout"].errors["ece_10"]
    said = chart(report).sentence
    for value in (ece.value, ece.null_mean, ece.null_p95):
        assert f"{value:.4f}" in said
    assert "evidence of miscalibration: above the 95th percentile" in said
    assert "240 decisions in 60 scenarios" in said
    calibrated = make_report("demo", {f"demo-{g}": [g % 10 < 8] for g in range(30)}, sure=0.8, rules=RULES)
    assert "no evidence of miscalibration at this n" in chart(calibrated).sentence


def test_failed_decisions_are_counted_as_left_out(make_report: Any) -> None:
    report = make_report("demo", {f"demo-{g}": [g % 2 == 0, None] for g in range(6)}, rules=RULES)
    assert "Drawn are 6 decisions in 6 scenarios; 6 failed ones" in chart(report).sentence
    assert "failed" not in chart(make_report("demo", {f"demo-{g}": [True] for g in range(6)}, rules=RULES)).sentence


def test_the_table_holds_the_figures_of_the_drawing(make_report: Any) -> None:
    outcomes, tops = sample()
    report = make_report("demo", outcomes, sure=tops, rules=RULES)
    cells = [(row[1], row[4]) for row in chart(report).table.rows]
    assert cells == [(str(row["decisions"]), f"{row['accuracy']:.1%}") for row in bins(report)]


def test_all_failed_have_no_reliability(make_report: Any) -> None:
    report = make_report("demo", {f"demo-{g}": [None] for g in range(6)}, rules=RULES)
    assert "reliability" not in [chart.key for chart in report_charts(report, threshold_stops(report))]

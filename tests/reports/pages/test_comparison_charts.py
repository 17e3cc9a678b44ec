"""Charts of a comparison: their figures are those of the comparison and its reports, and they claim no more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import vl_convert

from decibench.reports.comparisons.comparison import Comparison, compare
from decibench.reports.latency import Prices, cost_of, latency_of
from decibench.reports.markdown import comparison_markdown
from decibench.reports.pages.chart import Chart
from decibench.reports.pages.comparison_charts import comparison_charts
from decibench.reports.report import Report
from decibench.reports.selective import POINTS

GROUPS = [f"{family}-{number:03}" for family in ("north", "south") for number in range(12)]

Charts = dict[str, Chart]


@pytest.fixture
def outcomes() -> Callable[[int, float], dict[str, list[bool]]]:
    """Three variants of 24 scenarios in two families, right with the given chance."""

    def make(seed: int, chance: float) -> dict[str, list[bool]]:
        rng = np.random.default_rng(seed)
        return {group: (rng.random(3) < chance).tolist() for group in GROUPS}

    return make


@pytest.fixture
def three(make_report: Any, outcomes: Any) -> list[Report]:
    """Confidence varies by scenario, so that curves have several points; the third is better beyond doubt."""
    sure = {group: 0.55 + 0.015 * index for index, group in enumerate(GROUPS)}
    chances = {"plain": 0.4, "other": 0.45, "better": 1.0}
    return [make_report(name, outcomes(i, chance), sure=sure) for i, (name, chance) in enumerate(chances.items())]


def charts_of(reports: Sequence[Report], not_run: Sequence[str] = ()) -> tuple[Comparison, Charts]:
    comparison = compare(reports, not_run)
    named = {standing.candidate: report for standing, report in zip(comparison.standings, reports, strict=True)}
    return comparison, {chart.key: chart for chart in comparison_charts(comparison, named)}


def data(chart: Chart) -> list[dict[str, Any]]:
    """Every datum of the drawing, each once."""
    rows = {json.dumps(row, sort_keys=True) for values in _values(chart.spec) for row in values}
    return [json.loads(row) for row in rows]


def _values(spec: Any) -> Iterator[list[dict[str, Any]]]:
    if isinstance(spec, Mapping):
        for key, part in spec.items():
            if key == "datasets":
                yield from part.values()
            elif key == "values" and part and isinstance(part[0], dict):
                yield part
            else:
                yield from _values(part)
    elif isinstance(spec, list):
        for part in spec:
            yield from _values(part)


def test_all_charts_are_drawn_without_a_browser_and_hold_no_colour_of_their_own(three: list[Report]) -> None:
    _, charts = charts_of(three)
    assert list(charts) == ["differences", "score-differences", "risk-coverage", "families", "tradeoff"]
    for chart in charts.values():
        vl_convert.vegalite_to_svg(dict(chart.spec))
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b", json.dumps(chart.spec))
        assert chart.spec["width"] == "container"
        assert chart.table.rows


def test_differences_are_those_of_the_contrasts(three: list[Report]) -> None:
    comparison, charts = charts_of(three)
    rows = data(charts["differences"]) + data(charts["score-differences"])
    drawn = {(row["quantity"], row["candidate"]): row for row in rows if "quantity" in row}
    assert set(drawn) == {(c.quantity, c.candidate) for c in comparison.contrasts}
    for contrast in comparison.contrasts:
        row, paired = drawn[contrast.quantity, contrast.candidate], contrast.paired
        unit = 1 if contrast.quantity in ("brier_score", "log_loss") else 100
        assert row["difference"] == pytest.approx(unit * paired.difference)
        ends = None if paired.interval is None else (unit * paired.interval.low, unit * paired.interval.high)
        assert (None if row["low"] is None else (row["low"], row["high"])) == (ends and pytest.approx(ends))
    assert {row["quantity"] for row in data(charts["score-differences"]) if "quantity" in row} == {
        "brier_score",
        "log_loss",
    }


def test_only_what_is_shown_is_filled_and_said(three: list[Report]) -> None:
    _, charts = charts_of(three)
    chart = charts["differences"]
    filled = {(row["quantity"], row["candidate"]) for row in data(chart) if row.get("shown")}
    assert filled == {("macro_accuracy", "better")}
    assert "Shown, and filled: better higher." in chart.sentence
    _, undecided = charts_of(three[:2])
    assert "No difference is shown." in undecided["differences"].sentence
    assert not any(row.get("shown") for row in data(undecided["differences"]))
    assert "concludes nothing" in undecided["score-differences"].sentence


def test_nothing_is_contrasted_where_a_report_is_partial(make_report: Any, three: list[Report]) -> None:
    partial = make_report("partial", {"north-000": [True] * 3}, partial=True, complete=False, scope=three[0].scope)
    _, charts = charts_of([three[0], partial], ["ghost"])
    assert list(charts) == ["risk-coverage", "families", "tradeoff"]
    assert "Without a curve: partial (partial), ghost (not run)." in charts["risk-coverage"].sentence
    assert {row["candidate"] for row in data(charts["risk-coverage"])} == {"plain"}
    assert charts["tradeoff"].sentence.endswith("Not run: ghost.")
    assert "for want of" not in charts["tradeoff"].sentence
    bare = [row for row in data(charts["families"]) if row["candidate"] == "partial"]
    assert [(row["accuracy"], row["low"], row["scenarios"]) for row in bare] == [(1.0, None, "-")]


def test_curves_are_those_of_the_evidence(three: list[Report]) -> None:
    _, charts = charts_of(three)
    for report in three:
        assert report.evidence is not None
        selective = report.evidence.selective["holdout"]
        drawn = sorted(
            (row["coverage"], row["risk"])
            for row in data(charts["risk-coverage"])
            if row["candidate"] == report.candidate.name
        )
        assert drawn == sorted((point.coverage, point.selective_risk) for point in selective.curve)
        assert len(drawn) <= POINTS
        (row,) = (row for row in charts["risk-coverage"].table.rows if row[0] == report.candidate.name)
        assert row[3].startswith(f"{selective.aurc.value:.4f}")
        assert row[-1] == f"{selective.curve[-1].selective_risk:.1%}"


def test_families_have_the_accuracy_of_the_report_and_its_interval(three: list[Report]) -> None:
    _, charts = charts_of(three)
    drawn = {(row["family"], row["candidate"]): row for row in data(charts["families"])}
    assert len(drawn) == 6
    for report in three:
        assert report.evidence is not None
        for family, figure in report.evidence.intervals["holdout"].by_family.items():
            row = drawn[family, report.candidate.name]
            assert row["accuracy"] == report.metrics["holdout"].by_family[family].accuracy
            interval = figure.accuracy.interval
            assert (row["low"], row["high"]) == ((interval.low, interval.high) if interval else (None, None))
    assert drawn["north", "better"]["low"] is None
    assert "has no interval" in charts["families"].sentence


def test_a_price_that_is_not_known_is_said_to_be_and_never_drawn_as_nothing(three: list[Report]) -> None:
    priced = three[1].model_copy(update={"cost": cost_of(three[1].records, Prices(compute_usd_per_hour=3.6))})
    _, charts = charts_of([three[0], priced])
    chart = charts["tradeoff"]
    # 1 ms a request at 3.6 USD an hour is a millionth of a dollar each: 0.001 USD per 1,000 decisions.
    costs = {row[0]: row[-1] for row in chart.table.rows}
    assert costs == {"plain": "cost unknown", "other": "0.001 USD"}
    assert "plain 1 ms, " in chart.sentence
    assert "cost unknown; other" in chart.sentence
    assert {row["candidate"]: row["p50_ms"] for row in data(chart)} == {"plain": 1.0, "other": 1.0}


def test_a_candidate_without_any_latency_is_named_and_not_placed(three: list[Report]) -> None:
    untimed = [record.model_copy(update={"latency_s": None}) for record in three[1].records]
    report = three[1].model_copy(update={"records": untimed, "latency": latency_of(untimed)})
    _, charts = charts_of([three[0], report])
    assert [row["candidate"] for row in data(charts["tradeoff"])] == ["plain"]
    assert "Not in the drawing, for want of a latency or an accuracy: other." in charts["tradeoff"].sentence


@pytest.mark.parametrize(("far", "said"), [((), False), (("other",), True), (("plain", "other"), False)])
def test_latencies_with_a_network_and_without_are_not_set_against_each_other(
    three: list[Report], far: Sequence[str], said: bool
) -> None:
    reports = [_at(report, "remote" if report.candidate.name in far else "cpu") for report in three[:2]]
    comparison, charts = charts_of(reports)
    sentence = "The latencies of other hold a network, those of plain hold none: they cannot be set against each other."
    for text in (charts["tradeoff"].sentence, comparison_markdown(comparison)):
        assert (sentence in text) is said
        assert ("hold a network" in text) is said


def _at(report: Report, device: str) -> Report:
    identity = report.candidate.identity | {"device": device}
    return report.model_copy(update={"candidate": report.candidate.model_copy(update={"identity": identity})})

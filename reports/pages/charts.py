"""The charts of a report."""

from __future__ import annotations

from decibench.reports.pages.chart import Chart
from decibench.reports.pages.effects_chart import effects_chart
from decibench.reports.pages.latency_chart import latency_chart
from decibench.reports.pages.reliability import reliability_chart
from decibench.reports.pages.risk_coverage import risk_coverage_chart
from decibench.reports.pages.thresholds import Stops
from decibench.reports.report import Report
from decibench.reports.tables.figures import last_reported


def report_charts(report: Report, stops: Stops | None) -> list[Chart]:
    """Those that the report supports, in order: reliability, risk-coverage, effects, latency.

    Those of evidence are of the last reported split. A partial run has none: what a user picked is no sample.
    """
    evidence = report.evidence
    if evidence is None:
        return []
    charts: list[Chart | None] = []
    if calibration := last_reported(evidence.calibration):
        charts.append(reliability_chart(*calibration))
    if selective := last_reported(evidence.selective):
        charts.append(risk_coverage_chart(report, *selective, stops))
    if effects := last_reported(evidence.effects):
        charts.append(effects_chart(*effects))
    charts.append(latency_chart(report))
    return [chart for chart in charts if chart is not None]

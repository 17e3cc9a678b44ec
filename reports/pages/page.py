"""The page of one report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from decibench.cases.schema import Case
from decibench.reports.figure import Figure
from decibench.reports.latency import Cost, Latency
from decibench.reports.pages.charts import report_charts
from decibench.reports.pages.confusion import confusions
from decibench.reports.pages.heatmap import heatmaps
from decibench.reports.pages.rows import rows_of
from decibench.reports.pages.slider import slider_of
from decibench.reports.pages.template import render
from decibench.reports.pages.view import View, withheld
from decibench.reports.regression import Regression
from decibench.reports.report import Report
from decibench.reports.tables.figures import figure_note
from decibench.reports.tables.gates import gate_sentences
from decibench.reports.tables.intervals import chance_sentence
from decibench.reports.tables.latency import latency_tables
from decibench.reports.tables.layout import Table, count, millis, share
from decibench.reports.tables.overview import decision_line, headline, notes, report_tables
from decibench.reports.tables.provenance import provenance
from decibench.reports.tables.regression import regression_sentences, regression_tables
from decibench.reports.tables.sections import Section, detailed_sections, leading_sections
from decibench.reports.tables.worst import worst_tables

PAGE: Final = "report.html"

NOTHING_TO_RANK: Final = (
    "The candidate states no probabilities: there is no threshold to move, no curve of risk and coverage, no "
    "reliability, and no error is more confident than another."
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure of the headline: its name, its value, and how sure it is."""

    name: str
    value: str
    detail: str


def report_page(
    report: Report, *, view: View = "full", cases: Sequence[Case] = (), regression: Regression | None = None
) -> str:
    """The page as HTML; ``cases`` are those of the report's suite, whose texts the view ``full`` shows."""
    single = view != "aggregate-only"
    slider = slider_of(report)
    charts = {chart.key: chart for chart in report_charts(report, slider.stops if slider else None)}
    drawn = list(charts.values())
    latency = list(latency_tables(report.latency))
    verdict = list(_verdict(report))
    return render(
        "report.html.j2",
        drawn,
        title=f"{report.candidate.name} on {report.suite.name} {report.suite.version}",
        report=report,
        decision=decision_line(report),
        verdict=verdict,
        facts=list(_facts(report)),
        notes=list(notes(report, rows=single)),
        withheld=withheld(view, texts=bool(cases)),
        curve=charts.pop("risk-coverage", None),
        spread=charts.pop("latency", None),
        other_charts=list(charts.values()),
        slider=slider,
        nothing_to_rank="" if report.candidate.states_probabilities else NOTHING_TO_RANK,
        heatmaps=heatmaps(report),
        confusions=confusions(report),
        sections=[section for section in leading_sections(report) if not _said(section, verdict)],
        regression=None if regression is None else _regression(regression, single),
        worst=list(worst_tables(report)) if single else [],
        latency_tables=[*latency, *_loads(report.latency), _tokens(report.cost)],
        tables=[table for table in report_tables(report) if table not in latency],
        details=list(detailed_sections(report)),
        rows=rows_of(report, view=view, cases=cases),
        provenance=list(provenance(report)),
    )


def _verdict(report: Report) -> Iterator[str]:
    """The headline, whether it is above guessing, and what each gate allows, the primary one first."""
    yield headline(report)
    if report.evidence is not None and report.evidence.intervals:
        split, intervals = list(report.evidence.intervals.items())[-1]
        yield chance_sentence(split, intervals)
    yield from gate_sentences(report)


def _facts(report: Report) -> Iterator[Fact]:
    if report.evidence is None or not report.evidence.intervals:
        return
    split, found = list(report.evidence.intervals.items())[-1]
    named: dict[str, Figure | None] = {
        "macro accuracy": found.macro_accuracy,
        "coverage": found.coverage,
        "selective risk": found.selective_risk,
        "unsafe acceptance": found.unsafe_acceptance,
        "attack success": found.attack_success,
    }
    for name, figure in named.items():
        if figure is not None:
            yield Fact(name, share(figure.value), _spread(figure))
    overall = report.metrics[split].overall
    yield Fact("failed decisions", f"{overall.failed:,}", f"of {overall.decisions:,} core decisions")
    if report.latency.overall is not None:
        stats = report.latency.overall
        yield Fact("latency, median", f"{millis(stats.p50_s)} ms", f"p95 {millis(stats.p95_s)} ms")


def _spread(figure: Figure) -> str:
    if figure.interval is None:
        return f"no interval: {figure_note(figure)}"
    return f"95% interval {share(figure.interval.low)} to {share(figure.interval.high)}, {figure.groups} scenarios"


def _said(section: Section, verdict: Sequence[str]) -> bool:
    return not section.tables and set(section.sentences) <= set(verdict)


def _regression(regression: Regression, single: bool) -> Section:
    tables = list(regression_tables(regression)) if single else []
    return Section("Against the blessed report", list(regression_sentences(regression)), tables)


def _loads(latency: Latency) -> Iterator[Table]:
    rows = [
        [load.worker, millis(load.load_s), millis(load.first_probe_s), ", ".join(map(millis, load.warm_ups_s)) or "-"]
        for load in latency.loads
    ]
    if rows:
        yield Table("Loading and warm-ups, ms", ["process", "load", "first request", "warm-ups"], rows)


def _tokens(cost: Cost) -> Table:
    least = cost.at_least.model_dump()
    least["total_usd"] = least.pop("usd")
    amounts: dict[str, Any] = cost.model_dump(exclude={"prices", "at_least"})
    rows = [[name, _amount(name, value, least.get(name))] for name, value in amounts.items()]
    prices: dict[str, Any] = cost.prices.model_dump()
    priced = [[name, _price(value)] for name, value in prices.items()]
    return Table("Tokens and cost of the measured requests", ["amount", "value"], [*rows, *priced])


def _amount(name: str, value: float | None, least: float | None) -> str:
    if value is None:
        return f"unknown, at least {_amount(name, least, None)}" if least else "unknown"
    return f"{value:.6f}" if name.endswith("usd") else count(int(value))


def _price(value: float | str | None) -> str:
    return "not given" if value is None else value if isinstance(value, str) else f"{value:g}"

"""The page of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from decibench.cases.schema import Case
from decibench.reports.comparisons.comparability import display_names
from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.comparisons.latency_ratio import latency_ratio
from decibench.reports.pages.comparison_charts import comparison_charts
from decibench.reports.pages.disagreements import disagreements
from decibench.reports.pages.template import render
from decibench.reports.pages.tradeoff_chart import conditions
from decibench.reports.pages.view import View, withheld
from decibench.reports.report import Report
from decibench.reports.tables.comparison import (
    comparison_conclusions,
    comparison_head,
    difference_tables,
    not_run_sentences,
    reports_table,
    slice_tables,
    standings_table,
)
from decibench.reports.tables.figures import FigureRow, figures_table
from decibench.reports.tables.layout import Table

COMPARISON_PAGE: Final = "comparison.html"


def comparison_page(
    comparison: Comparison, reports: Sequence[Report], *, view: View = "full", cases: Sequence[Case] = ()
) -> str:
    """The page as HTML; ``reports`` are those compared, in any order.

    ``cases`` are those of the suite, whose texts the view ``full`` shows.
    """
    found = dict(zip(display_names(reports), reports, strict=True))
    named = {standing.candidate: found[standing.candidate] for standing in comparison.standings}
    charts = {chart.key: chart for chart in comparison_charts(comparison, named)}
    return render(
        "comparison.html.j2",
        list(charts.values()),
        title=f"{', '.join(named)} on {comparison.suite.name} {comparison.suite.version}",
        comparison=comparison,
        names=list(named),
        head=[*comparison_head(comparison), *not_run_sentences(comparison)],
        conclusions=list(comparison_conclusions(comparison)),
        withheld=withheld(view, texts=bool(cases)),
        standings=_by_candidate(standings_table(comparison), comparison.not_run),
        provenance=reports_table(comparison),
        drawn=charts,
        slices=list(slice_tables(comparison)),
        differences=list(difference_tables(comparison)),
        ratios=_ratios(named),
        conditions=list(conditions(named)),
        disagreements=disagreements(named, comparison.split, view=view, cases=cases),
    )


def _by_candidate(table: Table, not_run: Sequence[str]) -> Table:
    """``table`` of a column per candidate turned to a row each; one that was not run has no further cell."""
    metrics, *figures = zip(*table.rows, strict=True)
    blank = ["not run", *("" for _ in metrics[1:])]
    rows = [
        [name, *(blank if name in not_run else cells)] for name, cells in zip(table.columns[1:], figures, strict=True)
    ]
    return Table(table.title, ["candidate", *metrics], rows)


def _ratios(reports: Mapping[str, Report]) -> Table | None:
    """Latency of every candidate over that of the first, on the same requests; None where there is no other."""
    (reference, first), *others = reports.items()
    if not others:
        return None
    title = f"Request latency divided by that of {reference}, median over the same case and trial, 95% interval"
    return figures_table(title, ["candidate", "requests", "unmatched"], list(_ratio_rows(first, others)))


def _ratio_rows(first: Report, others: Sequence[tuple[str, Report]]) -> Iterator[FigureRow]:
    for name, report in others:
        found = latency_ratio(report, first)
        yield FigureRow([name, f"{found.requests:,}", f"{found.unmatched:,}"], found.ratio, _factor)


def _factor(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"

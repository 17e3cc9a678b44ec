"""The charts of a comparison: differences, risk over coverage, families, and what quality takes in time and money."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.pages.chart import Chart
from decibench.reports.pages.difference_charts import difference_charts
from decibench.reports.pages.series import Series
from decibench.reports.pages.theme import inline, themed
from decibench.reports.pages.tradeoff_chart import tradeoff_chart
from decibench.reports.report import Report
from decibench.reports.selective import CurvePoint, Selective
from decibench.reports.tables.figures import with_interval
from decibench.reports.tables.layout import Table, number, percent, share

_ROW: Final = 14
_GAP: Final = 8
"""Height of one candidate in a family, and between two families, in pixels."""

_LEVELS: Final = (0.25, 0.5, 0.75, 1.0)
"""Coverages at which the table of a curve reads it."""

_FEW: Final = 12
"""A curve of fewer points has a mark at each: it steps from one confidence to the next, with nothing between."""


def comparison_charts(comparison: Comparison, reports: Mapping[str, Report]) -> list[Chart]:
    """Those that the data allow; ``reports`` are by the names they have in ``comparison``, in its order."""
    series = Series(list(reports))
    found = [
        *difference_charts(comparison, series),
        _risk_coverage(comparison, reports, series),
        _families(comparison, reports, series),
        tradeoff_chart(comparison, reports, series),
    ]
    return [chart for chart in found if chart is not None]


def _risk_coverage(comparison: Comparison, reports: Mapping[str, Report], series: Series) -> Chart | None:
    found = {name: selective for name, report in reports.items() if (selective := _selective(report, comparison))}
    if not found:
        return None
    areas = ", ".join(f"{name} {with_interval(selective.aurc, number)}" for name, selective in found.items())
    said = [
        "The share of errors among accepted decisions, when the more confident ones are accepted first; failed "
        "decisions are errors of the least confidence. Lines join thresholds, and nothing lies between them.",
        f"AURC, lower is better, with 95% intervals: {areas}.",
        "Where curves cross or part is descriptive: they are not tested against each other, and a threshold read off "
        "here is certified by nothing. The report of each candidate has its band.",
    ]
    why = {name: _why_without(report) for name, report in reports.items()}
    missing = [f"{name} ({why[name]})" for name in reports if name not in found]
    missing += [f"{name} (not run)" for name in comparison.not_run]
    if missing:
        said.append(f"Without a curve: {', '.join(missing)}.")
    columns = ["candidate", "decisions", "failed", "aurc (95% interval)", *(f"risk at {percent(at)}" for at in _LEVELS)]
    rows = [
        [
            name,
            str(selective.decisions),
            str(selective.failed),
            with_interval(selective.aurc, number),
            *(_risk_at(selective, level) for level in _LEVELS),
        ]
        for name, selective in found.items()
    ]
    title = f"Selective risk by coverage ({comparison.split})"
    table = Table(f"{title}; risk at the first threshold that covers at least so much", columns, rows)
    return Chart("risk-coverage", title, " ".join(said), _curves(found, series), table)


def _selective(report: Report, comparison: Comparison) -> Selective | None:
    if report.evidence is None or comparison.split is None:
        return None
    return report.evidence.selective.get(comparison.split)


def _why_without(report: Report) -> str:
    if not report.candidate.states_probabilities:
        return "states no probabilities"
    return "partial" if report.partial else "nothing on this split"


def _risk_at(selective: Selective, level: float) -> str:
    point = next((point for point in selective.curve if point.coverage >= level), None)
    if point is None:
        return "-"
    return share(point.selective_risk) + ("" if point.coverage == level else f" (at {share(point.coverage)})")


def _curves(found: Mapping[str, Selective], series: Series) -> dict[str, Any]:
    import altair as alt

    rows = [_point(name, point, selective) for name, selective in found.items() for point in selective.curve]
    legend = series.legend(values=list(found), symbolType="stroke")
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("coverage:Q", title="coverage", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5)),
        y=alt.Y("risk:Q", title="selective_risk", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
        color=series.colour(legend),
    )
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=series.dash(legend))
    tooltip = ["candidate:N", *(alt.Tooltip(f"{n}:Q", format=".1%") for n in ("coverage", "risk")), "threshold:N"]
    hover = base.mark_point(size=40, opacity=0).encode(tooltip=tooltip)
    ends = base.transform_filter("datum.marked").mark_point(size=50, filled=True, opacity=1)
    ends = ends.encode(tooltip=tooltip)
    return themed(alt.layer(lines, hover, ends).properties(width="container", height=300))


def _point(name: str, point: CurvePoint, selective: Selective) -> dict[str, Any]:
    return {
        "candidate": name,
        "coverage": point.coverage,
        "risk": point.selective_risk,
        "threshold": "none: failed decisions" if point.threshold is None else f"{point.threshold:.4g}",
        "marked": len(selective.curve) < _FEW or point == selective.curve[-1],
    }


def _families(comparison: Comparison, reports: Mapping[str, Report], series: Series) -> Chart | None:
    rows = list(_family_rows(comparison, reports))
    if not rows:
        return None
    spread = [row for row in rows if row["low"] is not None]
    said = (
        f"Accuracy of each candidate in each family ({comparison.split}), failed decisions counting as wrong, with the "
        "95% interval over its scenarios; the upright stroke is what guessing reaches. Intervals of two candidates may "
        "overlap where they differ, and part where they do not: only the paired differences compare."
    )
    if len(spread) < len(rows):
        said += (
            " A mark without a line has no interval, because its scenarios do not vary or nothing complete was asked."
        )
    table = Table(
        f"Accuracy by family with 95% intervals ({comparison.split})",
        ["family", "candidate", "accuracy", "95% interval", "scenarios", "guessing"],
        [
            [row[column] for column in ("family", "candidate", "text", "interval", "scenarios", "chance_text")]
            for row in rows
        ],
    )
    return Chart("families", "Accuracy by family, with intervals", said, _family_spec(rows, series), table)


def _family_rows(comparison: Comparison, reports: Mapping[str, Report]) -> Iterator[dict[str, Any]]:
    families = dict.fromkeys(family for standing in comparison.standings for family in standing.by_family)
    for family in families:
        for standing in comparison.standings:
            evidence = reports[standing.candidate].evidence
            measured = (
                evidence.intervals[comparison.split].by_family.get(family) if evidence and comparison.split else None
            )
            accuracy = standing.by_family.get(family)
            if accuracy is None:
                continue
            interval = measured.accuracy.interval if measured else None
            yield {
                "family": family,
                "candidate": standing.candidate,
                "accuracy": accuracy,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                "chance": measured.chance_accuracy if measured else None,
                "text": share(accuracy),
                "interval": f"{share(interval.low)} to {share(interval.high)}" if interval else "-",
                "scenarios": str(measured.accuracy.groups) if measured else "-",
                "chance_text": share(measured.chance_accuracy if measured else None),
            }


def _family_spec(rows: list[dict[str, Any]], series: Series) -> dict[str, Any]:
    import altair as alt

    legend = series.legend()
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("family:N", sort=None, title=None),
        yOffset=alt.YOffset("candidate:N", sort=series.names),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("family", "candidate", "text", "interval", "scenarios")],
    )
    x = alt.X("low:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5))
    spans = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q", color=series.colour(legend))
    guesses = base.mark_tick(color="currentColor", opacity=0.5, thickness=2, size=_ROW).encode(x="chance:Q")
    marks = base.mark_point(size=50, filled=True, opacity=1).encode(
        x="accuracy:Q", color=series.colour(legend), shape=series.shape(legend)
    )
    families = len({row["family"] for row in rows})
    height = families * (_GAP + _ROW * len({row["candidate"] for row in rows}))
    return themed(alt.layer(spans, guesses, marks).properties(width="container", height=height))

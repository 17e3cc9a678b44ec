"""The chart of quality over latency, each candidate beside its price, and what its sentence must not leave out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.pages.chart import Chart
from decibench.reports.pages.series import Series
from decibench.reports.pages.theme import inline, spans, themed
from decibench.reports.report import Report
from decibench.reports.tables.comparison import network_sentences
from decibench.reports.tables.layout import Table, dollars, share

_MACHINE = ("platform", "machine", "cpus")
"""What an environment says of the machine."""


def tradeoff_chart(comparison: Comparison, reports: Mapping[str, Report], series: Series) -> Chart | None:
    """Candidates by median latency and macro accuracy; None where none has both."""
    usd = {standing.candidate: standing.usd_per_1000_decisions for standing in comparison.standings}
    placed = [row for name, report in reports.items() if (row := _row(name, report, comparison, usd[name])) is not None]
    if not placed:
        return None
    figures = "; ".join(f"{row['candidate']} {row['p50']}, {row['text']}, {row['cost']}" for row in placed)
    said = [
        "Median request latency and cost per 1,000 decisions, both of the whole run, beside macro accuracy on "
        f"{comparison.split}: {figures}. Accuracy is over core variants; latency and cost are over all splits and "
        "variants, warm-ups apart, and latency over failed requests too where they were timed.",
        *network_sentences(comparison),
    ]
    missing = [name for name in reports if name not in {row["candidate"] for row in placed}]
    if missing:
        said.append(f"Not in the drawing, for want of a latency or an accuracy: {', '.join(missing)}.")
    if comparison.not_run:
        said.append(f"Not run: {', '.join(comparison.not_run)}.")
    columns = ["candidate", "macro_accuracy", "95% interval", "p50", "cost per 1,000 decisions"]
    rows = [[row[name] for name in ("candidate", "text", "interval", "p50", "cost")] for row in placed]
    title = "Quality, latency and cost"
    return Chart("tradeoff", title, " ".join(said), _spec(placed, series), Table(title, columns, rows))


def conditions(reports: Mapping[str, Report]) -> Iterator[str]:
    """Under which conditions the latencies were measured, as far as they bear on a difference between candidates."""
    every = list(reports.values())
    if len(every) < 2:
        return
    if all(report.scope.interleaved for report in every):
        yield "Candidates were asked in turn, case by case, so that those of one run met the same drift of the machine."
    else:
        yield "Candidates were asked one after another, or in several runs: drift of the machine is in the difference."
    if len({tuple(report.environment.get(part) for part in _MACHINE) for report in every}) > 1:
        yield "The reports name different machines, which are in the difference too."


def _row(name: str, report: Report, comparison: Comparison, usd: float | None) -> dict[str, Any] | None:
    latency, split = report.latency.overall, comparison.split
    accuracy = report.metrics[split].overall.macro_accuracy if split else None
    # A logarithm has no place for a clock that stood still.
    if latency is None or latency.p50_s <= 0 or accuracy is None or split is None:
        return None
    interval = report.evidence.intervals[split].macro_accuracy.interval if report.evidence else None
    cost = "cost unknown" if usd is None else f"{dollars(usd)} USD"
    return {
        "candidate": name,
        "p50_ms": 1000 * latency.p50_s,
        "accuracy": accuracy,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "text": share(accuracy),
        "interval": f"{share(interval.low)} to {share(interval.high)}" if interval else "-",
        "p50": f"{1000 * latency.p50_s:.3g} ms",
        "cost": cost,
    }


def _spec(rows: list[dict[str, Any]], series: Series) -> dict[str, Any]:
    import altair as alt

    costs = json.dumps({row["candidate"]: f"{row['candidate']}: {row['cost']}" for row in rows})
    legend = series.legend(values=[row["candidate"] for row in rows], labelExpr=f"({costs})[datum.label]")
    reach = [0.5 * min(row["p50_ms"] for row in rows), 2 * max(row["p50_ms"] for row in rows)]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X(
            "p50_ms:Q",
            title="median request latency in ms (logarithmic)",
            scale=alt.Scale(type="log", domain=reach),
            axis=alt.Axis(format="~g", tickCount=5, grid=False),
        ),
        color=series.colour(legend),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("candidate", "text", "interval", "p50", "cost")],
    )
    y = alt.Y("accuracy:Q", title="macro_accuracy", axis=alt.Axis(format="%"), scale=alt.Scale(zero=False))
    lines = base.mark_rule(strokeWidth=2).encode(y="low:Q", y2="high:Q")
    marks = base.mark_point(size=70, filled=True, opacity=1).encode(y=y, shape=series.shape(legend))
    return themed(alt.layer(*spans(lines, rows), marks).properties(width="container", height=300))

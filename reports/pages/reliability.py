"""The chart of calibration: accuracy by top probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from decibench.cases.schema import Split
from decibench.reports.calibration import Calibration
from decibench.reports.metrics.reliability import MIN_GROUPS, ReliabilityBin
from decibench.reports.pages.chart import Chart
from decibench.reports.pages.theme import ACCENT, GUIDE, hollow, inline, themed
from decibench.reports.tables.calibration import calibration_tables
from decibench.reports.tables.figures import figure_note
from decibench.reports.tables.layout import number, share

if TYPE_CHECKING:
    import altair as alt

_HEIGHT: Final = 260


def reliability_chart(split: Split, calibration: Calibration) -> Chart:
    """Accuracy in bins of the top probability on ``split``, beside the diagonal of a calibrated model."""
    _, table, *_ = calibration_tables({split: calibration})
    return Chart(
        key="reliability",
        title=f"Reliability ({split}, core)",
        sentence=_sentence(calibration),
        spec=_spec(calibration.reliability),
        table=table,
    )


def _sentence(calibration: Calibration) -> str:
    ece = calibration.errors["ece_10"]
    failed = calibration.decisions - calibration.valid
    left_out = f"; {failed} failed ones have no probability and are not in it" if failed else ""
    return (
        f"ece_10 is {number(ece.value)}. A perfectly calibrated model with these top probabilities would show "
        f"{number(ece.null_mean)} on average here, and up to {number(ece.null_p95)} in 95 of 100 samples: "
        f"{calibration.conclusion}. Drawn are {calibration.valid} decisions in {calibration.groups} scenarios"
        f"{left_out}. Points on the diagonal are as accurate as they are confident. A bin has a 95% interval, for "
        f"itself alone, where at least {MIN_GROUPS} scenarios lie in it and differ; the others are drawn hollow."
    )


def _spec(bins: Sequence[ReliabilityBin]) -> dict[str, Any]:
    import altair as alt

    filled = [_datum(entry) for entry in bins if entry.decisions]
    x = alt.X(
        "mean_top_probability:Q",
        title="mean top probability",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(tickCount=5),
    )
    y = alt.Y("accuracy:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5))
    base = alt.Chart(inline(filled)).encode(x=x, y=y, tooltip=_tooltip())
    spans = base.mark_rule(color=ACCENT, strokeWidth=2).encode(y="low:Q", y2="high:Q")
    points = base.mark_point(color=ACCENT, stroke=ACCENT, size=70, strokeWidth=2, filled=True, opacity=1)
    layers = [
        alt.Chart(inline([{"at": 0}, {"at": 1}])).mark_line(**GUIDE).encode(x="at:Q", y="at:Q"),
        spans,
        points.encode(fillOpacity=hollow("datum.low === null")),
        *_counts(filled),
    ]
    return themed(alt.layer(*layers).properties(width="container", height=_HEIGHT))


def _counts(filled: Sequence[dict[str, Any]]) -> list[alt.Chart]:
    """The decisions of each bin, above the plot."""
    import altair as alt

    counts = alt.Chart(inline(filled)).mark_text(dy=-8, fontSize=10, opacity=0.8)
    label = alt.Chart(inline([{}])).mark_text(dy=-22, fontSize=10, opacity=0.8, align="left", text="decisions in bin:")
    return [
        counts.encode(x="middle:Q", y=alt.value(0), text="count:N"),
        label.encode(x=alt.value(0), y=alt.value(0)),
    ]


def _short(decisions: int) -> str:
    """A count that fits above its bin on a narrow screen."""
    return str(decisions) if decisions < 10_000 else f"{decisions / 1000:.0f}k"


def _datum(entry: ReliabilityBin) -> dict[str, Any]:
    found = entry.accuracy.interval
    return {
        "bin": f"{entry.low:g} to {entry.high:g}",
        "middle": (entry.low + entry.high) / 2,
        "mean_top_probability": entry.mean_top_probability,
        "accuracy": entry.accuracy.value,
        "low": None if found is None else found.low,
        "high": None if found is None else found.high,
        "decisions": entry.decisions,
        "count": _short(entry.decisions),
        "scenarios": entry.accuracy.groups,
        "interval": figure_note(entry.accuracy) if found is None else f"{share(found.low)} to {share(found.high)}",
    }


def _tooltip() -> list[alt.Tooltip]:
    import altair as alt

    return [
        alt.Tooltip("bin:N", title="top probability"),
        alt.Tooltip("mean_top_probability:Q", title="mean", format=".3f"),
        alt.Tooltip("accuracy:Q", format=".1%"),
        alt.Tooltip("interval:N", title="95% interval"),
        alt.Tooltip("decisions:Q"),
        alt.Tooltip("scenarios:Q"),
    ]

"""Charts of paired differences: of shares in points, and of scores, each beside its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.comparisons.conclusions import bare, gap, is_score, level, spread
from decibench.reports.comparisons.contrasts import Contrast
from decibench.reports.pages.chart import Chart
from decibench.reports.pages.series import Series
from decibench.reports.pages.theme import GUIDE, inline, spans, themed
from decibench.reports.tables.layout import Table

if TYPE_CHECKING:
    import altair as alt

_ROW, _GAP = 16, 12
"""Height of one difference, and between two quantities, in pixels."""


def difference_charts(comparison: Comparison, series: Series) -> Iterator[Chart]:
    """The contrasts of shares, then those of scores; none where nothing was contrasted."""
    shares = [contrast for contrast in comparison.contrasts if not is_score(contrast.quantity)]
    scores = [contrast for contrast in comparison.contrasts if is_score(contrast.quantity)]
    if shares:
        title = f"Differences from {comparison.reference} in points"
        yield _chart("differences", title, "difference in points", shares, comparison, series)
    if scores:
        title = f"Differences from {comparison.reference} in scores (lower is better)"
        yield _chart("score-differences", title, "difference", scores, comparison, series)


def _chart(
    key: str, title: str, axis: str, contrasts: Sequence[Contrast], comparison: Comparison, series: Series
) -> Chart:
    return Chart(key, title, _sentence(contrasts, comparison), _spec(axis, contrasts, series), _table(title, contrasts))


def _sentence(contrasts: Sequence[Contrast], comparison: Comparison) -> str:
    """What was tested and what came of it; of descriptive differences that they conclude nothing."""
    said = [
        f"Candidate minus {comparison.reference}, paired by scenario, with 95% intervals over scenarios, unadjusted. "
        "A mark without a line has no interval, because all scenarios differ alike or never."
    ]
    primary = [contrast for contrast in contrasts if contrast.kind == "primary"]
    if not primary:
        return " ".join([*said, "All of it is descriptive and concludes nothing, whichever side of zero it lies on."])
    figures = ", ".join(f"{c.candidate} {gap(c.quantity, c.paired.difference)}{_within(c)}" for c in primary)
    quantity = comparison.primary_metric
    said.append(f"Tested is {quantity} alone, with Holm over the candidates: {figures}.")
    shown = [f"{c.candidate} {c.shown}" for c in primary if c.shown]
    said.append(f"Shown, and filled: {', '.join(shown)}." if shown else "No difference is shown.")
    said.append("All other quantities are descriptive and conclude nothing.")
    return " ".join(said)


def _within(contrast: Contrast) -> str:
    return "" if contrast.paired.interval is None else f" ({spread(contrast.paired, contrast.quantity)})"


def _spec(axis: str, contrasts: Sequence[Contrast], series: Series) -> dict[str, Any]:
    import altair as alt

    quantities = list(dict.fromkeys(contrast.quantity for contrast in contrasts))
    compared = list(dict.fromkeys(contrast.candidate for contrast in contrasts))
    rows = [_datum(contrast) for contrast in contrasts]
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("quantity:N", sort=quantities, title=None, axis=_quantities()),
        yOffset=alt.YOffset("candidate:N", sort=series.names),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("quantity", "candidate", "text", "interval", "kind")],
    )
    legend = series.legend(values=compared, symbolFillColor="transparent")
    colour, shape = series.colour(legend), series.shape(legend)
    x = alt.X("difference:Q", title=axis, axis=alt.Axis(grid=True, tickCount=6))
    zero = alt.Chart(inline([{"zero": 0}])).mark_rule(**GUIDE).encode(x="zero:Q")
    lines = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", color=colour)
    marks = base.mark_point(size=60, strokeWidth=2, opacity=1).encode(x=x, color=colour, shape=shape)
    layers = [zero, *spans(lines, rows), marks]
    if any(contrast.shown for contrast in contrasts):
        shown = base.transform_filter("datum.shown").mark_point(size=60, filled=True, opacity=1)
        layers.append(shown.encode(x="difference:Q", color=colour, shape=shape))
    return themed(
        alt.layer(*layers).properties(width="container", height=len(quantities) * (_GAP + _ROW * len(compared)))
    )


def _quantities() -> alt.Axis:
    """The names of quantities, those of flips in two lines, for narrow screens."""
    import altair as alt

    flips = "test(/^flips under /, datum.label)"
    return alt.Axis(labelExpr=f"{flips} ? ['flips under', slice(datum.label, 12)] : datum.label", labelLimit=150)


def _datum(contrast: Contrast) -> dict[str, Any]:
    paired, quantity = contrast.paired, contrast.quantity
    unit = 1 if is_score(quantity) else 100
    found = paired.interval
    return {
        "quantity": quantity,
        "candidate": contrast.candidate,
        "difference": unit * paired.difference,
        "low": None if found is None else unit * found.low,
        "high": None if found is None else unit * found.high,
        "shown": contrast.shown is not None,
        "text": gap(quantity, paired.difference),
        "interval": spread(paired, quantity),
        "kind": "tested" if contrast.kind == "primary" else "descriptive",
    }


def _table(title: str, contrasts: Sequence[Contrast]) -> Table:
    rows = [
        [
            contrast.quantity,
            contrast.candidate,
            level(contrast.quantity, contrast.paired.second),
            level(contrast.quantity, contrast.paired.first),
            bare(contrast.quantity, contrast.paired.difference),
            spread(contrast.paired, contrast.quantity),
            str(contrast.paired.groups),
        ]
        for contrast in contrasts
    ]
    columns = ["quantity", "candidate", "value", "reference", "difference", "95% interval", "scenarios"]
    return Table(title, columns, rows)

"""The chart of selective prediction: what risk is left at which coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from decibench.cases.schema import Split
from decibench.reports.pages.chart import Chart
from decibench.reports.pages.theme import ACCENT, BAND, INK, SECOND, inline, themed
from decibench.reports.pages.thresholds import IssuedGate, Stop, Stops, issued_gates
from decibench.reports.report import Report
from decibench.reports.selective import CurvePoint, Selective
from decibench.reports.tables.layout import Table, number, share

if TYPE_CHECKING:
    import altair as alt

_HEIGHT: Final = 260
_FEW: Final = 30
"""Up to so many points of the curve are drawn one by one: no threshold gives what lies between them."""
_OFF: Final = -1.0
"""A coverage at which neither rule nor point is drawn."""
_LEAST: Final = 0.02
"""Where the axis of risk ends at least."""
_SHAPES: Final = {
    "empirical gate": "square",
    "certified gate": "diamond",
    "unsafe gate": "circle",
    "joint gate": "triangle-up",
    "gate of least expected cost": "cross",
}


def risk_coverage_chart(report: Report, split: Split, selective: Selective, stops: Stops | None) -> Chart:
    """The curve on ``split`` with its pointwise band, and where the issued gates stand on it.

    The drawing has two Vega signals, ``coverage`` and ``risk`` (0 to 1), at which it draws a rule and a point; a
    negative coverage draws neither, a negative risk the rule alone. They begin at the primary gate.
    """
    marks = _marks(report, stops)
    return Chart(
        key="risk-coverage",
        title=f"Risk and coverage ({split}, core)",
        sentence=_sentence(selective, marks),
        spec=_spec(selective.curve, marks),
        table=_table(split, selective.curve),
    )


def _marks(report: Report, stops: Stops | None) -> list[dict[str, Any]]:
    """Coverage and risk of the issued gates on the last reported split; a risk is null where nothing is accepted."""
    at = {stop.threshold: stop for stop in stops.stops} if stops is not None else {}
    return [_mark(gate, at[gate.threshold]) for gate in issued_gates(report) if at]


def _mark(gate: IssuedGate, stop: Stop) -> dict[str, Any]:
    return {
        "gate": gate.name,
        "primary": gate.primary,
        "threshold": stop.threshold,
        "coverage": stop.coverage,
        "selective_risk": stop.selective_risk,
        "accepted": stop.accepted,
        "errors": stop.errors,
    }


def _sentence(selective: Selective, marks: Sequence[dict[str, Any]]) -> str:
    aurc = selective.aurc
    spread = f" ({number(aurc.interval.low)} to {number(aurc.interval.high)})" if aurc.interval else ""
    full = selective.curve[-1]
    failed = f" Of {selective.decisions} decisions {selective.failed} failed: errors that no threshold accepts."
    gates = (
        "No gate has a threshold."
        if not marks
        else " ".join(
            f"The {m['gate']}, from {m['threshold']:g} on, accepts {m['accepted']} of {selective.decisions} decisions, "
            f"{m['errors']} of them wrong ({share(m['selective_risk'])})."
            for m in marks
        )
    )
    return (
        f"aurc is {number(aurc.value)}{spread} over {aurc.groups} scenarios; lower is better. At full coverage the "
        f"risk is {share(full.selective_risk)}.{failed if selective.failed else ''} {gates} "
        "The band is a 95% interval over scenarios at each threshold by itself, not for the whole curve; it breaks "
        "where scenarios give none. A threshold picked by eye on this curve is certified by nothing."
    )


def _spec(curve: Sequence[CurvePoint], marks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    data = inline([_datum(point) for point in curve])
    base = alt.Chart(data).encode(x=_x(), tooltip=_tooltip())
    band = base.mark_area(color=BAND).encode(y=_y(curve, "low"), y2="high:Q")
    line = base.mark_line(color=ACCENT, strokeWidth=2).encode(y=_y(curve, "selective_risk"))
    # Of many points the line is enough to see; they still show their figures.
    few = len(curve) <= _FEW
    dots = base.mark_point(color=ACCENT, filled=True, opacity=1 if few else 0, size=30 if few else 80)
    layers = [band, line, dots.encode(y=_y(curve, "selective_risk")), *_gates(curve, marks), *_reader()]
    drawn = alt.layer(*layers).properties(width="container", height=_HEIGHT)
    return themed(drawn.add_params(*_params(marks)))


def _x() -> alt.X:
    import altair as alt

    return alt.X("coverage:Q", title="coverage", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5))


def _y(curve: Sequence[CurvePoint], field: str) -> alt.Y:
    """The axis of risk up to what the curve needs; what lies beyond stays at its edge."""
    import altair as alt

    top = max(_LEAST, *(point.selective_risk for point in curve), *(point.high or 0 for point in curve))
    scale = alt.Scale(domain=[0, min(1.0, top)], nice=False, clamp=True)
    return alt.Y(f"{field}:Q", title="selective risk", scale=scale, axis=alt.Axis(format="~%", tickCount=5))


def _gates(curve: Sequence[CurvePoint], marks: Sequence[dict[str, Any]]) -> list[alt.Chart]:
    """The gates that accept something."""
    import altair as alt

    shown = [mark for mark in marks if mark["selective_risk"] is not None]
    if not shown:
        return []
    names = [mark["gate"] for mark in shown]
    scale = alt.Scale(domain=names, range=[_SHAPES[name] for name in names])
    tooltip = [
        alt.Tooltip("gate:N"),
        alt.Tooltip("threshold:Q"),
        alt.Tooltip("coverage:Q", format=".1%"),
        alt.Tooltip("selective_risk:Q", title="selective risk", format=".1%"),
        alt.Tooltip("accepted:Q"),
        alt.Tooltip("errors:Q"),
    ]
    points = alt.Chart(inline(shown)).mark_point(color=SECOND, size=120, strokeWidth=2, opacity=1)
    shape = alt.Shape("gate:N", sort=names, scale=scale)
    return [points.encode(x=_x(), y=_y(curve, "selective_risk"), shape=shape, tooltip=tooltip)]


def _params(marks: Sequence[dict[str, Any]]) -> list[alt.Parameter]:
    import altair as alt

    primary = next((mark for mark in marks if mark["primary"]), {"coverage": _OFF, "selective_risk": None})
    risk = primary["selective_risk"]
    return [
        alt.param(name="coverage", value=primary["coverage"]),
        alt.param(name="risk", value=_OFF if risk is None else risk),
    ]


def _reader() -> list[alt.Chart]:
    """The rule and the point at the signals; out of sight they stay within the plot, so that it keeps its size."""
    import altair as alt

    at, risk = (alt.datum(alt.expr(f"max({name}, 0)"), type="quantitative") for name in ("coverage", "risk"))
    nothing = alt.Chart(inline([{}]))
    rule = nothing.mark_rule(color=INK, strokeDash=[2, 3], opacity=alt.expr("coverage < 0 ? 0 : 0.7"))
    point = nothing.mark_point(
        color=INK, size=160, strokeWidth=2, opacity=alt.expr("coverage < 0 || risk < 0 ? 0 : 1"), tooltip=None
    )
    return [rule.encode(x=at), point.encode(x=at, y=risk)]


def _datum(point: CurvePoint) -> dict[str, Any]:
    return {
        "threshold": "none: all, failed ones included" if point.threshold is None else f"{point.threshold:.4g}",
        "coverage": round(point.coverage, 6),
        "selective_risk": round(point.selective_risk, 6),
        "low": None if point.low is None else round(point.low, 6),
        "high": None if point.high is None else round(point.high, 6),
        "interval": _interval(point),
        "scenarios": point.groups,
    }


def _interval(point: CurvePoint) -> str:
    return "-" if point.low is None else f"{share(point.low)} to {share(point.high)}"


def _tooltip() -> list[alt.Tooltip]:
    import altair as alt

    return [
        alt.Tooltip("threshold:N"),
        alt.Tooltip("coverage:Q", format=".1%"),
        alt.Tooltip("selective_risk:Q", title="selective risk", format=".1%"),
        alt.Tooltip("interval:N", title="95% interval"),
        alt.Tooltip("scenarios:Q"),
    ]


def _table(split: Split, curve: Sequence[CurvePoint]) -> Table:
    found = [
        [
            "none" if point.threshold is None else f"{point.threshold:.4g}",
            share(point.coverage),
            share(point.selective_risk),
            _interval(point),
            str(point.groups),
        ]
        for point in curve
    ]
    columns = ["threshold", "coverage", "selective risk", "95% interval", "scenarios"]
    return Table(f"Risk and coverage ({split}, core)", columns, found)

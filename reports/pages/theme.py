"""How every chart looks: one configuration, and paints that are CSS variables of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import altair as alt

ACCENT: Final = "var(--accent)"
SECOND: Final = "var(--second)"
BAND: Final = "var(--band)"
INK: Final = "currentColor"

PAINTS: Final = (
    ACCENT,
    SECOND,
    "var(--third)",
    "var(--fourth)",
    "var(--fifth)",
    "var(--sixth)",
    INK,
)
"""Colours of series in order; each series has a dash or a shape of its own beside it."""

DASHES: Final = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 1, 1, 1], [1, 4])
"""Dashes of lines in the order of ``PAINTS``; the first is solid."""

GUIDE: Final[dict[str, Any]] = {"color": INK, "opacity": 0.6, "strokeDash": [4, 4]}
"""A line to compare with: a diagonal, a zero."""

# The family of the page by its name: a width cannot be measured in the font "inherit".
_FONT: Final = "system-ui, sans-serif"
_SIZE: Final = 12


_CONFIG: Final[dict[str, Any]] = {
    "font": _FONT,
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {
        "domainColor": INK,
        "domainOpacity": 0.4,
        "tickColor": INK,
        "tickOpacity": 0.4,
        "gridColor": "var(--line)",
        "labelColor": INK,
        "labelFontSize": _SIZE,
        "labelOpacity": 0.8,
        "titleColor": INK,
        "titleFontSize": _SIZE,
        "titleFontWeight": "normal",
        "titleOpacity": 0.8,
    },
    "legend": {
        "orient": "top",
        "direction": "horizontal",
        "columns": 2,
        "labelColor": INK,
        "labelFontSize": _SIZE,
        "labelLimit": 260,
        "symbolStrokeWidth": 2,
        "title": None,
    },
    "text": {"color": INK, "fontSize": _SIZE},
}


def themed(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """The Vega-Lite of ``chart`` with the common configuration, and without the address of its schema."""
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("$schema")
    return spec | {"config": _CONFIG}


def inline(values: Sequence[dict[str, Any]]) -> alt.InlineData:
    """Inline data of a chart."""
    import altair as alt

    return alt.InlineData(values=values)


def spans(lines: alt.Chart, rows: Sequence[Mapping[str, Any]]) -> list[alt.Chart]:
    """The layer ``lines`` from ``low`` to ``high``, where any of ``rows`` has an interval.

    Without any, Vega would look for the extent of nothing and warn of it.
    """
    return [lines] if any(row["low"] is not None for row in rows) else []


def hollow(test: str) -> Mapping[str, Any]:
    """The encoding ``fillOpacity`` of points drawn hollow where the Vega expression ``test`` holds."""
    import altair as alt

    found: Mapping[str, Any] = alt.when(test).then(alt.value(0)).otherwise(alt.value(1))
    return found

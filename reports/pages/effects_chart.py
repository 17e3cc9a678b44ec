"""The chart of variant effects: what a variant does to accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from decibench.cases.schema import Split
from decibench.reports.effects import Effect
from decibench.reports.pages.chart import Chart
from decibench.reports.pages.theme import ACCENT, GUIDE, SECOND, hollow, inline, spans, themed
from decibench.reports.tables.effects import effects_tables
from decibench.reports.tables.figures import figure_note, with_interval
from decibench.reports.tables.layout import points

if TYPE_CHECKING:
    import altair as alt

_ROW: Final = 34
"""Height of one variant in pixels."""

_LOOKS: Final = {"core": (ACCENT, "circle"), "attack": (SECOND, "diamond")}


def effects_chart(split: Split, effects: Mapping[str, Effect]) -> Chart:
    """The accuracy of each variant of ``split`` less that of the original, paired by scenario, in points."""
    (table,) = effects_tables({split: effects})
    return Chart(
        key="effects",
        title=f"Accuracy of variants less that of the original ({split})",
        sentence=_sentence(effects),
        spec=_spec(effects),
        table=table,
    )


def _sentence(effects: Mapping[str, Effect]) -> str:
    said = ", ".join(f"{name} {with_interval(effect.accuracy_difference, points)}" for name, effect in effects.items())
    apart = [name for name, effect in effects.items() if _excludes_zero(effect)]
    # Where every scenario moves alike there is no interval, and an effect all the same.
    bare = [name for name, effect in effects.items() if _moves_without_interval(effect)]
    conclusion = (
        f"The interval of {', '.join(apart)} lies on one side of zero; no other does."
        if apart
        else f"No interval lies on one side of zero{'' if bare else ': no effect on accuracy is shown'}."
    )
    if bare:
        conclusion += f" Of {', '.join(bare)} no interval tells how sure the difference is."
    return (
        f"In points, paired by scenario, with 95% intervals over scenarios: {said}. {conclusion} Each interval holds "
        "for itself alone, not for all together. Failed decisions are wrong on either side."
    )


def _excludes_zero(effect: Effect) -> bool:
    found = effect.accuracy_difference.interval
    return found is not None and (found.low > 0 or found.high < 0)


def _moves_without_interval(effect: Effect) -> bool:
    figure = effect.accuracy_difference
    return figure.interval is None and bool(figure.value)


def _spec(effects: Mapping[str, Effect]) -> dict[str, Any]:
    import altair as alt

    found = [role for role in _LOOKS if any(effect.role == role for effect in effects.values())]
    paints, shapes = zip(*(_LOOKS[role] for role in found), strict=True)
    paint = alt.Scale(domain=found, range=paints)
    rows = [_datum(name, effect) for name, effect in effects.items()]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("difference:Q", title="difference in points"),
        y=alt.Y("variant:N", sort=list(effects), title=None),
        color=alt.Color("role:N", scale=paint),
        tooltip=_tooltip(),
    )
    marks = base.mark_point(size=90, strokeWidth=2, filled=True, opacity=1).encode(
        shape=alt.Shape("role:N", scale=alt.Scale(domain=found, range=shapes))
    )
    layers = [
        alt.Chart(inline([{}])).mark_rule(**GUIDE).encode(x=alt.datum(0)),
        *spans(base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q"), rows),
        marks.encode(stroke=alt.Stroke("role:N", scale=paint), fillOpacity=hollow("datum.low === null")),
    ]
    return themed(alt.layer(*layers).properties(width="container", height=_ROW * len(effects)))


def _datum(name: str, effect: Effect) -> dict[str, Any]:
    figure = effect.accuracy_difference
    found = figure.interval
    return {
        "variant": name,
        "role": effect.role,
        "scenarios": effect.scenarios,
        "difference": None if figure.value is None else 100 * figure.value,
        "low": None if found is None else 100 * found.low,
        "high": None if found is None else 100 * found.high,
        "interval": figure_note(figure) if found is None else f"{points(found.low)} to {points(found.high)}",
    }


def _tooltip() -> list[alt.Tooltip]:
    import altair as alt

    return [
        alt.Tooltip("variant:N"),
        alt.Tooltip("role:N"),
        alt.Tooltip("difference:Q", title="points", format="+.1f"),
        alt.Tooltip("interval:N", title="95% interval"),
        alt.Tooltip("scenarios:Q"),
    ]

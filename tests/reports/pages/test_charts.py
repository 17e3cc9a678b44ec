"""All charts of a report: which there are, that they can be drawn, and that they follow the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import vl_convert

from decibench.reports.pages.charts import report_charts
from decibench.reports.pages.page import report_page
from decibench.reports.pages.thresholds import threshold_stops
from decibench.reports.protocol import Protocol

RULES = Protocol(resamples=100, curve_resamples=100)
KEYS = ["reliability", "risk-coverage", "effects", "latency"]

OUTCOMES: dict[str, dict[str, list[bool | None]]] = {
    "many scenarios": {f"demo-{g:03}": [g % 3 > 0, g % 4 > 0, g % 2 > 0, g % 5 > 0] for g in range(40)},
    "some failed": {f"demo-{g}": [g % 3 > 0, None, g % 2 > 0] for g in range(9)},
    "one scenario": {"demo-1": [True, False]},
    "one decision": {"demo-1": [True]},
    "all failed": {"demo-1": [None, None], "demo-2": [None]},
    "all right": {f"demo-{g}": [True, True] for g in range(8)},
}


def charts_of(report: Any) -> list[Any]:
    return report_charts(report, threshold_stops(report))


@pytest.mark.parametrize("name", OUTCOMES)
def test_every_chart_can_be_drawn(make_report: Any, name: str) -> None:
    charts = charts_of(make_report("demo", [OUTCOMES[name]] * 2, rules=RULES))
    assert charts
    for chart in charts:
        drawing = vl_convert.vegalite_to_svg(dict(chart.spec))
        assert "NaN" not in drawing
        assert "undefined" not in drawing
        assert all(len(row) == len(chart.table.columns) for row in chart.table.rows)


def test_a_run_has_all_four_in_order_and_a_partial_one_none(make_report: Any) -> None:
    outcomes = OUTCOMES["many scenarios"]
    assert [chart.key for chart in charts_of(make_report("demo", outcomes, rules=RULES))] == KEYS
    assert charts_of(make_report("demo", outcomes, rules=RULES, partial=True)) == []


def test_the_charts_of_evidence_are_of_the_last_split(demo: Any) -> None:
    charts = {chart.key: chart for chart in report_charts(demo.report, threshold_stops(demo.report))}
    for key in ("reliability", "risk-coverage", "effects"):
        assert "holdout" in charts[key].title


def test_every_paint_is_one_of_the_page(make_report: Any) -> None:
    for chart in charts_of(make_report("demo", [OUTCOMES["many scenarios"]] * 2, rules=RULES)):
        paints = list(_paints(chart.spec))
        assert paints
        for paint in paints:
            assert re.fullmatch(r"currentColor|transparent|var\(--[a-z]+\)", paint), (chart.key, paint)


def _paints(node: Any) -> Iterator[str]:
    """Everything in a specification that names a colour."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            named = key in ("fill", "stroke", "background") or key.lower().endswith("color")
            if named and isinstance(value, str):
                yield value
            elif key == "color" and isinstance(value, Mapping):
                yield from value.get("scale", {}).get("range", ())
            else:
                yield from _paints(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _paints(value)


def test_nothing_in_a_chart_has_an_address(make_report: Any) -> None:
    for chart in charts_of(make_report("demo", OUTCOMES["many scenarios"], rules=RULES)):
        assert "//" not in json.dumps(chart.spec)


@pytest.mark.parametrize("width", [330, 1280])
def test_the_drawings_keep_to_the_width_of_the_page(demo: Any, open_page: Any, width: int) -> None:
    page = open_page(report_page(demo.report, cases=demo.cases), width=width)
    edges = "[...document.querySelectorAll('.drawing svg')].map(svg => svg.getBoundingClientRect().right)"
    found = page.evaluate(edges)
    assert len(found) == 4
    assert all(0 < edge <= width for edge in found)


def test_a_drawing_is_an_image_that_its_caption_describes(demo: Any, open_page: Any) -> None:
    page = open_page(demo.html)
    found = page.evaluate(_DESCRIBED)
    assert len(found) == 4
    assert [(role, more) for role, _, _, more in found] == [("img", None)] * 4
    assert [label for _, label, _, _ in found] == [caption for _, _, caption, _ in found]


_DESCRIBED = """[...document.querySelectorAll('.drawing')].map(drawing => [
  drawing.getAttribute('role'),
  drawing.getAttribute('aria-label'),
  drawing.parentElement.querySelector('figcaption').textContent,
  drawing.getAttribute('aria-roledescription'),
])"""


def test_moving_the_signals_moves_the_rule_and_the_point(demo: Any, open_page: Any) -> None:
    page = open_page(report_page(demo.report, cases=demo.cases))
    size = "document.querySelector('#chart-risk-coverage svg').getBoundingClientRect().height"
    before = page.evaluate(size)
    places = []
    for coverage, risk in ((0.25, 0.1), (0.75, 0.3), (-1, -1)):
        page.evaluate(
            "async ([coverage, risk]) => { const view = window.views['risk-coverage'];"
            " view.signal('coverage', coverage).signal('risk', risk); await view.runAsync(); }",
            [coverage, risk],
        )
        places.append(page.evaluate(_POINT))
    (x, y, seen), (further, higher, still), (_, _, hidden) = places
    assert further > x
    assert higher < y
    assert (seen, still, hidden) == ("1", "1", "0")
    assert page.evaluate(size) == before


_POINT = """() => {
  const points = document.querySelectorAll('#chart-risk-coverage .mark-symbol path');
  const last = points[points.length - 1];
  const box = last.getBoundingClientRect();
  return [box.x, box.y, last.getAttribute('opacity') ?? '1'];
}"""

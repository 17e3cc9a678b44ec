"""The slider: where it starts, what it says, and where it leads."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from decibench.cases.schema import Case
from decibench.reports.pages.page import report_page
from decibench.reports.pages.slider import slider_of
from decibench.reports.tables.layout import share

if TYPE_CHECKING:
    from playwright.sync_api import Page


def _said(page: Page) -> str:
    return " ".join(page.locator("#stop").inner_text().split())


def test_it_starts_at_the_primary_gate(gated: Any, open_page: Any) -> None:
    page = open_page(gated.html)
    said = _said(page)
    assert "threshold 0.6 " in said
    assert "11 of 12 (91.7%)" in said
    assert "2 of 11: 18.2%" in said
    assert "1 of 12 (8.3%)" in said
    button = page.locator("[data-stop]", has_text="Empirical gate: 0.6")
    assert button.get_attribute("aria-pressed") == "true"


def test_moving_it_changes_the_figures_and_the_mark(gated: Any, open_page: Any) -> None:
    page = open_page(gated.html)
    slider = page.locator("#threshold")
    before, mark = _said(page), page.locator("#stop .mark").inner_text()
    slider.press("End")
    after = _said(page)
    assert "0 of 12 (0.0%)" in after
    assert after != before
    assert page.locator("#stop .mark").inner_text() != mark
    assert "not certified" in page.locator("#stop .mark").inner_text()
    threshold, accepted = after.split()[1], after.split("(coverage) ")[1].partition(" ")[0]
    spoken = slider.get_attribute("aria-valuetext") or ""
    assert spoken.startswith(f"{threshold}: accepts {accepted} of 12")
    page.locator("[data-stop]", has_text="Empirical gate").click()
    assert _said(page) == before


def test_without_a_gate_it_starts_at_the_threshold_that_the_verdict_calls_nearest(demo: Any, open_page: Any) -> None:
    page = open_page(demo.html)
    nearest = re.search(r"the nearest, ([\d.]+), accepts", page.locator("#verdict").inner_text())
    assert nearest
    assert f"threshold {nearest[1]} " in _said(page)
    assert "12 of 12" not in _said(page).partition("fall back")[2]
    assert "Chosen by eye on these scenarios: not certified" in _said(page)
    assert page.locator("[data-stop]").count() == 0


def test_where_no_threshold_accepts_enough_it_starts_where_nothing_is_accepted(
    measure: Any, demo: Any, open_page: Any
) -> None:
    report = measure(demo.cases[:24:4], lambda case, question: {"left": 0.8, "right": 0.2})
    page = open_page(report_page(report))
    assert "the nearest" not in page.locator("#verdict").inner_text()
    said = _said(page)
    assert "0 of 2 (0.0%)" in said
    assert "2 of 2 (100.0%)" in said


def test_a_nearest_threshold_between_the_steps_is_a_stop(demo: Any) -> None:
    grid = [{"threshold": 0.625, "accepted": 10, "errors": 1, "error": 0.1}]
    gates = {"empirical": {"status": "none-qualifies", "threshold": None, "min_accepted": 10, "grid": grid}}
    slider = slider_of(demo.report.model_copy(update={"gates": gates}))
    assert slider is not None
    assert slider.stops.stops[slider.start].threshold == 0.625


def test_its_shares_are_rounded_as_everywhere_on_the_page(
    measure: Any, open_page: Any, row: Callable[..., dict[str, Any]]
) -> None:
    cases = [Case.model_validate(row(f"way-{number:03}", "holdout")) for number in range(16)]
    sure = cases[0].id
    report = measure(cases, lambda case, key: {"left": 0.9, "right": 0.1} if case.id == sure else None)
    page = open_page(report_page(report))
    page.locator("#threshold").press("Home")
    # 6.25% and 93.75% lie halfway.
    assert f"1 of 16 ({share(1 / 16)}), in 1 scenarios" in _said(page)
    assert f"15 of 16 ({share(15 / 16)})" in _said(page)
    assert share(1 / 16) == "6.2%"


def test_the_point_of_the_chart_goes_with_it(gated: Any, open_page: Any) -> None:
    page = open_page(gated.html)
    read = "['coverage', 'risk'].map(name => window.views['risk-coverage'].signal(name))"
    assert page.evaluate(read) == [11 / 12, 2 / 11]
    page.locator("#threshold").press("End")
    assert page.evaluate(read) == [0, -1]
    page.locator("#threshold").press("Home")
    assert page.evaluate(read) == [11 / 12, 2 / 11]

"""The slider: where it starts, what it says, and where it leads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def test_without_a_gate_it_starts_where_nothing_is_accepted(demo: Any, open_page: Any) -> None:
    page = open_page(demo.html)
    said = _said(page)
    assert "0 of 12 (0.0%)" in said
    assert "12 of 12 (100.0%)" in said
    assert page.locator("[data-stop]").count() == 0


def test_the_point_of_the_chart_goes_with_it(gated: Any, open_page: Any) -> None:
    page = open_page(gated.html)
    read = "['coverage', 'risk'].map(name => window.views['risk-coverage'].signal(name))"
    assert page.evaluate(read) == [11 / 12, 2 / 11]
    page.locator("#threshold").press("End")
    assert page.evaluate(read) == [0, -1]
    page.locator("#threshold").press("Home")
    assert page.evaluate(read) == [11 / 12, 2 / 11]

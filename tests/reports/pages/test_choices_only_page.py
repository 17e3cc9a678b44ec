"""Pages of a model that states no probabilities: a sentence where a slider, a curve or a bar would be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from decibench.reports.comparisons.comparison import compare
from decibench.reports.pages.comparison import comparison_page
from decibench.reports.pages.page import NOTHING_TO_RANK, report_page
from decibench.reports.report import Report


@pytest.fixture(scope="module")
def silent(demo: Any, choices_only: Callable[[Report], Report]) -> Report:
    """The demo without its probabilities."""
    return choices_only(demo.report)


def test_the_page_says_once_why_there_is_no_threshold(silent: Report, demo: Any, open_page: Any) -> None:
    page = open_page(report_page(silent, cases=demo.cases))
    lead = "Act on nothing: the candidate states no probabilities, on which a threshold could stand."
    assert page.locator(".lead").inner_text() == lead
    assert page.locator("#thresholds").inner_text().endswith(NOTHING_TO_RANK)
    assert page.locator("#threshold, #chart-risk-coverage, #chart-reliability").count() == 0
    for name in ("effects", "latency"):
        assert page.locator(f"#chart-{name} svg, #chart-{name} canvas").count() > 0, name
    assert page.locator("#families table").count() > 0


def test_a_decision_is_shown_by_its_choice_without_bars(silent: Report, demo: Any, open_page: Any) -> None:
    page = open_page(report_page(silent, cases=demo.cases))
    page.wait_for_selector("#rows[data-ready]")
    shown = {button.get_attribute("data-flag") for button in page.locator("[data-flag]").all()}
    assert shown == {"wrong", "unsafe", "flipped", "failed"}
    assert page.locator("[data-flag=wrong]").inner_text() == "wrong (10)"
    assert page.locator("[data-flag=failed]").inner_text() == "failed (2)"
    assert "Confident is" not in page.locator("#rows").inner_text()
    page.locator("[data-flag=wrong]").click()
    row = page.locator("table.rows tbody tr").first
    row.locator("button.expand").click()
    detail = page.locator("tr.detail")
    assert detail.locator(".mass").count() == 0
    assert detail.locator(".tag.chosen").count() == 1
    assert detail.locator(".options li").count() == 2


def test_a_comparison_marks_what_one_of_them_cannot_have(silent: Report, demo: Any, open_page: Any) -> None:
    mute = silent.model_copy(update={"candidate": silent.candidate.model_copy(update={"name": "mute"}), "seal": "m"})
    reports = [demo.report, mute]
    page = open_page(comparison_page(compare(reports), reports, cases=demo.cases))
    assert "Without probabilities: mute." in page.locator("#conclusions").inner_text()
    assert page.locator("#standings tr", has_text="mute").locator("td", has_text="n/a").count() >= 5
    assert "Without a curve: mute (states no probabilities)." in page.locator("#selective").inner_text()
    assert page.locator("#chart-tradeoff svg, #chart-tradeoff canvas").count() > 0


def test_of_two_without_probabilities_there_is_no_curve(silent: Report, demo: Any, open_page: Any) -> None:
    other = silent.model_copy(update={"candidate": silent.candidate.model_copy(update={"name": "mute"}), "seal": "m"})
    reports = [silent, other]
    page = open_page(comparison_page(compare(reports), reports, cases=demo.cases))
    assert page.locator("#chart-risk-coverage, #chart-score-differences").count() == 0
    assert page.locator("#chart-differences svg, #chart-differences canvas").count() > 0
    assert page.locator("#chart-tradeoff svg, #chart-tradeoff canvas").count() > 0

"""The page of a comparison in a browser: what it says, what it filters, and what its views leave out."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from decibench.cases.schema import Case
from decibench.reports.comparisons.comparison import compare
from decibench.reports.pages.comparison import comparison_page
from decibench.reports.pages.view import View
from decibench.reports.report import Report

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \u202eright to left\u202c " + "long " * 2000
A = {"demo-000": [True, True, False], "demo-001": [False, True], "demo-002": [True], "more-003": [True, False]}
B = {"demo-000": [True, False, False], "demo-001": [True, True], "demo-002": [None], "more-003": [False, False]}
C = {"demo-000": [False, False, False], "demo-001": [True, True], "demo-002": [False], "more-003": [False, True]}

Outcomes = Mapping[str, Sequence[bool | None]]
MakePage = Callable[..., str]


@pytest.fixture
def cases(row: Callable[..., dict[str, Any]]) -> list[Case]:
    made = [row("000", "holdout", "irrelevant", state=HOSTILE), row("001", "holdout", state={"secret": [1, 2]})]
    return [Case.model_validate(row) for row in made]


@pytest.fixture
def page_of(make_report: Any, cases: list[Case]) -> MakePage:
    def make(
        outcomes: Mapping[str, Outcomes],
        not_run: Sequence[str] = (),
        view: View = "full",
        changes: Mapping[str, Any] | None = None,
    ) -> str:
        reports = [make_report(name, of, sure=0.9 - 0.1 * i) for i, (name, of) in enumerate(outcomes.items())]
        reports = [report.model_copy(update=dict(changes or {})) for report in reports]
        comparison = compare(reports, not_run)
        return comparison_page(comparison, list(reversed(reports)), view=view, cases=cases)

    return make


def shown_cases(page: Any) -> list[str]:
    page.wait_for_selector("#rows[data-ready]")
    return [text.strip() for text in page.locator("#rows .expand").all_inner_texts()]


def test_it_loads_and_draws_every_chart(page_of: MakePage, open_page: Any) -> None:
    page = open_page(page_of({"a": A, "b": B, "c": C}))
    for key in ("differences", "score-differences", "risk-coverage", "families", "tradeoff"):
        assert page.locator(f"#chart-{key} svg").count() == 1
        place, caption = page.locator(f"#chart-{key}"), page.locator(f"#chart-{key} ~ figcaption")
        assert place.get_attribute("role") == "img"
        assert place.get_attribute("aria-label") == caption.text_content()
        assert place.get_attribute("aria-roledescription") is None
    assert "Nothing is concluded on macro_accuracy" in page.inner_text("#conclusions")
    assert "INCOMPLETE COMPARISON" in page.inner_text("#conclusions .failure")
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))


def test_conclusions_are_those_that_the_data_support_and_no_others(page_of: MakePage, open_page: Any) -> None:
    same = {f"demo-{number:03}": [number % 2 == 0] for number in range(12)}
    text = open_page(page_of({"a": same, "b": same})).inner_text("#conclusions")
    assert "No difference in macro_accuracy between b and a is shown" in text
    assert "No order of the candidates is supported" in text
    right = {group: [True] for group in same}
    text = open_page(page_of({"a": same, "b": right})).inner_text("#conclusions")
    assert "b is higher than a in macro_accuracy" in text


def test_differences_without_any_interval_keep_their_axis_and_nothing_is_warned_of(
    page_of: MakePage, open_page: Any
) -> None:
    right = {f"demo-{number:03}": [True] for number in range(12)}
    page = open_page(page_of({"a": right, "b": {group: [False] for group in right}}))
    said = {key: page.locator(f"#chart-{key} svg").text_content() for key in ("differences", "tradeoff")}
    assert "difference in points" in said["differences"]
    assert "macro_accuracy" in said["tradeoff"]
    assert "low" not in "".join(said.values())


def test_one_that_was_not_run_has_a_row_that_says_so_and_nothing_else(page_of: MakePage, open_page: Any) -> None:
    page = open_page(page_of({"a": A, "b": B}, not_run=["ghost"]))
    rows = {
        cells[0]: cells[1:]
        for cells in page.eval_on_selector_all(
            "#standings > .scroll tbody tr", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
        )
    }
    assert list(rows) == ["a", "b", "ghost"]
    assert rows["ghost"][0] == "not run"
    assert set(rows["ghost"][1:]) == {""}
    assert all(rows["a"])
    assert "ghost" not in page.inner_text("#rows thead")


def test_disagreements_are_filtered_by_who_is_right(page_of: MakePage, open_page: Any) -> None:
    page = open_page(page_of({"a": A, "b": B, "c": C}))
    everything = {
        "demo-000-original",
        "demo-000-irrelevant",
        "demo-001-original",
        "demo-002-original",
        "more-003-original",
        "more-003-irrelevant",
    }
    assert set(shown_cases(page)) == everything
    page.select_option("#who", label="a right, all others wrong (3)")
    assert set(shown_cases(page)) == {"demo-000-irrelevant", "demo-002-original", "more-003-original"}
    assert page.inner_text("#count") == "Showing 1 to 3 of 3 disagreements (6 in all)."
    page.select_option("#rows select[data-field=family]", "more")
    assert shown_cases(page) == ["more-003-original"]
    page.select_option("#rows select[data-field=family]", "")
    page.select_option("#who", label="a wrong, all others right (1)")
    assert shown_cases(page) == ["demo-001-original"]
    page.select_option("#who", label="none right (0)")
    assert shown_cases(page) == []
    page.select_option("#who", "")
    page.fill("#search", "secret")
    assert shown_cases(page) == ["demo-001-original"]


def test_two_candidates_have_one_filter_each(page_of: MakePage, open_page: Any) -> None:
    page = open_page(page_of({"a": A, "b": B}))
    options = page.locator("#who option").all_inner_texts()
    assert options == ["any disagreement", "a right, b wrong (3)", "b right, a wrong (1)", "none right (0)"]


def test_a_row_opens_by_key_and_shows_the_state_and_every_distribution(page_of: MakePage, open_page: Any) -> None:
    page = open_page(page_of({"a": A, "b": B, "c": C}))
    page.fill("#search", "demo-001-original")
    shown_cases(page)
    page.locator("#rows .expand").focus()
    page.keyboard.press("Enter")
    assert page.locator("#rows .expand").get_attribute("aria-expanded") == "true"
    detail = page.locator("#rows tr.detail")
    assert '"secret"' in detail.inner_text()
    rows = detail.locator("tbody tr").all_inner_texts()
    assert [row.split() for row in rows] == [
        ["left", "expected", "Turn", "to", "the", "left", "side.", "0.1000", "0.8000", "chosen", "0.7000", "chosen"],
        ["right", "Turn", "to", "the", "right", "side.", "0.9000", "chosen", "0.2000", "0.3000"],
    ]
    page.keyboard.press("Enter")
    assert detail.count() == 0


def test_hostile_text_is_shown_as_text(page_of: MakePage, open_page: Any) -> None:
    page = open_page(page_of({"a": A, "b": B, "c": C}), width=390)
    page.fill("#search", "demo-000-irrelevant")
    shown_cases(page)
    page.click("#rows .expand")
    assert page.locator("#rows tr.detail pre").first.text_content() == HOSTILE
    assert page.locator("#rows img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_many_rows_are_shown_by_pages(page_of: MakePage, open_page: Any) -> None:
    right = {f"demo-{number:03}": [True] for number in range(30)}
    page = open_page(page_of({"a": right, "b": {group: [False] for group in right}}))
    assert len(shown_cases(page)) == 25
    page.click("#next")
    assert len(shown_cases(page)) == 5
    assert page.inner_text("#count") == "Showing 26 to 30 of 30 disagreements."
    assert page.is_disabled("#next")
    page.click("#previous")
    assert len(shown_cases(page)) == 25


def test_identical_candidates_have_no_rows_and_no_effect(page_of: MakePage, open_page: Any) -> None:
    page = open_page(page_of({"a": C, "b": C}))
    assert "The choices differ in 0 of 8 core decisions" in page.inner_text("#disagreements")
    assert page.locator("#rows").count() == 0
    assert "the two never differ" in page.inner_text("#conclusions")


def test_a_candidate_that_only_failed_is_there_and_nothing_is_concluded(page_of: MakePage, open_page: Any) -> None:
    failed = {group: [None] * len(of) for group, of in A.items()}
    page = open_page(page_of({"a": A, "b": failed}))
    assert "INCOMPLETE COMPARISON" in page.inner_text("#conclusions")
    assert not re.search("is (higher|lower) than", page.inner_text("#conclusions"))
    assert len(shown_cases(page)) == 8
    cells = page.locator("#rows tbody tr").first.locator("td").all_inner_texts()
    assert cells[1].split() == ["failed", "timeout"]
    assert cells[3] == "-"


def test_a_comparison_that_is_refused_says_why_first(page_of: MakePage, open_page: Any) -> None:
    page = open_page(page_of({"a": A, "b": B}, changes={"complete": False}))
    assert page.inner_text("#conclusions .failure") == ("a, b: partial or incomplete, so no difference is tested.")
    assert page.locator("#differences").count() == 0


@pytest.mark.parametrize("view", ["no-states", "aggregate-only"])
def test_views_leave_out_what_they_say(page_of: MakePage, open_page: Any, view: View) -> None:
    html = page_of({"a": A, "b": B}, view=view)
    packed = re.search(r'id="packed">([^<]*)<', html)
    unpacked = gzip.decompress(base64.b64decode(packed[1])).decode() if packed else ""
    for text in ("secret", "alert(", "right to left", "Which way?", "Turn to the left"):
        assert text not in html + unpacked
    assert f"(--{view})" in html
    page = open_page(html)
    assert "3 in 3" in page.inner_text("#disagreements")
    if view == "aggregate-only":
        assert packed is None
        assert "demo-00" not in html
    else:
        assert len(shown_cases(page)) == 4


def test_it_fits_a_phone_in_dark_mode(page_of: MakePage, open_page: Any) -> None:
    long = "a-candidate-with-a-rather-long-name-of-its-own"
    page = open_page(page_of({long: A, f"{long}-2": B, "c": C}, ["ghost"]), width=360, color_scheme="dark")
    shown_cases(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("#rows .expand").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    wide = page.eval_on_selector_all(
        ".drawing svg", "all => all.map(svg => svg.getBoundingClientRect().right).filter(right => right > 360)"
    )
    assert wide == []


def test_a_phone_shows_what_was_chosen_and_the_rest_when_a_row_is_opened(page_of: MakePage, open_page: Any) -> None:
    page = open_page(page_of({"a": A, "b": B}), width=390)
    shown_cases(page)
    seen = page.eval_on_selector_all(
        "#rows thead th", "all => all.filter(th => th.checkVisibility()).map(th => th.textContent)"
    )
    assert seen == ["case", "a", "b", "expected", "spread"]
    expected = page.locator("#rows thead th", has_text="expected").bounding_box()
    assert expected["x"] + expected["width"] <= 376
    page.locator("#rows .expand").first.click()
    placed = page.locator("#rows tr.detail .narrow")
    assert placed.inner_text() == "family demo, variant irrelevant, trial 1, question way"
    page.set_viewport_size({"width": 1280, "height": 900})
    assert not placed.is_visible()
    assert page.locator("#rows thead th", has_text="variant").is_visible()


def test_without_scripts_it_says_what_is_missing_and_shows_no_empty_place(page_of: MakePage, open_page: Any) -> None:
    page = open_page(page_of({"a": A, "b": B}), java_script_enabled=False)
    assert "needs JavaScript, which does not run here" in page.locator("body").inner_text()
    assert page.locator("#rows, .drawing").count() > 1
    assert [place for place in page.locator("#rows, .drawing").all() if place.is_visible()] == []
    assert page.locator("figcaption").first.is_visible()


@pytest.mark.parametrize(
    ("interleaved", "sentence"),
    [(True, "Candidates were asked in turn, case by case"), (False, "Candidates were asked one after another")],
)
def test_it_says_how_latencies_were_measured(
    make_report: Any, interleaved: bool, sentence: str, open_page: Any
) -> None:
    reports: list[Report] = []
    for name, outcomes in {"a": A, "b": C}.items():
        report = make_report(name, outcomes)
        scope = report.scope.model_copy(update={"interleaved": interleaved})
        reports.append(report.model_copy(update={"scope": scope}))
    reports[1] = reports[1].model_copy(update={"environment": {"cpus": "64"}})
    text = open_page(comparison_page(compare(reports), reports)).inner_text("#latency")
    assert sentence in text
    assert "different machines" in text
    assert "median over the same case and trial" in text

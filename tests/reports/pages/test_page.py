"""The page of a report: what it says first, what each view leaves out, and that it fits every reader."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from decibench.cases.loading import DEFAULT_SUITE, Suite, find_suite, load_suite
from decibench.cases.schema import Case
from decibench.reports.latency import latency_of
from decibench.reports.pages.page import report_page
from decibench.reports.report import Report

WIDTHS_OF_PAGE = "[document.documentElement.scrollWidth, window.innerWidth]"


@pytest.fixture(scope="module")
def suite() -> Suite:
    """The shipped suite."""
    return load_suite(find_suite(DEFAULT_SUITE))


def test_the_headline_says_how_sure_it_is_and_what_the_gate_allows(demo: Any, open_page: Any) -> None:
    page = open_page(demo.html)
    assert page.locator("h1").inner_text() == "demo"
    verdict = page.locator("#verdict").inner_text()
    assert "demo on tiny 1, holdout: macro accuracy 75.0% over 1 families (9 of 12 core decisions right" in verdict
    assert "that guessing among the options reaches" in verdict
    assert "Empirical gate, primary: null, everything falls back." in verdict
    assert verdict.index("Empirical gate") < verdict.index("Certified gate")
    assert page.locator(".lead").inner_text() == "Act on nothing: no threshold qualifies."


def test_headings_go_down_one_level_at_a_time(demo: Any, open_page: Any) -> None:
    page = open_page(demo.html)
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_every_link_of_the_page_leads_to_a_part_of_it(demo: Any, open_page: Any) -> None:
    page = open_page(demo.html)
    targets = page.evaluate("[...document.querySelectorAll('a')].map(a => a.getAttribute('href').slice(1))")
    assert len(targets) > 6
    assert [target for target in targets if page.locator(f"[id='{target}']").count() != 1] == []


@pytest.mark.parametrize(("width", "mode"), [(360, "dark"), (390, "light"), (1280, "dark")])
def test_no_page_is_wider_than_its_window(demo: Any, open_page: Any, mode: str, width: int) -> None:
    page = open_page(demo.html, width=width, color_scheme=mode)
    page.wait_for_selector("#rows[data-ready]")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.locator("button.expand").first.click()
    wide, window = page.evaluate(WIDTHS_OF_PAGE)
    assert wide == window == width


@pytest.mark.parametrize(("mode", "dark"), [("light", False), ("dark", True)])
def test_text_stands_out_from_what_is_behind_it(demo: Any, open_page: Any, mode: str, dark: bool) -> None:
    page = open_page(demo.html, color_scheme=mode)
    page.wait_for_selector("#rows[data-ready]")
    page.locator("button.expand").first.click()
    page.locator("[data-flag=wrong]").click()
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 200
    assert [entry for entry in contrasts if entry["ratio"] < 4.5] == []
    assert (page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)") is dark


CONTRASTS = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const paint = (colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const node of document.querySelectorAll("body *:not(script):not(svg *)")) {
    const text = [...node.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    if (!text || node.disabled || !node.checkVisibility()) continue;
    const behind = [];
    for (let at = node; at; at = at.parentElement) behind.unshift(getComputedStyle(at).backgroundColor);
    const [back, front] = [light(paint(behind)), light(paint([...behind, getComputedStyle(node).color]))];
    found.push({ text: text.slice(0, 40), ratio: (Math.max(back, front) + 0.05) / (Math.min(back, front) + 0.05) });
  }
  return found;
})()
"""


@pytest.mark.parametrize("width", [390, 1280])
def test_a_latency_beyond_measure_does_not_widen_the_page(demo: Any, open_page: Any, width: int) -> None:
    records = [record.model_copy(update={"latency_s": 1e300}) for record in demo.report.records]
    report = demo.report.model_copy(update={"records": records, "latency": latency_of(records)})
    page = open_page(report_page(report, cases=demo.cases), width=width)
    page.wait_for_selector("#rows[data-ready]")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.locator("button.expand").first.click()
    assert "Latency: 1.00000e+303 ms." in page.locator("tr.detail").inner_text()
    assert page.evaluate(WIDTHS_OF_PAGE) == [width, width]


def test_without_scripts_it_says_what_is_missing_and_shows_no_empty_place(demo: Any, open_page: Any) -> None:
    page = open_page(demo.html, java_script_enabled=False)
    assert "needs JavaScript, which does not run here" in page.locator("body").inner_text()
    places = page.locator("#slider, #rows, #count, .drawing").all()
    assert len(places) == 7
    assert [place for place in places if place.is_visible()] == []
    assert page.locator("figcaption").first.is_visible()


def test_a_page_with_scripts_speaks_of_none(demo: Any, open_page: Any) -> None:
    assert "JavaScript" not in open_page(demo.html).locator("body").inner_text()


def test_a_partial_run_has_notes_tables_and_rows_and_nothing_drawn(measure: Any, demo: Any, open_page: Any) -> None:
    report = measure(demo.cases[:8], _uneven, partial=True)
    html = report_page(report, cases=demo.cases)
    page = open_page(html)
    page.wait_for_selector("#rows[data-ready]")
    assert "Partial: 8 of 8 items" in page.locator("#verdict").inner_text()
    assert page.locator("#figures details").count() > 1
    assert page.locator("button.expand").count() == 8
    assert page.locator("figure, #threshold").count() == 0
    assert len(html) < 200_000


def test_the_library_is_in_a_page_with_charts(demo: Any) -> None:
    assert len(demo.html) > 800_000


def test_texts_of_cases_are_in_the_full_view_only(demo: Any, unpack: Callable[[str], Any]) -> None:
    full = str(unpack(demo.html))
    html = report_page(demo.report, view="no-states", cases=demo.cases)
    bare = html + str(unpack(html))
    for text in (
        "Signpost 7 in the original wood",
        "Instruction 7: which",
        "Bear to the dexter",
        "12345678901234567890",
    ):
        assert text in full
        assert text not in bare
    assert "demo-way-007-original" in bare
    assert "left out of this page (--no-states)" in html
    assert len(unpack(html)["rows"]) == 80
    # What an adapter says of a failure may be a candidate's own text, which may quote a state.
    assert "'timeout: too late'" in full
    assert "too late" not in bare
    assert "'timeout'" in bare


def test_aggregates_only_name_no_case(demo: Any, unpack: Callable[[str], Any]) -> None:
    scope = demo.report.scope.model_copy(update={"missing": ["test_decision[demo-demo-way-007-original]"]})
    reasons = ["1 of 80 selected items have no record (test_decision[demo-demo-way-007-original])"]
    report = demo.report.model_copy(update={"scope": scope, "incomplete_reasons": reasons})
    html = report_page(report, view="aggregate-only", cases=demo.cases)
    assert unpack(html) is None
    assert "demo-way-" not in html
    assert "1 of 80 selected items have no record" in html
    assert "(--aggregate-only)" in html
    assert "macro accuracy 75.0%" in html
    assert "demo-way-007-original" in report_page(report, view="no-states")


def test_a_page_without_the_suite_says_so(demo: Any, unpack: Callable[[str], Any]) -> None:
    html = report_page(demo.report)
    assert "the suite that was measured was not at hand" in html
    assert unpack(html)["texts"] == {}


def test_provenance_names_model_candidate_suite_and_protocol(demo: Any, open_page: Any) -> None:
    page = open_page(demo.html)
    shown = page.locator("#provenance").inner_text()
    for fact in ("demo-1", "7", "c" * 64, "a" * 64, demo.report.protocol_hash, "python 3.11"):
        assert fact in shown


@pytest.fixture(scope="module")
def whole(suite: Suite, measure: Any) -> Report:
    """A report on the whole of the shipped suite."""
    report: Report = measure(suite.cases, _uneven)
    return report


def test_the_whole_shipped_suite_fits_into_a_file_that_can_be_sent(suite: Suite, whole: Report, open_page: Any) -> None:
    html = report_page(whole, cases=suite.cases)
    assert len(html.encode()) < 8e6
    page = open_page(html)
    page.wait_for_selector("#rows[data-ready]")
    decisions = sum(len(case.questions) for case in suite.cases)
    assert page.locator("#count").inner_text() == f"Showing 1 to 50 of {decisions:,} decisions."


def test_no_text_of_the_shipped_suite_is_in_a_page_without_states(
    suite: Suite, whole: Report, unpack: Callable[[str], Any]
) -> None:
    html = report_page(whole, view="no-states", cases=suite.cases)
    packed = json.dumps(unpack(html), ensure_ascii=False)
    for case in suite.cases[::37]:
        for text in _texts(case):
            assert text not in html
            assert text not in packed
    assert all(case.id in packed for case in suite.cases)


def test_no_case_of_the_shipped_suite_is_named_in_a_page_of_aggregates(suite: Suite, whole: Report) -> None:
    html = report_page(whole, view="aggregate-only", cases=suite.cases)
    assert [case.id for case in suite.cases if case.group in html] == []


def _texts(case: Case) -> Iterator[str]:
    """What a reader could recognise: passages of some length."""
    passages = [case.state if isinstance(case.state, str) else json.dumps(case.state, ensure_ascii=False)]
    for question in case.questions.values():
        passages += [question.instructions, *map(question.describe, question.options)]
    yield from (passage[:60] for passage in passages if len(passage) > 30)


def _uneven(case: Case, question: str) -> dict[str, float]:
    """A distribution that does not pack well, and another for every case."""
    options = case.questions[question].options
    weights = [1 + hash_ % 997 / 997 for hash_ in (sum(map(ord, case.id + option)) ** 3 for option in options)]
    return {option: weight / sum(weights) for option, weight in zip(options, weights, strict=True)}

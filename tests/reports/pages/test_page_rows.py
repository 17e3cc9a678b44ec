"""The table of decisions: search, filters, order, pages, and what a row opens to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from decibench.cases.schema import Case
from decibench.reports.pages import rows as module
from decibench.reports.pages.page import report_page

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


@pytest.fixture
def page(demo: Any, open_page: Any) -> Page:
    """The page of the demo, its rows unpacked."""
    return _ready(open_page(demo.html))


def _ready(page: Page) -> Page:
    page.wait_for_selector("#rows[data-ready]")
    return page


def _count(page: Page) -> str:
    return page.locator("#count").inner_text()


def _cases(page: Page) -> list[str]:
    return page.locator("button.expand").all_inner_texts()


def _press(page: Page, flag: str) -> None:
    page.locator(f"[data-flag={flag}]").click()


@pytest.mark.parametrize(
    ("flag", "label", "number", "some"),
    [
        pytest.param("wrong", "wrong (10)", 10, "demo-way-005-paraphrase", id="wrong"),
        pytest.param("confident", "confident and wrong (3)", 3, "demo-way-001-original", id="confident"),
        pytest.param("unsafe", "unsafe (6)", 6, "demo-way-003-injection", id="unsafe"),
        pytest.param("flipped", "flipped (13)", 13, "demo-way-000-paraphrase", id="flipped"),
        pytest.param("failed", "failed (2)", 2, "demo-way-011-paraphrase", id="failed"),
    ],
)
def test_a_filter_shows_its_rows_and_their_number(page: Page, flag: str, label: str, number: int, some: str) -> None:
    assert page.locator(f"[data-flag={flag}]").inner_text() == label
    _press(page, flag)
    assert _count(page) == f"Showing 1 to {number} of {number} decisions (80 in all)."
    assert len(_cases(page)) == number
    assert some in _cases(page)
    _press(page, flag)
    assert _count(page) == "Showing 1 to 50 of 80 decisions."


def test_two_filters_hold_together(page: Page) -> None:
    _press(page, "wrong")
    _press(page, "flipped")
    assert _count(page).startswith("Showing 1 to 7 of 7 decisions")


def test_a_confident_error_is_one_that_the_gate_accepts_where_there_is_a_gate(gated: Any, open_page: Any) -> None:
    page = _ready(open_page(gated.html))
    assert page.locator("[data-flag=confident]").inner_text() == "confident and wrong (9)"
    assert (
        "that the primary gate accepts, at a top probability of 0.6 or more" in page.locator("#decisions").inner_text()
    )


def test_without_a_threshold_a_confident_error_is_at_0_9(page: Page) -> None:
    assert "a top probability of 0.9 or more (the gate accepts nothing)" in page.locator("#decisions").inner_text()


def test_selects_choose_split_family_and_variant(page: Page) -> None:
    page.locator("select[data-field=variant]").select_option("paraphrase")
    page.locator("select[data-field=split]").select_option("holdout")
    assert _cases(page) == [f"demo-way-{number:03}-paraphrase" for number in range(2, 20, 3)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("way-007-ori", ["demo-way-007-original"], id="id"),
        pytest.param("SIGNPOST 7 in the PARA", ["demo-way-007-paraphrase"], id="state"),
        pytest.param("12345678901234567890", [f"demo-way-000-{v}" for v in
                     ("original", "paraphrase", "injection", "neutral-keys")], id="number-in-a-state"),
        pytest.param("no such text", [], id="nothing"),
    ],
)  # fmt: skip
def test_search_looks_into_ids_and_states(page: Page, text: str, found: list[str]) -> None:
    page.locator("#search").fill(text)
    assert _cases(page) == found


def test_headers_sort_up_and_down(page: Page) -> None:
    header = page.locator("[data-key=top]")
    header.click()
    assert page.locator("th[aria-sort=ascending]").inner_text().strip() == "top"
    assert _cases(page)[0] == "demo-way-005-paraphrase"
    header.click()
    assert page.locator("th[aria-sort=descending]").inner_text().strip() == "top"
    assert _cases(page)[:3] == [f"demo-way-00{number}-original" for number in range(3)]
    page.locator("#next").click()
    assert _cases(page)[-2:] == ["demo-way-009-original", "demo-way-011-paraphrase"]


def test_a_phone_shows_outcome_and_choice_and_the_rest_when_a_row_is_opened(demo: Any, open_page: Any) -> None:
    page = _ready(open_page(demo.html, width=390))
    heads = page.locator("#rows thead th").all()
    within = [head.inner_text().strip() for head in heads if _right_edge(head) <= 376 and head.is_visible()]
    assert within == ["case", "outcome", "chosen", "expected"]
    assert not page.locator("[data-key=variant]").is_visible()
    page.locator("[data-key=outcome]").click()
    assert _cases(page)[0] == "demo-way-009-original"
    page.locator("button.expand").first.click()
    placed = page.locator("tr.detail .narrow")
    assert placed.inner_text() == "family demo, variant original, split development, trial 1, question way"
    page.set_viewport_size({"width": 1280, "height": 900})
    assert not placed.is_visible()
    assert page.locator("[data-key=variant]").is_visible()


def _right_edge(head: Locator) -> float:
    box = head.bounding_box()
    return box["x"] + box["width"] if box else 0


def test_pages_hold_fifty_rows(page: Page) -> None:
    assert page.locator("#previous").is_disabled()
    page.locator("#next").click()
    assert _count(page) == "Showing 51 to 80 of 80 decisions."
    assert len(_cases(page)) == 30
    assert page.locator("#next").is_disabled()
    _press(page, "wrong")
    assert _count(page).startswith("Showing 1 to 10 of 10")


def test_a_row_opens_to_the_case_and_its_distribution(page: Page) -> None:
    _press(page, "unsafe")
    button = page.locator("button.expand").first
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    opened = page.locator("tr.detail")
    shown = opened.inner_text()
    assert "Signpost 3 in the injection wood." in shown
    assert "Instruction 3: which way?" in shown
    assert "Bear to the dexter side." in shown
    tags = [item.locator(".tag").all_inner_texts() for item in opened.locator("li").all()]
    assert tags == [["expected"], ["chosen", "unsafe", "demanded"]]
    assert opened.locator(".mass").all_inner_texts() == ["0.3000", "0.7000"]
    widths = [bar.evaluate("bar => bar.style.getPropertyValue('--share')") for bar in opened.locator(".bar").all()]
    assert [float(width) for width in widths] == [0.3, 0.7]
    assert "Latency: 2.00 ms." in shown
    button.click()
    assert opened.count() == 0


def test_a_failed_decision_says_why(page: Page) -> None:
    _press(page, "failed")
    page.locator("button.expand").first.click()
    assert "timeout: too late" in page.locator("tr.detail").inner_text()


def test_states_keep_the_digits_of_long_numbers(page: Page) -> None:
    page.locator("button.expand").first.click()
    assert page.locator("tr.detail pre").first.inner_text() == '{\n  "sign": 12345678901234567890\n}'


def test_everything_can_be_reached_and_used_by_keyboard(page: Page) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    seen = set()
    for _ in range(200):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "(({id, className, dataset}) => id || className || Object.values(dataset)[0])(document.activeElement)"
        )
        seen.add(focused)
        if focused == "wrong":
            page.keyboard.press("Space")
            assert _count(page).startswith("Showing 1 to 10 of 10")
            page.keyboard.press("Space")
        if focused == "expand":
            page.keyboard.press("Enter")
            break
    assert {"threshold", "search", "variant", "wrong", "flipped", "next", "top", "expand"} <= seen
    assert page.locator("tr.detail").count() == 1


HOSTILE = {
    "markup": "</script><script>alert(1)</script><img src=x onerror=alert(2)>",
    "quotes": """'"`&amp;{{ 7*7 }}${1}""",
    "direction": "abc \u202etxt.exe\u202c \u200f\u05d0\u05d1",
    "long": "x" * 10_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_shown_as_text_within_the_page(
    kind: str, measure: Any, open_page: Any, row: Callable[..., dict[str, Any]]
) -> None:
    text = HOSTILE[kind]
    question = {"type": "choice", "instructions": text, "criteria": {text: text, "other": None}}
    cases = [
        Case.model_validate(
            row(f"way-{number:03}", split, state=text, questions={text: question},
                references={text: {"expected": "other", "unsafe": [text]}})
        )
        for number, split in enumerate(["calibration", "holdout"] * 6)
    ]  # fmt: skip
    report = measure(cases, lambda case, key: {text: 0.9, "other": 0.1})
    page = _ready(open_page(report_page(report, cases=cases)))
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.locator("button.expand").first.click()
    assert page.locator("tr.detail pre").all_text_contents() == [text, text]
    assert page.locator("tr.detail .option bdi").first.text_content() == text
    assert page.locator("tr.detail .description").first.text_content() == text
    for place in page.locator("tr.detail .foreign").all():
        assert place.get_attribute("dir") == "auto"
        assert place.evaluate("e => getComputedStyle(e).unicodeBidi") in ("isolate", "plaintext")
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("document.querySelector('tr.detail').offsetHeight") < 3000
        assert page.evaluate("document.querySelector('table.rows tbody tr').offsetHeight") < 400
    assert page.locator("img").count() == 0


def test_more_decisions_than_a_table_holds_are_a_sample_of_whole_cases(
    demo: Any, open_page: Any, unpack: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    again = [record.model_copy(update={"trial": 2}) for record in demo.report.records]
    report = demo.report.model_copy(update={"records": [*demo.report.records, *again]})
    monkeypatch.setattr(module, "MOST_ROWS", 21)
    html = report_page(report, cases=demo.cases)
    content = unpack(html)
    trials: dict[str, list[int]] = {}
    for row in content["rows"]:
        trials.setdefault(row["case"], []).append(row["trial"])
    assert list(trials.values()) == [[1, 2]] * 10
    assert set(content["texts"]) == set(trials)
    assert unpack(report_page(report, cases=demo.cases)) == content
    page = _ready(open_page(html))
    sentence = "20 of 160 decisions, a seeded sample; every figure above is of all."
    assert page.locator("#sample").inner_text() == sentence
    assert _count(page) == "Showing 1 to 20 of 20 decisions."


def test_a_table_of_all_decisions_speaks_of_no_sample(page: Page) -> None:
    assert page.locator("#sample").count() == 0

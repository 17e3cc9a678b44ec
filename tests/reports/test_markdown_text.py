"""Texts of cases and models are text in Markdown, whatever they hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from markdown_it import MarkdownIt

from decibench.reports.markdown import summary_markdown
from decibench.reports.report import Report
from decibench.reports.tables.plain import in_cell, in_code, in_paragraph

HOSTILE = (
    "a|b<img src=x onerror=alert(1)>`c` [click](http://x.example) ![i](//x) **bold** \\| www.x.example\n::error::d &lt;"
)


@pytest.mark.parametrize("start", ["", "# ", "1. ", "> ", "- ", "[x]: "])
def test_hostile_facts_of_a_report_add_no_markup(make_report: Any, start: str) -> None:
    report: Report = make_report("one", {"a-1": [True, False], "b-1": [True, True]})
    text = start + HOSTILE
    candidate = report.candidate.model_copy(update={"name": text, "identity": {"model": text, "revision": text}})
    gates: dict[str, Any] = {"empirical": {"status": "not-fitted", "threshold": None, "reason": text, "grid": []}}
    gates |= {"holdout_tests": {}, "transfer": None, "cost": None}
    hostile = {"candidate": candidate, "gates": gates, "incomplete_reasons": [text], "environment": {text: text}}
    plain = {**hostile, "candidate": report.candidate, "incomplete_reasons": ["x"], "environment": {"x": "x"}}
    plain["gates"] = json.loads(json.dumps(gates).replace(json.dumps(text), '"X"'))
    kinds = [_kinds(summary_markdown(report.model_copy(update=update))) for update in (hostile, plain)]
    assert kinds[0] == kinds[1]
    assert not {"html_inline", "html_block", "link_open", "image", "code_inline"} & set(kinds[0])


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        "macro_accuracy of R&D: p < 0.05, [30%, 40%]",
        "_a_ __b__ *c* ~~d~~ `e` \\\\* \\| &amp; &#124; <!-- f --> <a@b.c> http://x.y",
        "# a",
        "1. a",
        "---",
        "=== a",
        "[a]: http://x.y",
        "+ a",
        "trailing\\\\",
    ],
)
def test_a_reader_sees_the_text_itself(text: str) -> None:
    shown = text.replace("\n", "\\n")
    assert _seen(in_paragraph(text)) == ["paragraph_open", shown]
    assert _seen(f"- {in_paragraph(text)}") == ["bullet_list_open", shown]
    cell = f"| {in_cell(text)} | b |\n| --- | --- |\n| {in_cell(text)} | d |"
    assert _seen(cell) == ["table_open", shown, "b", shown, "d"]


def _seen(markdown: str) -> list[str]:
    """The kind of the first block, then the text of every inline part, as a reader sees it."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    inline = [token for token in tokens if token.type == "inline"]
    assert {child.type for token in inline for child in token.children or []} <= {"text", "text_special"}
    return [tokens[0].type, *("".join(child.content for child in token.children or []) for token in inline)]


def _kinds(markdown: str) -> list[str]:
    tokens = MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"]).parse(markdown)
    return [kind.type for token in tokens for kind in [token, *(token.children or [])] if kind.type != "text_special"]


@pytest.mark.parametrize("text", [HOSTILE, '{"url":"http://127.0.0.1/v1"}', "`", "``` ``", " a ", "a\\", "", "x`"])
def test_code_is_shown_as_it_is_and_ends_where_it_ends(text: str) -> None:
    (inline,) = (t for t in MarkdownIt("commonmark").parse(f"- x: {in_code(text)} y") if t.type == "inline")
    shown = text.replace("\n", "\\n")
    assert [child.content for child in inline.children or [] if child.type == "code_inline"] == [shown][: len(text)]
    assert {child.type for child in inline.children or []} <= {"text", "code_inline"}


def test_settings_in_a_summary_are_written_without_escapes(make_report: Any) -> None:
    report: Report = make_report("one", {"a-1": [True]})
    identity = report.candidate.identity | {"settings": {"url": "http://127.0.0.1:1/v1/systemone", "x": HOSTILE}}
    found = report.model_copy(update={"candidate": report.candidate.model_copy(update={"identity": identity})})
    text = summary_markdown(found)
    assert '"url":"http://127.0.0.1:1/v1/systemone"' in text
    assert not {"html_inline", "html_block", "link_open", "image"} & set(_kinds(text))

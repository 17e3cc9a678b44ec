"""The step summary of GitHub Actions: what a run found, once, whole, and as text."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from markdown_it import MarkdownIt

from decibench.bench_tests.step_summary import MOST_BYTES, write_step_summary

if TYPE_CHECKING:
    from tests.bench_tests.conftest import Bench, Own

Row = Callable[..., dict[str, Any]]

HOSTILE = (
    "a|b<img src=x onerror=alert(1)>`c` [click](http://x.example) ![i](//x) **bold** \\| www.x.example\n::error::d &lt;"
)


@pytest.fixture
def page(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that a step of a workflow has for its summary."""
    assert bench
    path = tmp_path / "step.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


def test_the_comparison_comes_first_then_every_summary_once(
    bench: Bench, suite: Path, page: Path, mode: list[str]
) -> None:
    page.write_text("earlier", "utf-8")
    run = bench(suite, "--candidate", "uniform", "--candidate", "first-option", *mode)
    text = page.read_text("utf-8")
    parts = [run.folder / "comparison.md", *(run.folder / name / "summary.md" for name in ("uniform", "first-option"))]
    assert text == "earlier\n" + "\n".join(part.read_text("utf-8") for part in parts)


def test_nothing_is_written_elsewhere_or_where_nothing_is_run(
    bench: Bench, suite: Path, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench(suite, "--collect-only", "-q")
    assert not page.exists()
    bench(suite, "--split", "gone")
    assert not page.exists()
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    assert bench(suite).code == 0
    assert not page.exists()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert bench(suite).code == 0


def test_a_place_that_cannot_be_written_changes_nothing_but_a_line(
    bench: Bench, suite: Path, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page / "gone" / "step.md"))
    run = bench(suite, "--candidate", "uniform")
    assert run.code == 0
    assert run.report("uniform")["complete"]
    said = [line for line in run.output.splitlines() if "GITHUB_STEP_SUMMARY" in line]
    assert len(said) == 1
    assert "cannot be written (No such file or directory); the files of the run are complete without it" in said[0]
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page.parent))
    assert bench(suite, "--candidate", "uniform").code == 0


def test_a_pipe_is_not_waited_for(bench: Bench, suite: Path, page: Path) -> None:
    os.mkfifo(page)
    run = bench(suite)
    assert run.code == 0
    assert f"GITHUB_STEP_SUMMARY: {page} is no file" in run.output


def _write(folder: Path, parts: dict[str, str]) -> str | None:
    for name, text in parts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return write_step_summary(folder, parts)


def test_parts_are_written_whole_as_long_as_they_fit(page: Path, tmp_path: Path) -> None:
    half = "x" * (MOST_BYTES // 2)
    parts = {"comparison.md": half, "a/summary.md": half, "b/summary.md": "# b\n"}
    assert _write(tmp_path, parts) is None
    text = page.read_text("utf-8")
    assert half in text
    assert "# b\n" in text
    assert text.endswith("Too long for a step summary, and left out here: a/summary.md in the folder of the run.\n")
    assert len(text) < MOST_BYTES
    # The limit is of the step: what is there counts, and so does what is added next.
    _write(tmp_path, {"c/summary.md": half})
    assert page.read_text("utf-8").endswith("left out here: c/summary.md in the folder of the run.\n")
    assert page.stat().st_size <= MOST_BYTES


@pytest.mark.parametrize("spare", [0, 1, 50, 120])
def test_the_limit_is_counted_in_bytes_and_never_passed(page: Path, tmp_path: Path, spare: int) -> None:
    page.write_text("é" * ((MOST_BYTES - spare) // 2), "utf-8")
    _write(tmp_path, {"a/summary.md": "é" * 60, "b/summary.md": "b" * 60})
    assert page.stat().st_size <= MOST_BYTES


def test_aggregate_only_holds_here_too(bench: Bench, suite: Path, page: Path) -> None:
    bench(suite, "--aggregate-only")
    assert "demo-way-" not in page.read_text("utf-8")


def test_hostile_names_are_shown_as_they_are(
    bench: Bench, make_suite: Callable[..., Path], row: Row, own: Own, page: Path
) -> None:
    asked = {"type": "choice", "instructions": "?", "criteria": {HOSTILE: None, "left": None}}
    rows = [
        row(f"way-{n:03}", split, questions={HOSTILE: asked}, references={HOSTILE: {"expected": "left"}})
        for n, split in enumerate(["calibration", "holdout"] * 2)
    ]
    body = "return Answer({key: sure(question, question.options[0]) for key, question in request.questions.items()})"
    run = bench(make_suite(rows), "--candidate", own(body))
    shown = HOSTILE.replace("\n", "\\n")
    row_of_worst = next(row for row in _tables(page.read_text("utf-8")) if row[0] == "demo-way-001-original")
    assert row_of_worst == ["demo-way-001-original", shown, "left", shown, "1.0000"]
    assert not any(line.lstrip().startswith("::") for line in run.output.splitlines())


def test_ordinary_names_stay_as_they_are(bench: Bench, suite: Path) -> None:
    summary = (bench(suite, "--candidate", "first-option").folder / "first-option" / "summary.md").read_text("utf-8")
    assert "\\" not in summary
    assert "&" not in summary
    assert "macro_accuracy" in summary


def _tables(markdown: str) -> list[list[str]]:
    """The rows of all tables as a reader sees them."""
    rows: list[list[str]] = []
    for token in MarkdownIt("commonmark").enable("table").parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append("".join(child.content for child in token.children or []))
    return rows

"""Tables on a narrow terminal: columns move to another part, and no figure is folded into two."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from decibench.reports.comparisons.comparison import compare
from decibench.reports.tables.comparison import comparison_tables
from decibench.reports.terminal import print_comparison


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_every_figure_is_whole_at_any_width(make_report: Any, width: int) -> None:
    outcomes = {f"demo-{i:03}": [True, i % 3 > 0, i % 7 > 0] for i in range(40)}
    other = {f"demo-{i:03}": [i % 2 > 0, True, i % 5 > 0] for i in range(40)}
    names = ("first-candidate", "second-candidate", "third-candidate")
    reports = [make_report(name, o) for name, o in zip(names, (outcomes, other, outcomes), strict=True)]
    comparison = compare(reports)
    file = io.StringIO()
    print_comparison(Console(file=file, width=width), comparison)
    words = set(file.getvalue().split())
    cells = {
        word for table in comparison_tables(comparison) for row in table.rows for cell in row for word in cell.split()
    }
    assert {word for word in cells if len(word) < width // 3} <= words
    assert max(len(line.rstrip()) for line in file.getvalue().splitlines()) <= width


def test_every_part_of_a_table_repeats_all_that_names_its_rows(make_report: Any) -> None:
    outcomes = {f"demo-{i:03}": [True, i % 3 > 0, i % 7 > 0] for i in range(40)}
    other = {f"demo-{i:03}": [i % 2 > 0, True, i % 5 > 0] for i in range(40)}
    comparison = compare([make_report("reference", outcomes), make_report("robot", other), make_report("x", other)])
    file = io.StringIO()
    print_comparison(Console(file=file, width=80), comparison)
    shown = file.getvalue().partition("Scenario-weighted differences")[2].splitlines()
    heads = [line.split() for line in shown if "quantity" in line]
    assert len(heads) > 1
    assert {tuple(head[:2]) for head in heads} == {("quantity", "candidate")}
    rows = [line.split()[:2] for line in shown if line.split()[:1] == ["brier_score"]]
    assert rows == [["brier_score", "robot"], ["brier_score", "x"]] * len(heads)

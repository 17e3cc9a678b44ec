"""Accuracy by family and variant against counting by hand."""

from __future__ import annotations

from typing import Any

from decibench.reports.pages.heatmap import Heatmap, heatmaps
from decibench.reports.record import Record
from decibench.reports.report import Report
from decibench.reports.summary import summarise
from decibench.reports.table import decisions_of


def with_roles(report: Report, **roles: str) -> Report:
    """The report with other roles of variants; underscores stand for hyphens."""
    named = {name.replace("_", "-"): role for name, role in roles.items()}
    records = [r.model_copy(update={"role": named.get(r.variant, "core")}) for r in report.records]
    metrics = summarise(decisions_of(records, 1e-15), 1e-15)
    return report.model_copy(update={"records": records, "metrics": metrics})


def texts(found: Heatmap) -> dict[str, dict[str, str]]:
    return {row.name: dict(zip(found.columns, (c.text for c in row.cells), strict=True)) for row in found.rows}


def test_every_cell_has_its_accuracy_and_its_scenarios(make_report: Any) -> None:
    outcomes = {
        "tool-1": [True, True, False],
        "tool-2": [False, None, False],
        "route-1": [True],
        "route-2": [True],
        "route-3": [False],
    }
    (found,) = heatmaps(make_report("demo", [outcomes, outcomes]))
    assert list(found.columns) == ["original", "irrelevant", "paraphrase"]
    assert texts(found) == {
        "tool": {"original": "50.0% (2)", "irrelevant": "50.0% (2)", "paraphrase": "0.0% (2)"},
        "route": {"original": "66.7% (3)", "irrelevant": "-", "paraphrase": "-"},
        "all": {"original": "60.0% (5)", "irrelevant": "50.0% (2)", "paraphrase": "0.0% (2)"},
    }
    shares = {row.name: [cell.share for cell in row.cells] for row in found.rows}
    assert shares["tool"] == [0.5, 0.5, 0.0]
    assert shares["route"] == [2 / 3, None, None]


def test_probes_stand_apart_and_attacks_are_named(make_report: Any) -> None:
    report = make_report("demo", {"tool-1": [True, False, True, True]})
    both = heatmaps(with_roles(report, irrelevant="attack", paraphrase="probe"))
    assert [list(found.columns) for found in both] == [["original", "irrelevant", "options-reversed"], ["paraphrase"]]
    assert "irrelevant is an attack" in both[0].sentence
    assert "no merit" in both[1].sentence
    assert "attack" not in heatmaps(report)[0].sentence


def test_a_family_that_is_called_all_keeps_its_own_row(make_report: Any) -> None:
    (found,) = heatmaps(make_report("demo", {"all-1": [True], "tool-1": [False]}))
    assert [(row.name, row.cells[0].text) for row in found.rows] == [
        ("all", "100.0% (1)"),
        ("tool", "0.0% (1)"),
        ("all", "50.0% (2)"),
    ]


def test_the_last_split_is_shown_and_nothing_where_nothing_was_measured(make_report: Any) -> None:
    report = make_report("demo", {"tool-1": [True], "tool-2": [True]})
    moved: list[Record] = [r.model_copy(update={"split": "calibration"}) for r in report.records]
    records = [*report.records[:1], *moved]
    metrics = summarise(decisions_of(records, 1e-15), 1e-15)
    (found,) = heatmaps(report.model_copy(update={"records": records, "metrics": metrics}))
    assert "(holdout)" in found.title
    assert texts(found)["all"]["original"] == "100.0% (1)"
    assert heatmaps(report.model_copy(update={"records": [], "metrics": {}})) == []

"""The most confident errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from decibench.reports.record import Decision, Record
from decibench.reports.report import Report
from decibench.reports.tables.layout import Table

WORST: Final = 10


def worst_tables(report: Report) -> Iterator[Table]:
    """Core errors by top probability, one per scenario and question."""
    wrong = [
        (max(d.probabilities.values()), record, d)
        for record in report.records
        for d in record.decisions
        if d.probabilities is not None and d.choice != d.expected and record.role == "core"
    ]
    wrong.sort(key=lambda entry: (-entry[0], entry[1].case, entry[1].trial, entry[2].question))
    # One row per scenario and question: its variants and trials would fill the table with the same mistake.
    first: dict[tuple[str, str], list[str]] = {}
    for top, record, decision in wrong:
        first.setdefault((record.group, decision.question), _miss(top, record, decision))
    rows = list(first.values())[:WORST]
    if rows:
        columns = ["case", "question", "expected", "chosen", "top"]
        title = (
            f"Most confident errors by top_probability, one per scenario and question ({len(wrong)} core errors in all "
            "splits and trials; * unsafe)"
        )
        yield Table(title, columns, rows)


def _miss(top: float, record: Record, decision: Decision) -> list[str]:
    chosen = f"{decision.choice}{'*' if decision.choice in decision.unsafe else ''}"
    return [record.case, decision.question, decision.expected, chosen, f"{top:.4f}"]

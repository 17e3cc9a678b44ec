"""Markdown of a report and of a comparison, in which the texts of cases and models are no more than text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.regression import Regression
from decibench.reports.report import Report
from decibench.reports.tables.comparison import (
    comparison_conclusions,
    comparison_head,
    comparison_tables,
    not_run_sentences,
)
from decibench.reports.tables.gates import gate_sentences
from decibench.reports.tables.layout import Table
from decibench.reports.tables.overview import decision_line, headline, notes, report_tables
from decibench.reports.tables.plain import in_cell, in_code, in_paragraph, plain
from decibench.reports.tables.provenance import JSON_FACTS, provenance
from decibench.reports.tables.regression import regression_sentences, regression_tables
from decibench.reports.tables.sections import Section, detailed_sections, leading_sections
from decibench.reports.tables.worst import worst_tables

SUMMARY: Final = "summary.md"


def summary_markdown(report: Report, *, rows: bool = True, regression: Regression | None = None) -> str:
    """The report as Markdown: what the terminal shows, all of its evidence, and provenance.

    Without ``rows`` no single decision is in it, and no item is named.
    """
    parts = [_heading("#", report.candidate.name), f"**{plain(decision_line(report))}**"]
    parts += map(in_paragraph, [headline(report), *gate_sentences(report)])
    parts.append(_bullets(notes(report, rows=rows)))
    parts += _sections(leading_sections(report))
    parts += map(_table, report_tables(report))
    parts += map(_table, worst_tables(report) if rows else ())
    if regression is not None:
        tables = list(regression_tables(regression)) if rows else []
        parts += _sections([Section("Against the blessed report", list(regression_sentences(regression)), tables)])
    parts += _sections(detailed_sections(report))
    parts += [_heading("##", "Provenance"), _facts(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """The comparison as Markdown: what was compared, what the data support, the tables, and the method."""
    parts = ["# Comparison", *map(in_paragraph, comparison_head(comparison))]
    parts += map(in_paragraph, not_run_sentences(comparison))
    parts += [_bullets(comparison_conclusions(comparison)), in_paragraph(f"({comparison.note}.)")]
    parts += map(_table, comparison_tables(comparison))
    return "\n\n".join(part for part in parts if part) + "\n"


def _sections(sections: Iterable[Section]) -> Iterator[str]:
    for section in sections:
        yield _heading("##", section.title)
        yield from map(in_paragraph, section.sentences)
        yield from (_table(table, "###") for table in section.tables)


def _heading(marks: str, title: str) -> str:
    return f"{marks} {plain(title)}"


def _bullets(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {in_paragraph(sentence)}" for sentence in sentences)


def _facts(report: Report) -> str:
    facts = [
        f"{in_paragraph(name)}: {in_code(value)}" if name in JSON_FACTS else in_paragraph(f"{name}: {value}")
        for name, value in provenance(report)
    ]
    return "\n".join(f"- {fact}" for fact in facts)


def _table(table: Table, heading: str = "##") -> str:
    lines = [_row(table.columns), _row(["---"] * table.keys + ["---:"] * (len(table.columns) - table.keys))]
    return "\n".join([_heading(heading, table.title), "", *lines, *map(_row, table.rows)])


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(in_cell, cells)) + " |"

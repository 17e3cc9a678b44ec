"""Markdown of a report and of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.regression import Regression
from decibench.reports.report import Report
from decibench.reports.tables.comparison import comparison_conclusions, comparison_head, comparison_tables
from decibench.reports.tables.gates import gate_sentences
from decibench.reports.tables.layout import Table
from decibench.reports.tables.overview import headline, notes, report_tables
from decibench.reports.tables.regression import regression_sentences, regression_tables
from decibench.reports.tables.sections import Section, detailed_sections, leading_sections
from decibench.reports.tables.worst import worst_tables

SUMMARY: Final = "summary.md"


def summary_markdown(report: Report, *, rows: bool = True, regression: Regression | None = None) -> str:
    """The report as Markdown: what the terminal shows, all of its evidence, and provenance.

    Without ``rows`` no single decision is in it.
    """
    parts = [f"# {report.candidate.name}", headline(report), *gate_sentences(report)]
    parts += ["\n".join(f"- {note}" for note in notes(report))]
    parts += _sections(leading_sections(report))
    parts += [_table(table) for table in report_tables(report)]
    parts += [_table(table) for table in worst_tables(report) if rows]
    if regression is not None:
        parts += ["## Against the blessed report", *regression_sentences(regression)]
        parts += [_table(table, "###") for table in regression_tables(regression) if rows]
    parts += _sections(detailed_sections(report))
    parts.append(_provenance(report))
    return "\n\n".join(part for part in parts if part) + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """The comparison as Markdown: what was compared, what the data support, the tables, and the method."""
    parts = ["# Comparison", *comparison_head(comparison)]
    parts.append("\n".join(f"- {sentence}" for sentence in comparison_conclusions(comparison)))
    parts.append(f"({comparison.note}.)")
    parts += [_table(table) for table in comparison_tables(comparison)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _sections(sections: Iterable[Section]) -> Iterator[str]:
    for section in sections:
        yield from (f"## {section.title}", *section.sentences, *(_table(table, "###") for table in section.tables))


def _table(table: Table, heading: str = "##") -> str:
    lines = [f"{heading} {table.title}", "", _row(table.columns), _row(["---", *["---:"] * (len(table.columns) - 1)])]
    return "\n".join([*lines, *(_row(row) for row in table.rows)])


def _row(cells: list[str] | tuple[str, ...] | object) -> str:
    assert isinstance(cells, list | tuple)
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _provenance(report: Report) -> str:
    identity = report.candidate.identity
    rows = [
        ("model", identity.get("model")),
        ("revision", identity.get("revision")),
        ("file_sha256", identity.get("file_sha256")),
        ("device", identity.get("device")),
        ("candidate hash", report.candidate.hash),
        ("suite", f"{report.suite.name} {report.suite.version}, {report.suite.hash}"),
        ("protocol", f"{report.protocol.name} {report.protocol.version}, {report.protocol_hash}"),
        ("run", report.run),
        ("environment", ", ".join(f"{name} {value}" for name, value in report.environment.items())),
    ]
    shown = [(name, value) for name, value in rows if value is not None]
    return "## Provenance\n\n" + "\n".join(f"- {name}: {value}" for name, value in shown)

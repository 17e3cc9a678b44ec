"""Markdown of a report and of a comparison."""

from __future__ import annotations

from typing import Final

from decibench.reports.comparison import Comparison
from decibench.reports.report import Report
from decibench.reports.tables.comparison import comparison_tables
from decibench.reports.tables.layout import Table
from decibench.reports.tables.overview import gate_sentence, headline, notes, report_tables

SUMMARY: Final = "summary.md"


def summary_markdown(report: Report) -> str:
    """The report as Markdown: headline, gate, notes, tables, provenance."""
    parts = [f"# {report.candidate.name}", headline(report), gate_sentence(report)]
    parts += ["\n".join(f"- {note}" for note in notes(report))]
    parts += [_table(table) for table in report_tables(report)]
    parts.append(_provenance(report))
    return "\n\n".join(part for part in parts if part) + "\n"


def comparison_markdown(comparison: Comparison) -> str:
    """The comparison as Markdown: standings, then one sentence per contrast."""
    parts = ["# Comparison", *(_table(table) for table in comparison_tables(comparison)), f"{comparison.note}."]
    parts.append("\n".join(f"- {contrast.conclusion}" for contrast in comparison.contrasts))
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(table: Table) -> str:
    lines = [f"## {table.title}", "", _row(table.columns), _row(["---", *["---:"] * (len(table.columns) - 1)])]
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

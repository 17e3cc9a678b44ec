"""The same tables on a terminal, by rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.markdown import SUMMARY
from decibench.reports.report import Report
from decibench.reports.tables.comparison import comparison_conclusions, comparison_head, comparison_tables
from decibench.reports.tables.gates import gate_sentences
from decibench.reports.tables.layout import Table
from decibench.reports.tables.overview import headline, notes, report_tables
from decibench.reports.tables.sections import detailed_sections, leading_sections

if TYPE_CHECKING:
    from rich.console import Console


def print_report(console: Console, report: Report) -> None:
    """What one reads at the end of a run: headline, gates, notes and tables, and where the rest stands."""
    console.print()
    console.print(headline(report), style="bold", markup=False, highlight=False)
    sections = [] if report.partial else list(leading_sections(report))
    for sentence in [*gate_sentences(report), *(s for section in sections for s in section.sentences), *notes(report)]:
        console.print(sentence, markup=False, highlight=False)
    for table in [*report_tables(report), *(table for section in sections for table in section.tables)]:
        _print(console, table)
    details = [section.title.lower() for section in detailed_sections(report)]
    if details:
        line = f"{report.candidate.name}/{SUMMARY} has more: {', '.join(details)}."
        console.print(line, style="dim", markup=False, highlight=False)


def print_comparison(console: Console, comparison: Comparison) -> None:
    """What was compared, the tables, what the data support, and the method."""
    console.print()
    for sentence in comparison_head(comparison):
        console.print(sentence, markup=False, highlight=False)
    for table in comparison_tables(comparison):
        _print(console, table)
    for sentence in comparison_conclusions(comparison):
        console.print(sentence, markup=False, highlight=False)
    console.print(f"({comparison.note})", style="dim", markup=False, highlight=False)


def _print(console: Console, table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    # A title of the table's own would be wrapped to its width.
    console.print(f"\n{table.title}", style="bold", markup=False, highlight=False)
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(table.columns):
        first = index == 0
        shown.add_column(Text(column), justify="left" if first else "right", no_wrap=first, overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(cell) for cell in row))
    console.print(shown)

"""The same tables on a terminal, by rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from decibench.reports.comparison import Comparison
from decibench.reports.report import Report
from decibench.reports.tables.comparison import comparison_tables
from decibench.reports.tables.layout import Table
from decibench.reports.tables.overview import gate_sentence, headline, notes, report_tables

if TYPE_CHECKING:
    from rich.console import Console


def print_report(console: Console, report: Report) -> None:
    """Headline, gate, notes and tables of one candidate."""
    console.print()
    console.print(headline(report), style="bold", markup=False, highlight=False)
    console.print(gate_sentence(report), markup=False, highlight=False)
    for note in notes(report):
        console.print(note, markup=False, highlight=False)
    for table in report_tables(report):
        _print(console, table)


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Standings and conclusions."""
    for table in comparison_tables(comparison):
        _print(console, table)
    for contrast in comparison.contrasts:
        console.print(contrast.conclusion, markup=False, highlight=False)
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

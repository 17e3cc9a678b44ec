"""The same tables on a terminal, by rich."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.markdown import SUMMARY
from decibench.reports.regression import Regression
from decibench.reports.report import Report
from decibench.reports.tables.comparison import comparison_conclusions, comparison_head, comparison_tables
from decibench.reports.tables.gates import gate_sentences
from decibench.reports.tables.layout import Table
from decibench.reports.tables.overview import headline, notes, report_tables
from decibench.reports.tables.regression import regression_sentences, regression_tables
from decibench.reports.tables.sections import detailed_sections, leading_sections
from decibench.reports.tables.worst import worst_tables

_GAP: Final = 3
"""Blanks around a column and its divider."""

if TYPE_CHECKING:
    from rich.console import Console


def print_report(console: Console, report: Report, *, rows: bool = True, regression: Regression | None = None) -> None:
    """What one reads at the end of a run: headline, gates, notes and tables, and where the rest stands.

    Without ``rows`` no single decision is shown.
    """
    console.print()
    console.print(headline(report), style="bold", markup=False, highlight=False)
    sections = list(leading_sections(report))
    for sentence in [*gate_sentences(report), *(s for section in sections for s in section.sentences), *notes(report)]:
        console.print(sentence, markup=False, highlight=False)
    for table in [*report_tables(report), *(table for section in sections for table in section.tables)]:
        _print(console, table)
    single = [*worst_tables(report), *(regression_tables(regression) if regression else ())] if rows else []
    for table in single:
        _print(console, table)
    for sentence in regression_sentences(regression) if regression else ():
        console.print(sentence, markup=False, highlight=False)
    details = [section.title.lower() for section in detailed_sections(report)]
    if details:
        line = f"{report.candidate.name}/{SUMMARY} has more: {', '.join(details)}."
        console.print(line, style="dim", markup=False, highlight=False)


def print_comparison(console: Console, comparison: Comparison) -> None:
    """What was compared, the tables, what the data support, and the method."""
    console.print()
    for sentence in comparison_head(comparison):
        console.print(sentence, markup=False, highlight=False)
    for sentence in comparison_conclusions(comparison):
        console.print(sentence, style="bold", markup=False, highlight=False)
    console.print(f"({comparison.note})", style="dim", markup=False, highlight=False)
    for table in comparison_tables(comparison):
        _print(console, table)


def _print(console: Console, table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    # A title of the table's own would be wrapped to its width.
    console.print(f"\n{table.title}", style="bold", markup=False, highlight=False)
    for widths in _parts(table, console.width):
        shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        for place, width in widths.items():
            justify: Literal["left", "right"] = "right" if place else "left"
            shown.add_column(Text(table.columns[place]), justify=justify, width=width, overflow="fold")
        for row in table.rows:
            shown.add_row(*(Text(row[place]) for place in widths))
        console.print(shown)


def _parts(table: Table, room: int) -> Iterator[dict[int, int]]:
    """The columns, each with its width, in parts that fit side by side, each part with the first column.

    A column is no narrower than its longest word: half a number reads as another number.
    """
    cells = [[column, *(row[place] for row in table.rows)] for place, column in enumerate(table.columns)]
    least = [max((len(word) for cell in column for word in cell.split()), default=1) for column in cells]
    most = [max(map(len, column)) for column in cells]
    part = [0]
    for place in range(1, len(cells)):
        if len(part) > 1 and sum(least[p] + _GAP for p in [*part, place]) > room:
            yield _spread(part, least, most, room)
            part = [0]
        part.append(place)
    yield _spread(part, least, most, room)


def _spread(part: Sequence[int], least: Sequence[int], most: Sequence[int], room: int) -> dict[int, int]:
    """The widths of the columns of a ``part``: what they need, and what they can use of the room that is left."""
    left = room - sum(least[place] + _GAP for place in part)
    widths = {}
    for place in part:
        more = max(0, min(most[place] - least[place], left))
        widths[place] = least[place] + more
        left -= more
    return widths

"""The same tables on a terminal, by rich."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.load import LoadReport
from decibench.reports.markdown import SUMMARY
from decibench.reports.regression import Regression
from decibench.reports.report import Report
from decibench.reports.tables.comparison import comparison_conclusions, comparison_head, comparison_tables
from decibench.reports.tables.gates import gate_sentences
from decibench.reports.tables.layout import Table
from decibench.reports.tables.load import load_sentences, load_tables
from decibench.reports.tables.overview import decision_line, headline, notes, report_tables
from decibench.reports.tables.plain import one_line
from decibench.reports.tables.regression import regression_sentences, regression_tables
from decibench.reports.tables.sections import detailed_sections, leading_sections
from decibench.reports.tables.worst import worst_tables

_GAP: Final = 3
"""Blanks around a column and its divider."""

if TYPE_CHECKING:
    from rich.console import Console


def print_report(console: Console, report: Report, *, rows: bool = True, regression: Regression | None = None) -> None:
    """What one reads at the end of a run: what may be done, headline, gates, notes and tables, and where the rest is.

    Without ``rows`` no single decision is shown, and no item is named.
    """
    console.print()
    _say(console, f"{report.candidate.name}: {decision_line(report)}", "bold")
    _say(console, headline(report), "bold")
    sections = list(leading_sections(report))
    said = (sentence for section in sections for sentence in section.sentences)
    for sentence in [*gate_sentences(report), *said, *notes(report, rows=rows)]:
        _say(console, sentence)
    for table in [*report_tables(report), *(table for section in sections for table in section.tables)]:
        _print(console, table)
    single = [*worst_tables(report), *(regression_tables(regression) if regression else ())] if rows else []
    for table in single:
        _print(console, table)
    for sentence in regression_sentences(regression) if regression else ():
        _say(console, sentence)
    details = [section.title.lower() for section in detailed_sections(report)]
    if details:
        _say(console, f"{report.candidate.name}/{SUMMARY} has more: {', '.join(details)}.", "dim")


def print_comparison(console: Console, comparison: Comparison) -> None:
    """What was compared, the tables, what the data support, and the method."""
    console.print()
    for sentence in comparison_head(comparison):
        _say(console, sentence)
    for sentence in comparison_conclusions(comparison):
        _say(console, sentence, "bold")
    _say(console, f"({comparison.note})", "dim")
    for table in comparison_tables(comparison):
        _print(console, table)


def print_load(console: Console, load: LoadReport) -> None:
    """What a load test found: its sentences, then its tables."""
    console.print()
    for sentence in load_sentences(load):
        _say(console, sentence)
    for table in load_tables(load):
        _print(console, table)


def _say(console: Console, sentence: str, style: str | None = None) -> None:
    console.print(one_line(sentence), style=style, markup=False, highlight=False)


def _print(console: Console, table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    # A title of the table's own would be wrapped to its width.
    console.print()
    _say(console, table.title, "bold")
    for widths in _parts(table, console.width):
        shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        for place, width in widths.items():
            justify: Literal["left", "right"] = "left" if place < table.keys else "right"
            shown.add_column(Text(one_line(table.columns[place])), justify=justify, width=width, overflow="fold")
        for row in table.rows:
            shown.add_row(*(Text(one_line(row[place])) for place in widths))
        console.print(shown)


def _parts(table: Table, room: int) -> Iterator[dict[int, int]]:
    """The columns, each with its width, in parts that fit side by side, each part with those that name its rows.

    A column is no narrower than its longest word: half a number reads as another number. Names fold where else not
    even one figure would fit beside them.
    """
    cells = [
        [one_line(column), *(one_line(row[place]) for row in table.rows)] for place, column in enumerate(table.columns)
    ]
    least = [max((len(word) for cell in column for word in cell.split()), default=1) for column in cells]
    most = [max(map(len, column)) for column in cells]
    names = list(range(table.keys))
    _narrow(least, table.keys, room)
    part = [*names]
    for place in range(table.keys, len(cells)):
        if len(part) > len(names) and sum(least[p] + _GAP for p in [*part, place]) > room:
            yield _spread(part, least, most, room)
            part = [*names]
        part.append(place)
    yield _spread(part, least, most, room)


def _narrow(least: list[int], keys: int, room: int) -> None:
    """Shorten the widest of the first ``keys`` widths until the widest other column fits beside all of them."""
    left = room - max((width + _GAP for width in least[keys:]), default=0)
    while sum(width + _GAP for width in least[:keys]) > left:
        widest = max(range(keys), key=least.__getitem__)
        if least[widest] == 1:
            return
        least[widest] -= 1


def _spread(part: Sequence[int], least: Sequence[int], most: Sequence[int], room: int) -> dict[int, int]:
    """The widths of the columns of a ``part``: what they need, and what they can use of the room that is left."""
    left = room - sum(least[place] + _GAP for place in part)
    widths = {}
    for place in part:
        more = max(0, min(most[place] - least[place], left))
        widths[place] = least[place] + more
        left -= more
    return widths

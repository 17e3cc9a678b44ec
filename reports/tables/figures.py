"""How a figure with its interval is written in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from decibench.cases.schema import Split
from decibench.reports.figure import Figure
from decibench.reports.tables.layout import Table, share


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A figure, the cells in front of it, and how it is written."""

    cells: Sequence[str]
    figure: Figure
    form: Callable[[float | None], str] = share


Found = TypeVar("Found")


def reported(by_split: Mapping[Split, Found]) -> dict[Split, Found]:
    """Calibration and holdout; development only where it is all there is."""
    return {split: found for split, found in by_split.items() if split != "development"} or dict(by_split)


def last_reported(by_split: Mapping[Split, Found]) -> tuple[Split, Found] | None:
    """The last reported split and what was found on it; None where there is none."""
    found = list(reported(by_split).items())
    return found[-1] if found else None


def figures_table(title: str, columns: Sequence[str], rows: Sequence[FigureRow]) -> Table:
    """A row per figure: its cells, its value and interval, how many scenarios, and a note where any row needs one."""
    notes = [figure_note(row.figure) for row in rows]
    cells = [[*row.cells, *_cells(row)] for row in rows]
    shown = ["value", "low", "high", "scenarios"]
    if not any(notes):
        return Table(title, [*columns, *shown], cells)
    return Table(title, [*columns, *shown, "note"], [[*row, note] for row, note in zip(cells, notes, strict=True)])


def _cells(row: FigureRow) -> list[str]:
    figure = row.figure
    low, high = (figure.interval.low, figure.interval.high) if figure.interval else (None, None)
    return [row.form(figure.value), row.form(low), row.form(high), str(figure.groups)]


def figure_note(figure: Figure) -> str:
    """Why a figure has no interval; empty where it has one."""
    notes = [figure.no_interval] if figure.no_interval else []
    if figure.exceptions_below is not None:
        notes.append(f"exact 95% bound on scenarios with an exception: {share(figure.exceptions_below)}")
    return "; ".join(notes)


def with_interval(figure: Figure, form: Callable[[float | None], str] = share) -> str:
    """A figure in a sentence, its interval in brackets after it, or that it has none."""
    if figure.interval is None:
        return f"{form(figure.value)} (no interval)"
    return f"{form(figure.value)} ({form(figure.interval.low)} to {form(figure.interval.high)})"


def bracket(figure: Figure) -> str:
    """A share in one cell with its interval, or with the bound that stands in its place."""
    if figure.interval is not None:
        return f"{share(figure.value)} [{share(figure.interval.low)}, {share(figure.interval.high)}]"
    if figure.exceptions_below is not None:
        return f"{share(figure.value)} (exact bound: {share(figure.exceptions_below)} of scenarios)"
    return share(figure.value)

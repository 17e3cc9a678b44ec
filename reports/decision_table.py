"""The decisions of a report as a table for other tools: CSV, and Parquet where pyarrow is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from decibench.reports.report import Report

TableFormat: TypeAlias = Literal["csv", "parquet"]
TABLE_FORMATS: Final[tuple[str, ...]] = get_args(TableFormat)


def write_decision_table(report: Report, path: Path) -> None:
    """Write one row per decision to ``path``, whose suffix is the format."""
    raise NotImplementedError

"""What a report says against a blessed one."""

from __future__ import annotations

from collections.abc import Iterator

from decibench.reports.regression import Regression
from decibench.reports.tables.layout import Table


def regression_sentences(regression: Regression) -> Iterator[str]:
    """What changed, in sentences."""
    yield from ()


def regression_tables(regression: Regression) -> Iterator[Table]:
    """The decisions that changed, worst first."""
    yield from ()

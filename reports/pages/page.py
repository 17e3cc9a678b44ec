"""The page of one report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from decibench.cases.schema import Case
from decibench.reports.pages.view import View
from decibench.reports.regression import Regression
from decibench.reports.report import Report

PAGE: Final = "report.html"


def report_page(
    report: Report, *, view: View = "full", cases: Sequence[Case] = (), regression: Regression | None = None
) -> str:
    """The page as HTML; ``cases`` are those of the report's suite, whose texts the view ``full`` shows."""
    return ""

"""The page of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from decibench.cases.schema import Case
from decibench.reports.comparisons.comparison import Comparison
from decibench.reports.pages.view import View
from decibench.reports.report import Report

COMPARISON_PAGE: Final = "comparison.html"


def comparison_page(
    comparison: Comparison, reports: Sequence[Report], *, view: View = "full", cases: Sequence[Case] = ()
) -> str:
    """The page as HTML; ``reports`` are those compared, in any order."""
    return ""

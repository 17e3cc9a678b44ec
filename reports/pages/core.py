"""The core decisions that a page is about."""

from __future__ import annotations

from collections.abc import Sequence

from decibench.cases.schema import Split
from decibench.reports.record import Record
from decibench.reports.report import Report
from decibench.reports.tables.figures import last_reported


def core_records(report: Report) -> tuple[Split, Sequence[Record]] | None:
    """The last reported split that has core decisions, and its core records, all trials; None where there are none."""
    last = last_reported({split: found for split, found in report.metrics.items() if found.overall.decisions})
    if last is None:
        return None
    return last[0], [record for record in report.records if record.role == "core" and record.split == last[0]]

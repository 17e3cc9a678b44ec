"""Request times of a run in the storage format of pytest-benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from decibench.reports.report import Report

BENCHMARK: Final = "benchmark.json"


def write_benchmark(report: Report, path: Path) -> None:
    """Write the request times of ``report`` so that ``pytest-benchmark compare`` reads them."""

"""The tables of request latency."""

from __future__ import annotations

from collections.abc import Iterator

from decibench.reports.latency import Latency
from decibench.reports.tables.layout import Table, millis


def latency_tables(latency: Latency) -> Iterator[Table]:
    """Request latency over all trials and by trial."""
    if latency.overall is None:
        return
    per_trial = latency.by_trial if len(latency.by_trial) > 1 else {}
    rows = [
        [name, str(s.requests), millis(s.mean_s), millis(s.p50_s), millis(s.p95_s), millis(s.p99_s)]
        for name, s in [("all trials", latency.overall), *((f"trial {t}", s) for t, s in per_trial.items())]
    ]
    columns = ["request latency, ms", "requests", "mean", "p50", "p95", "p99"]
    yield Table("Latency (warm-ups apart)", columns, rows)

"""The tables of request latency."""

from __future__ import annotations

from collections.abc import Iterator

from decibench.reports.latency import Latency, LatencyStats
from decibench.reports.tables.layout import Table, millis


def latency_tables(latency: Latency) -> Iterator[Table]:
    """Request latency over all trials and by trial; where any request was asked again, with its retries too."""
    if latency.overall is None:
        return
    rows = list(_rows(latency.overall, latency.by_trial, ""))
    if (latency.with_retries, latency.by_trial_with_retries) != (latency.overall, latency.by_trial):
        rows += _rows(latency.with_retries, latency.by_trial_with_retries, ", with retries")
    columns = ["request latency, ms", "requests", "untimed", "mean", "p50", "p95", "p99"]
    yield Table("Latency (warm-ups apart)", columns, rows)


def _rows(overall: LatencyStats | None, by_trial: dict[str, LatencyStats], suffix: str) -> Iterator[list[str]]:
    yield _row(f"all trials{suffix}", overall)
    if len(by_trial) > 1:
        yield from (_row(f"trial {trial}{suffix}", stats) for trial, stats in by_trial.items())


def _row(name: str, stats: LatencyStats | None) -> list[str]:
    if stats is None:
        return [name, *["-"] * 6]
    seconds = (stats.mean_s, stats.p50_s, stats.p95_s, stats.p99_s)
    return [name, str(stats.requests), str(stats.untimed), *map(millis, seconds)]

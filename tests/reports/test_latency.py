"""Latency of records: failed requests in every figure, unknown times counted and never taken for zero."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import TypeAlias

from decibench.reports.latency import latency_of
from decibench.reports.record import EarlierAttempt, Record
from decibench.reports.report import Report
from decibench.reports.tables.latency import latency_tables

MakeReport: TypeAlias = Callable[..., Report]


def timed(record: Record, latency_s: float | None, *earlier_s: float | None, waited_s: float = 0.0) -> Record:
    """``record`` with these seconds of its attempts, and what was waited before each but the first."""
    earlier = [
        EarlierAttempt(seconds=seconds, waited_s=waited_s if place else 0.0, code="rate-limited")
        for place, seconds in enumerate(earlier_s)
    ]
    return record.model_copy(
        update={"latency_s": latency_s, "earlier": earlier, "waited_s": waited_s if earlier else 0.0}
    )


def records(make_report: MakeReport, trials: int = 1) -> list[Record]:
    """Four records in each of ``trials``; the last of each failed."""
    groups = {"demo-0": [True], "demo-1": [True], "demo-2": [False], "demo-3": [None]}
    return list(make_report("own", [groups] * trials).records)


def test_percentiles_are_interpolated_and_hold_failed_requests(make_report: MakeReport) -> None:
    seconds = [1.0, 2.0, 3.0, 10.0]
    found = [timed(record, s) for record, s in zip(records(make_report), seconds, strict=True)]
    assert found[-1].failed
    overall = latency_of(found).overall
    assert overall is not None
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    assert (overall.requests, overall.untimed, overall.mean_s) == (4, 0, 4.0)
    assert [round(value, 9) for value in (overall.p50_s, overall.p95_s, overall.p99_s)] == [
        round(cuts[place], 9) for place in (49, 94, 98)
    ]


def test_retries_are_added_to_what_an_item_took(make_report: MakeReport) -> None:
    one, two, three, four = records(make_report)
    latency = latency_of([timed(one, 1.0), timed(two, 1.0, 4.0, 2.0), timed(three, 1.0), timed(four, 1.0, 6.0)])
    assert latency.overall is not None
    assert latency.with_retries is not None
    assert (latency.overall.mean_s, latency.overall.p50_s) == (1.0, 1.0)
    assert (latency.with_retries.mean_s, latency.with_retries.p50_s) == (4.0, 4.0)
    assert (latency.with_retries.requests, latency.with_retries.untimed) == (4, 0)


def test_waits_between_attempts_are_no_latency_but_what_an_item_took(make_report: MakeReport) -> None:
    # Two attempts failed; half a second was waited before the second and before the third.
    found = [timed(record, 1.0, 2.0, 3.0, waited_s=0.5) for record in records(make_report)]
    latency = latency_of(found)
    assert latency.overall is not None
    assert latency.with_retries is not None
    assert (latency.overall.mean_s, latency.with_retries.mean_s) == (1.0, 7.0)


def test_an_unknown_time_is_counted_and_is_no_zero(make_report: MakeReport) -> None:
    one, two, three, four = records(make_report)
    # The second attempt of the third item was never timed; nothing of the fourth was.
    latency = latency_of([timed(one, 2.0), timed(two, 4.0), timed(three, 6.0, 1.0, None), timed(four, None)])
    assert latency.overall is not None
    assert latency.with_retries is not None
    assert (latency.overall.requests, latency.overall.untimed, latency.overall.mean_s) == (3, 1, 4.0)
    assert (latency.with_retries.requests, latency.with_retries.untimed, latency.with_retries.mean_s) == (2, 2, 3.0)


def test_each_trial_has_its_own_figures(make_report: MakeReport) -> None:
    first, second = records(make_report, 2)[:4], records(make_report, 2)[4:]
    assert {record.trial for record in second} == {2}
    latency = latency_of([*(timed(r, 1.0) for r in first), *(timed(r, 2.0, 3.0) for r in second)])
    assert {trial: stats.mean_s for trial, stats in latency.by_trial.items()} == {"1": 1.0, "2": 2.0}
    assert {trial: stats.mean_s for trial, stats in latency.by_trial_with_retries.items()} == {"1": 1.0, "2": 5.0}
    (table,) = latency_tables(latency)
    assert [row[:4] for row in table.rows] == [
        ["all trials", "8", "0", "1500.00"],
        ["trial 1", "4", "0", "1000.00"],
        ["trial 2", "4", "0", "2000.00"],
        ["all trials, with retries", "8", "0", "3000.00"],
        ["trial 1, with retries", "4", "0", "1000.00"],
        ["trial 2, with retries", "4", "0", "5000.00"],
    ]


def test_nothing_timed_is_nothing_known(make_report: MakeReport) -> None:
    latency = latency_of([timed(record, None) for record in records(make_report)])
    assert (latency.overall, latency.with_retries, latency.by_trial) == (None, None, {})
    assert list(latency_tables(latency)) == []

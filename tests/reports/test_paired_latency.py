"""Latency of a candidate over that of another, on the same requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from decibench.reports.comparisons.latency_ratio import latency_ratio
from decibench.reports.report import Report

SCENARIOS = 12


def timed(report: Report, seconds: Callable[[int], float | None]) -> Report:
    """``report`` whose record number i took ``seconds(i)``."""
    records = [record.model_copy(update={"latency_s": seconds(index)}) for index, record in enumerate(report.records)]
    return report.model_copy(update={"records": records})


@pytest.fixture
def plain(make_report: Any) -> Report:
    report: Report = make_report("plain", {f"demo-{number:03}": [True] * 3 for number in range(SCENARIOS)})
    return report


def test_the_ratio_is_the_median_over_matched_requests(plain: Report) -> None:
    rng = np.random.default_rng(5)
    ours, theirs = rng.lognormal(size=(2, 36))
    found = latency_ratio(timed(plain, lambda i: float(ours[i])), timed(plain, lambda i: float(theirs[i])))
    assert found.ratio.value == pytest.approx(float(np.median(ours / theirs)))
    assert (found.requests, found.unmatched, found.ratio.groups) == (36, 0, SCENARIOS)


def test_its_interval_is_that_of_drawing_whole_scenarios(plain: Report) -> None:
    rng = np.random.default_rng(6)
    # Requests of a scenario are alike, so that drawing requests one by one would give a far narrower interval.
    factors = np.repeat(rng.lognormal(sigma=0.5, size=SCENARIOS), 3)
    found = latency_ratio(timed(plain, lambda i: float(factors[i])), timed(plain, lambda _: 1.0))
    by_scenario = factors.reshape(SCENARIOS, 3)
    medians = [np.median(by_scenario[rng.integers(0, SCENARIOS, SCENARIOS)]) for _ in range(4_000)]
    low, high = np.percentile(medians, [2.5, 97.5])
    assert found.ratio.interval is not None
    assert (found.ratio.interval.low, found.ratio.interval.high) == pytest.approx((low, high), rel=0.1)


def test_requests_without_a_time_are_unmatched_and_not_zero(plain: Report) -> None:
    half = timed(plain, lambda i: None if i % 2 else 2.0)
    found = latency_ratio(half, timed(plain, lambda _: 1.0))
    assert (found.requests, found.unmatched, found.ratio.value) == (18, 18, 2.0)


def test_where_nothing_was_timed_the_ratio_is_unknown(plain: Report) -> None:
    found = latency_ratio(timed(plain, lambda _: None), plain)
    assert (found.requests, found.unmatched, found.ratio.value, found.ratio.interval) == (0, 36, None, None)


def test_the_same_times_give_one_and_no_interval(plain: Report) -> None:
    found = latency_ratio(plain, plain)
    assert found.ratio.value == 1.0
    assert found.ratio.interval is None
    assert found.ratio.no_interval is not None


def test_trials_are_matched_to_themselves(make_report: Any) -> None:
    outcomes = {f"demo-{number:03}": [True] for number in range(SCENARIOS)}
    twice = make_report("twice", [outcomes, outcomes])
    # The first trial takes ten times as long for both: matched by trial, nothing differs.
    slow = timed(twice, lambda i: 10.0 if i < SCENARIOS else 1.0)
    assert latency_ratio(slow, slow).ratio.value == 1.0
    assert latency_ratio(slow, slow).requests == 2 * SCENARIOS


def test_a_reference_that_took_no_time_gives_no_ratio(plain: Report) -> None:
    found = latency_ratio(timed(plain, lambda _: 2.0), timed(plain, lambda i: 1.0 if i % 2 else 0.0))
    assert (found.requests, found.unmatched, found.ratio.value) == (18, 18, 2.0)

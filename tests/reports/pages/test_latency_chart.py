"""The chart of latency: few points of a true distribution, by trial and with retries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from decibench.reports.latency import latency_of
from decibench.reports.pages.charts import report_charts
from decibench.reports.pages.latency_chart import latency_chart
from decibench.reports.protocol import Protocol
from decibench.reports.record import EarlierAttempt, Record

RULES = Protocol(resamples=100, curve_resamples=100)

Series = dict[str, list[tuple[float, float]]]


def timed(make_report: Any, seconds: Sequence[float | None], *, trials: int = 1, again: int = 0) -> Any:
    """A report whose items took ``seconds`` in every trial; the first ``again`` items failed once before, in 1 s."""
    report = make_report("demo", {"demo-1": [True]}, rules=RULES)
    records: list[Record] = []
    for trial in range(1, trials + 1):
        for n, taken in enumerate(seconds):
            retried = {"attempt": 2, "earlier": [EarlierAttempt(seconds=1.0, code="timeout")]} if n < again else {}
            records.append(report.records[0].model_copy(update={"trial": trial, "latency_s": taken} | retried))
    return report.model_copy(update={"records": records, "latency": latency_of(records)})


def chart(report: Any) -> Any:
    return latency_chart(report)


def lines(report: Any) -> Series:
    found: Series = {}
    for row in next(iter(chart(report).spec["datasets"].values())):
        found.setdefault(row["series"], []).append((row["ms"], row["share"]))
    return found


def test_each_point_is_the_share_of_requests_that_took_at_most_so_long(make_report: Any) -> None:
    ms = np.round(np.random.default_rng(0).lognormal(1, 1, 1500), 3)
    (line,) = lines(timed(make_report, [float(value) / 1000 for value in ms])).values()
    assert len(line) <= 200
    assert [line[0][0], line[-1][0]] == pytest.approx([ms.min(), ms.max()], rel=1e-3)
    assert (line[0][1], line[-1][1]) == (0, 1)
    for at, share in line[1:]:
        assert share == pytest.approx(np.mean(ms <= at * 1.0006), abs=0.003)
        assert np.mean(ms < at * 0.9994) <= share


def test_few_requests_are_all_drawn(make_report: Any) -> None:
    (line,) = lines(timed(make_report, [0.004, 0.001, 0.002, 0.002])).values()
    assert line == [(1.0, 0), (1.0, 0.25), (2.0, 0.5), (2.0, 0.75), (4.0, 1.0)]


def test_trials_have_a_line_each_told_apart_by_dash_and_colour(make_report: Any) -> None:
    assert list(lines(timed(make_report, [0.001, 0.002]))) == ["trial 1"]
    report = timed(make_report, [0.001, 0.002], trials=3)
    assert list(lines(report)) == ["trial 1", "trial 2", "trial 3"]
    assert "Medians by trial, in ms: 1: 1.50, 2: 1.50, 3: 1.50." in chart(report).sentence
    encoding = chart(report).spec["encoding"]
    for channel in ("color", "strokeDash"):
        looks = encoding[channel]["scale"]["range"]
        assert len({str(look) for look in looks}) == 3


def test_many_trials_are_one_line_and_it_is_said(make_report: Any) -> None:
    report = timed(make_report, [0.001, 0.002], trials=7)
    assert list(lines(report)) == ["all trials"]
    assert "All trials are one line" in chart(report).sentence


def test_retries_are_a_line_of_their_own(make_report: Any) -> None:
    report = timed(make_report, [0.001, 0.002, 0.003, 0.004], again=1)
    found = lines(report)
    assert list(found) == ["trial 1", "all attempts"]
    assert [at for at, _ in found["trial 1"][1:]] == [1.0, 2.0, 3.0, 4.0]
    assert [at for at, _ in found["all attempts"][1:]] == [2.0, 3.0, 4.0, 1001.0]
    assert "Asked again after a failure: 1; with all attempts" in chart(report).sentence
    assert list(lines(timed(make_report, [0.001, 0.002], trials=2, again=1)))[-1] == "all trials, all attempts"


def test_failed_requests_are_in_it_and_untimed_ones_are_named(make_report: Any) -> None:
    report = make_report("demo", {"demo-1": [True], "demo-2": [None], "demo-3": [None]}, rules=RULES)
    records = [r.model_copy(update={"latency_s": s}) for r, s in zip(report.records, (0.001, 5.0, None), strict=True)]
    report = report.model_copy(update={"records": records, "latency": latency_of(records)})
    assert [at for at, _ in lines(report)["trial 1"][1:]] == [1.0, 5000.0]
    said = chart(report).sentence
    assert "Of 2 timed requests" in said
    assert "Never timed, and not in it: 1." in said
    assert "failed requests (1)" in said


def test_percentiles_are_said_and_in_the_table(make_report: Any) -> None:
    seconds = [k / 1000 for k in range(1, 102)]
    report = timed(make_report, seconds)
    assert "half took at most 51.00 ms, 95% at most 96.00 ms and 99% at most 100.00 ms" in chart(report).sentence
    assert "51.00" in chart(report).table.rows[0]


def test_a_time_of_zero_can_be_drawn_and_nothing_timed_is_no_chart(make_report: Any) -> None:
    (line,) = lines(timed(make_report, [0.0, 0.001])).values()
    assert all(at > 0 for at, _ in line)
    untimed = timed(make_report, [None, None])
    assert latency_chart(untimed) is None
    assert "latency" not in [chart.key for chart in report_charts(untimed, None)]

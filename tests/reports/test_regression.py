"""What is compared with a blessed report and what is not, on reports made from outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from decibench.reports.regression import LISTED, Regression, regression_of
from decibench.reports.tables.regression import regression_sentences, regression_tables

if TYPE_CHECKING:
    from decibench.reports.report import Report
    from tests.reports.conftest import MakeReport

RIGHT = {f"demo-{n}": [True] for n in range(10)}


def _changed(report: Report, changes: Sequence[dict[str, Any]]) -> Report:
    """``report`` with fields of its first records replaced."""
    records = list(report.records)
    for place, change in enumerate(changes):
        records[place] = records[place].model_copy(update=change)
    return report.model_copy(update={"records": records})


@pytest.mark.parametrize(
    ("then", "now", "passed"),
    [
        pytest.param(0.9, 0.88, True, id="shift-of-the-limit"),
        pytest.param(0.9, 0.879, False, id="shift-above-the-limit"),
        pytest.param(0.9, 0.93, False, id="shift-for-the-better"),
        pytest.param(0.505, 0.495, False, id="newly-wrong-by-a-hair"),
        pytest.param(0.495, 0.505, True, id="newly-right-by-a-hair"),
        pytest.param(0.9, None, False, id="newly-failed"),
        pytest.param(None, None, True, id="failed-both-times"),
        pytest.param(None, 0.1, True, id="wrong-instead-of-failed"),
        pytest.param(None, 0.9, True, id="right-instead-of-failed"),
    ],
)
def test_what_passes(make_report: MakeReport, then: float | None, now: float | None, passed: bool) -> None:
    found = regression_of(_with_left(make_report, now), _with_left(make_report, then))
    assert found.passed is passed
    assert found.overall.compared == 10
    verdict = "Passed: no decision is newly wrong" if passed else "Not passed: decisions are newly wrong"
    assert any(sentence.startswith(verdict) for sentence in regression_sentences(found))


def _with_left(make_report: MakeReport, p: float | None) -> Report:
    """A report of ten right answers, but for the first: ``p`` on "left", which is right, or a failure."""
    if p is None:
        return make_report("m", RIGHT | {"demo-0": [None]})
    return make_report("m", RIGHT | {"demo-0": [p > 0.5]}, sure=dict.fromkeys(RIGHT, 0.8) | {"demo-0": max(p, 1 - p)})


def test_what_was_asked_differently_is_counted_and_not_compared(make_report: MakeReport) -> None:
    blessed = make_report("m", RIGHT)
    report = _changed(make_report("m", RIGHT | {"demo-0": [False]}), [{"request_hash": "1"}])
    found = regression_of(report, blessed)
    assert (found.overall.compared, found.asked_differently, found.passed) == (9, 1, True)
    assert "1 decisions were asked differently then, and are not compared." in list(regression_sentences(found))


def test_nothing_that_can_be_compared_is_no_pass(make_report: MakeReport) -> None:
    report = _changed(make_report("m", RIGHT), [{"request_hash": "1"}] * 10)
    found = regression_of(report, make_report("m", RIGHT))
    assert found.passed is None
    sentences = " ".join(regression_sentences(found))
    assert "no decision could be compared" in sentences
    assert "Not checked: no decision of the run was asked alike" in sentences
    assert "0 newly wrong" not in sentences
    assert found.overall.largest_shift is None


def test_an_incomplete_run_says_what_is_missing(make_report: MakeReport) -> None:
    report = make_report("m", RIGHT, complete=False, incomplete_reasons=["3 of 10 selected items have no record"])
    found = regression_of(report, make_report("m", RIGHT))
    assert found.passed is None
    assert found.reason == "the run is incomplete: 3 of 10 selected items have no record"


def test_latency_is_the_ratio_request_by_request_and_no_part_of_passing(make_report: MakeReport) -> None:
    then = [0.001 * (n + 1) for n in range(10)]
    ratios = [1.5, 3.0, 0.5, 2.0, 8.0, 1.0, 4.0, 2.5, 6.0, 9.0]
    blessed = _changed(make_report("m", RIGHT), [{"latency_s": t} for t in then])
    report = _changed(
        make_report("m", RIGHT), [{"latency_s": t * ratio} for t, ratio in zip(then, ratios, strict=True)]
    )
    found = regression_of(report, blessed)
    assert found.passed is True
    assert found.latency_change is not None
    assert found.latency_change.requests == 10
    assert found.latency_change.p50 == pytest.approx(2.75)
    assert [found.latency_change.p10, found.latency_change.p90] == pytest.approx(
        np.quantile(ratios, [0.1, 0.9]).tolist()
    )
    sentences = list(regression_sentences(found))
    assert "request latency 2.75 times that then (p10 0.95, p90 8.10)" in sentences[0]
    assert any("no part of pass or fail" in sentence for sentence in sentences)


def test_requests_that_failed_or_were_not_timed_are_in_no_latency(make_report: MakeReport) -> None:
    blessed = _changed(make_report("m", RIGHT), [{"latency_s": None}, {"latency_s": 0.0}])
    report = _changed(make_report("m", RIGHT | {"demo-2": [None]}), [{}, {}, {"latency_s": 1e-9}, {"latency_s": None}])
    found = regression_of(report, blessed)
    assert found.latency_change is not None
    assert (found.latency_change.requests, found.latency_change.p10) == (6, 1.0)
    none = _changed(blessed, [{"latency_s": None}] * 10)
    untimed = regression_of(report, none)
    assert untimed.latency_change is None
    assert "latency" not in " ".join(regression_sentences(untimed)).lower()


def test_long_lists_are_cut_kind_by_kind_and_counts_are_whole(make_report: MakeReport) -> None:
    many = {f"demo-{n:03}": [True] for n in range(LISTED + 30)}
    blessed = make_report("m", many | {"demo-000": [False]})
    found = regression_of(make_report("m", {name: [False] for name in many} | {"demo-000": [True]}), blessed)
    kinds = [change.kind for change in found.changes]
    assert (kinds.count("newly_wrong"), kinds.count("newly_right")) == (LISTED, 1)
    assert (found.overall.newly_wrong, found.overall.changed) == (LISTED + 29, LISTED + 30)
    (table,) = regression_tables(found)
    assert len(table.rows) == 20
    assert f"20 of {LISTED + 30}" in table.title


def test_a_regression_reads_back_as_it_was_written(make_report: MakeReport) -> None:
    found = regression_of(make_report("m", RIGHT | {"demo-3": [False]}), make_report("m", RIGHT))
    assert Regression.model_validate_json(found.model_dump_json()) == found


def test_another_choice_while_wrong_is_neither_better_nor_worse(make_report: MakeReport) -> None:
    blessed, report = (_third(make_report("m", RIGHT), p) for p in ((0.2, 0.395, 0.405), (0.2, 0.405, 0.395)))
    found = regression_of(report, blessed)
    assert (found.overall.changed_while_wrong, found.overall.changed, found.overall.shifted) == (10, 10, 0)
    assert found.passed is True
    assert "Wrong both times with another choice: 10." in " ".join(regression_sentences(found))


def test_a_trial_is_compared_with_the_same_trial(make_report: MakeReport) -> None:
    blessed = make_report("m", [RIGHT, RIGHT | {"demo-0": [False]}])
    both = regression_of(make_report("m", [RIGHT, RIGHT | {"demo-1": [False]}]), blessed)
    assert [(change.case, change.trial, change.kind) for change in both.changes] == [
        ("demo-1-original", 2, "newly_wrong"),
        ("demo-0-original", 2, "newly_right"),
    ]
    (table,) = regression_tables(both)
    assert table.rows[0][0] == "demo-1-original t2"
    one = regression_of(make_report("m", RIGHT), blessed)
    assert (one.overall.compared, one.overall.changed, one.not_asked_now, one.not_asked_then) == (10, 0, 10, 0)


def test_distributions_are_matched_by_option_and_not_by_place(make_report: MakeReport) -> None:
    blessed = _third(make_report("m", RIGHT), (0.7, 0.1, 0.2))
    turned = _third(make_report("m", RIGHT), (0.7, 0.1, 0.2))
    for record in turned.records:
        probabilities = record.decisions[0].probabilities
        assert probabilities is not None
        turned_round = dict(reversed(list(probabilities.items())))
        record.decisions[0] = record.decisions[0].model_copy(update={"probabilities": turned_round})
    assert regression_of(turned, blessed).overall.largest_shift == 0


def _third(report: Report, shares: tuple[float, float, float]) -> Report:
    """``report`` with three options instead of two and ``shares`` as every answer."""
    options = ["left", "right", "ahead"]
    answer = {
        "options": options,
        "probabilities": dict(zip(options, shares, strict=True)),
        "choice": options[shares.index(max(shares))],
    }
    changes = [{"decisions": [d.model_copy(update=answer) for d in record.decisions]} for record in report.records]
    return _changed(report, changes)

"""Risk-coverage curves and the areas under them, against enumeration and scikit-learn."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, roc_auc_score

from decibench.reports.metrics.augrc import augrc
from decibench.reports.metrics.aurc import aurc
from decibench.reports.metrics.coverage_at_risk import coverage_at_risk
from decibench.reports.metrics.eaurc import eaurc
from decibench.reports.metrics.risk_coverage import RiskCoverage, risk_coverage

Rows = list[tuple[float, bool]]
AREAS = (aurc, eaurc, augrc)

# Few levels, so that ties are common.
rows = st.lists(st.tuples(st.sampled_from([0.2, 0.5, 0.7, 0.9, 1.0]), st.booleans()), min_size=1, max_size=60)


def curve_of(found: Sequence[tuple[float, bool]]) -> RiskCoverage:
    return risk_coverage(np.array([c for c, _ in found]), np.array([right for _, right in found], dtype=np.bool_))


def area(function: Callable[..., Any], found: Sequence[tuple[float, bool]]) -> float:
    curve = curve_of(found)
    return float(function(curve.accepted, curve.errors))


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([0.2, 0.5, 0.9]), st.booleans()), min_size=1, max_size=6))
def test_aurc_is_the_average_over_all_orders_of_tied_decisions(found: Rows) -> None:
    values = []
    for order in itertools.permutations(found):
        if [c for c, _ in order] == sorted((c for c, _ in order), reverse=True):
            wrong = list(itertools.accumulate(not right for _, right in order))
            values.append(sum(e / k for k, e in enumerate(wrong, start=1)) / len(order))
    assert area(aurc, found) == pytest.approx(sum(values) / len(values), abs=1e-12)


@settings(deadline=None)
@given(rows)
def test_eaurc_takes_off_the_area_with_every_error_ranked_last(found: Rows) -> None:
    best = [(1.0 - i / 1000, right) for i, (_, right) in enumerate(sorted(found, key=lambda row: not row[1]))]
    assert area(eaurc, found) == pytest.approx(area(aurc, found) - area(aurc, best), abs=1e-12)
    assert area(eaurc, best) == pytest.approx(0, abs=1e-12)
    assert area(eaurc, found) >= -1e-12


def test_the_optimum_of_many_decisions_is_the_known_logarithm() -> None:
    found = [(1.0, True)] * 70_000 + [(0.5, False)] * 30_000
    assert area(aurc, found) == pytest.approx(0.3 + 0.7 * math.log(0.7), abs=1e-4)


@settings(deadline=None)
@given(rows)
def test_augrc_is_its_closed_form_with_the_auroc_of_scikit_learn(found: Rows) -> None:
    right = [r for _, r in found]
    accuracy = sum(right) / len(right)
    # With a single class there is no AUROC, and its factor is 0.
    auroc = roc_auc_score(right, [c for c, _ in found]) if 0 < accuracy < 1 else 0.0
    expected = (1 - auroc) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
    assert area(augrc, found) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(rows)
def test_augrc_is_the_area_under_accepted_errors_over_coverage(found: Rows) -> None:
    levels = sorted({c for c, _ in found}, reverse=True)
    coverage = [0.0] + [sum(c >= level for c, _ in found) / len(found) for level in levels]
    errors = [0.0] + [sum(c >= level and not right for c, right in found) / len(found) for level in levels]
    assert area(augrc, found) == pytest.approx(auc(coverage, errors), abs=1e-12)


@settings(deadline=None)
@given(rows.flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_neither_the_order_of_rows_nor_the_scale_of_confidence_matters(orders: tuple[Rows, Rows]) -> None:
    found, shuffled = orders
    for function in AREAS:
        rescaled = [(c**3 / 7, right) for c, right in shuffled]
        assert area(function, rescaled) == pytest.approx(area(function, found), abs=1e-12)


@settings(deadline=None)
@given(rows, st.integers(1, 5))
def test_a_failed_decision_is_an_error_that_comes_last(found: Rows, failures: int) -> None:
    last = [(0.1, False)] * failures
    curve, plain = curve_of(found + [(math.nan, True)] * failures), curve_of(found + last)
    assert curve.accepted.tolist() == plain.accepted.tolist()
    assert curve.errors.tolist() == plain.errors.tolist()
    assert math.isnan(curve.thresholds[-1])


@settings(deadline=None)
@given(rows)
def test_the_curve_is_a_plain_count_at_every_threshold(found: Rows) -> None:
    curve = curve_of(found)
    assert curve.thresholds.tolist() == sorted({c for c, _ in found}, reverse=True)
    assert (curve.accepted[0], curve.errors[0]) == (0, 0)
    for threshold, accepted, errors in zip(curve.thresholds, curve.accepted[1:], curve.errors[1:], strict=True):
        kept = [right for c, right in found if c >= threshold]
        assert (accepted, errors) == (len(kept), kept.count(False))


@settings(deadline=None)
@given(rows, rows)
def test_areas_of_several_rows_of_counts_are_those_of_each(first: Rows, second: Rows) -> None:
    both = (first, second)
    levels = [1.0, 0.9, 0.7, 0.5, 0.2]
    accepted = np.array([[float(sum(c >= t for c, _ in found)) for t in levels] for found in both])
    errors = np.array([[float(sum(c >= t and not right for c, right in found)) for t in levels] for found in both])
    for function in AREAS:
        expected = [area(function, found) for found in both]
        assert function(accepted, errors).tolist() == pytest.approx(expected, abs=1e-12)


def test_without_decisions_there_is_no_area() -> None:
    for counts in (np.zeros((2, 0)), np.zeros((2, 3))):
        for function in AREAS:
            assert np.isnan(function(counts, counts)).tolist() == [True, True]
    assert curve_of([]).accepted.tolist() == [0.0]


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        risk_coverage(np.zeros(3), np.zeros(2, dtype=np.bool_))


@settings(deadline=None)
@given(rows, st.sampled_from([0.01, 0.05, 0.1, 0.5]))
def test_coverage_at_risk_is_the_most_that_any_threshold_accepts(found: Rows, risk: float) -> None:
    curve = curve_of(found)
    index = coverage_at_risk(curve.accepted[1:], curve.errors[1:], risk)
    kept = [[right for c, right in found if c >= t] for t in {c for c, _ in found}]
    sizes = [len(k) for k in kept if k.count(False) / len(k) <= risk]
    assert (None if index is None else curve.accepted[1:][index]) == (max(sizes) if sizes else None)


def test_an_error_at_the_very_top_does_not_hide_the_coverage_below() -> None:
    curve = curve_of([(0.99, False)] + [(0.9, True)] * 30)
    index = coverage_at_risk(curve.accepted[1:], curve.errors[1:], 0.05)
    assert index is not None
    assert curve.thresholds[index] == 0.9

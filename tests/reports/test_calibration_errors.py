"""Calibration errors, the CORP decomposition and their bins against independent implementations and properties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from decibench.reports.metrics.bins import bin_sums, equal_mass_bins, equal_width_bins
from decibench.reports.metrics.corp import corp
from decibench.reports.metrics.debiased_calibration_error import (
    debiased_calibration_error,
    debiased_calibration_errors,
)
from decibench.reports.metrics.expected_calibration_error import (
    expected_calibration_error,
    expected_calibration_errors,
)
from decibench.reports.metrics.smooth_calibration_error import smooth_calibration_error, smooth_calibration_errors

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats

PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.3, 0.5, 0.55, 0.7, 0.9999, 1.0]), st.booleans()), min_size=1, max_size=40
)
NO_ORACLE = "the oracle is not installed with the lowest versions"


def sample(seed: int, n: int = 300, shift: float = 0.1) -> tuple[Floats, Bools]:
    rng = np.random.default_rng(seed)
    p = 0.3 + 0.65 * rng.random(n)
    return p, rng.random(n) < np.clip(p - shift, 0, 1)


def arrays(pairs: list[tuple[float, bool]]) -> tuple[Floats, Bools]:
    return np.array([p for p, _ in pairs]), np.array([right for _, right in pairs])


def every_figure(p: Floats, right: Bools) -> list[float | None]:
    parts = corp(p, right)
    assert parts is not None
    errors = (expected_calibration_error, debiased_calibration_error, smooth_calibration_error)
    return [*(error(p, right) for error in errors), *parts.model_dump().values()]


def equal(found: list[float | None], wanted: list[float | None]) -> bool:
    return all(
        (a is None and b is None) or a == pytest.approx(b, abs=1e-12) for a, b in zip(found, wanted, strict=True)
    )


@settings(max_examples=40, deadline=None)
@given(PAIRS, st.randoms(use_true_random=False))
def test_the_order_of_decisions_does_not_matter(pairs: list[tuple[float, bool]], random: Any) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert equal(every_figure(*arrays(shuffled)), every_figure(*arrays(pairs)))


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_columns_of_outcomes_give_what_each_gives_alone(pairs: list[tuple[float, bool]]) -> None:
    p, right = arrays(pairs)
    outcomes = np.column_stack([right, ~right]).astype(float)
    many = (expected_calibration_errors, debiased_calibration_errors, smooth_calibration_errors)
    one = (expected_calibration_error, debiased_calibration_error, smooth_calibration_error)
    for columns, single in zip(many, one, strict=True):
        found = [None if np.isnan(value) else float(value) for value in columns(p, outcomes)]
        assert equal(found, [single(p, right), single(p, ~right)])


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_the_parts_of_the_top_label_brier_score_add_up(pairs: list[tuple[float, bool]]) -> None:
    p, right = arrays(pairs)
    parts = corp(p, right)
    assert parts is not None
    assert parts.score == pytest.approx(((p - right) ** 2).mean())
    assert parts.score == pytest.approx(parts.miscalibration - parts.discrimination + parts.uncertainty)
    assert min(parts.miscalibration, parts.discrimination, parts.uncertainty) >= 0
    if right.all() or not right.any():
        assert (parts.discrimination, parts.uncertainty) == (0, 0)


def test_without_decisions_nothing_is_defined() -> None:
    empty = np.array([]), np.array([], dtype=bool)
    figures = (expected_calibration_error, debiased_calibration_error, smooth_calibration_error, corp)
    assert [figure(*empty) for figure in figures] == [None] * 4


def test_a_debiased_error_needs_two_decisions_in_a_bin() -> None:
    assert debiased_calibration_error(np.array([0.4, 0.9]), np.array([True, True])) is None


@pytest.mark.parametrize("seed", range(5))
def test_corp_is_that_of_model_diagnostics(seed: int) -> None:
    scoring = pytest.importorskip("model_diagnostics.scoring", reason=NO_ORACLE)
    p, right = sample(seed)
    p = p.round(2)  # With ties.
    oracle = scoring.decompose(right.astype(float), p, scoring_function=scoring.SquaredError())
    ours = corp(p, right)
    assert ours is not None
    for name, value in ours.model_dump().items():
        assert value == pytest.approx(oracle[name][0], abs=1e-12), name


def test_corp_recalibrates_as_isotonic_regression_does() -> None:
    p, right = sample(11)
    recalibrated = IsotonicRegression().fit_transform(p, right.astype(float))
    ours = corp(p, right)
    assert ours is not None
    best = float(((recalibrated - right) ** 2).mean())
    assert ours.miscalibration == pytest.approx(((p - right) ** 2).mean() - best, abs=1e-12)


def test_probabilities_that_differ_by_rounding_alone_are_recalibrated_alike() -> None:
    same = corp(np.array([0.3, 0.3]), np.array([True, False]))
    assert corp(np.array([0.3, 0.1 + 0.2]), np.array([True, False])) == pytest.approx(same)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shift", [0.0, 0.05, -0.05, 0.3])
def test_the_smooth_error_is_that_of_its_authors(monkeypatch: pytest.MonkeyPatch, seed: int, shift: float) -> None:
    relplot = pytest.importorskip("relplot", reason=NO_ORACLE)
    p, right = sample(seed, 1000, shift)
    # Theirs evaluates the kernel at 200 points by default, the ends included.
    monkeypatch.setattr(relplot.config, "smECE_mesh_pts", 5000)
    assert smooth_calibration_error(p, right) == pytest.approx(relplot.smECE(p, right.astype(float)), abs=2e-4)


def test_the_smooth_error_of_a_constant_gap_is_the_gap() -> None:
    p = np.full(1000, 0.8)
    right = np.arange(1000) < 500
    assert smooth_calibration_error(p, right) == pytest.approx(0.3, abs=1e-6)


def test_the_debiased_error_follows_its_definition_bin_by_bin() -> None:
    p, right = sample(3, 333)
    ordered = np.argsort(p)
    total = 0.0
    for part in np.array_split(ordered, 3):  # Of equal mass: 333 decisions without ties.
        gap, accuracy = p[part].mean() - right[part].mean(), right[part].mean()
        total += part.size / 333 * (gap**2 - accuracy * (1 - accuracy) / (part.size - 1))
    assert debiased_calibration_error(p, right, bins=3) == pytest.approx(np.sqrt(max(0.0, total)))


def test_the_debiased_squared_error_is_unbiased_for_independent_decisions() -> None:
    rng = np.random.default_rng(5)
    p = np.repeat([0.4, 0.6, 0.9], 40)
    outcomes = (rng.random((120, 4000)) < (p - 0.2)[:, None]).astype(float)
    squared = debiased_calibration_errors(p, outcomes, bins=3) ** 2
    # The gap of 0.2 is far from 0, so that hardly any total is cut off there.
    assert squared.mean() == pytest.approx(0.04, abs=4 * squared.std() / np.sqrt(4000))


def test_equal_width_bins_have_their_edges_below() -> None:
    assert equal_width_bins(np.array([0.0, 0.0999, 0.1, 0.2, 0.7, 1.0]), 10).tolist() == [0, 0, 1, 2, 7, 9]


def test_equal_mass_bins_are_of_one_size_and_never_part_equals() -> None:
    p = np.random.default_rng(1).random(100)
    assert np.bincount(equal_mass_bins(p, 10)).tolist() == [10] * 10
    tied = equal_mass_bins(np.array([0.5] * 7 + [0.9, 0.1, 0.9]), 5)
    assert len(set(tied[:7].tolist())) == 1
    assert tied[7] == tied[9]


def test_sums_over_bins_count_each_decision_by_its_weight() -> None:
    columns = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    found = bin_sums(np.array([2, 0, 2]), columns, 3, np.array([1.0, 1.0, 0.5]))
    assert found.tolist() == [[2.0, 20.0], [0.0, 0.0], [2.5, 25.0]]

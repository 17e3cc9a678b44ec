"""The null level: how it is simulated, and how often a calibrated clustered model exceeds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from decibench.reports.metrics.calibration_null import calibrated_outcomes, null_levels, residual_correlation
from decibench.reports.metrics.expected_calibration_error import expected_calibration_errors

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats, Ints

ECE = {"ece": expected_calibration_errors}


def outcomes(p: Floats, group: Ints, item: Ints, correlation: float, simulations: int = 20_000) -> Floats:
    blocks = calibrated_outcomes(p, group, item, correlation, simulations=simulations, seed=1)
    return np.concatenate(list(blocks), axis=1)


def calibrated_model(rng: np.random.Generator, groups: int, size: int) -> tuple[Floats, Bools, Ints]:
    """Top probabilities and outcomes, correlated within groups by latent normals: not the mechanism of the null."""
    group = np.repeat(np.arange(groups), size)

    def latent() -> Floats:
        common, own = rng.standard_normal(groups), rng.standard_normal(group.size)
        return np.asarray(np.sqrt(0.6) * common[group] + np.sqrt(0.4) * own)

    p = 0.5 + 0.5 * expit(1.5 * latent())
    return p, latent() < norm.ppf(p), group


@pytest.mark.parametrize("correlation", [0.0, 0.4, 1.0])
def test_simulated_decisions_are_right_with_their_top_probability(correlation: float) -> None:
    p = np.array([0.25, 0.5, 0.5, 0.9, 1.0])
    found = outcomes(p, np.array([0, 0, 0, 1, 1]), np.arange(5), correlation)
    standard_error = np.sqrt(p * (1 - p) / 20_000)
    assert (np.abs(found.mean(axis=1) - p) <= 4 * standard_error).all()


@pytest.mark.parametrize("correlation", [0.0, 0.4, 1.0])
def test_simulated_decisions_correlate_within_groups_only(correlation: float) -> None:
    found = outcomes(np.full(3, 0.5), np.array([0, 0, 1]), np.arange(3), correlation)
    seen = np.asarray(np.corrcoef(found))
    assert seen[0, 1] == pytest.approx(correlation, abs=0.03)
    assert seen[0, 2] == pytest.approx(0, abs=0.03)


def test_trials_of_one_question_are_no_second_draw() -> None:
    found = outcomes(np.array([0.5, 0.5, 0.5]), np.zeros(3, dtype=np.int64), np.array([0, 0, 1]), 0.3)
    assert (found[0] == found[1]).all()
    assert (found[0] != found[2]).any()


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.8])
def test_the_correlation_of_simulated_outcomes_is_estimated_back(correlation: float) -> None:
    rng = np.random.default_rng(2)
    p, group, item = 0.3 + 0.7 * rng.random(4000), np.repeat(np.arange(1000), 4), np.arange(4000)
    found = outcomes(p, group, item, correlation, 20)
    estimates = [residual_correlation(p, column > 0.5, group, item) for column in found.T]
    assert np.mean(estimates) == pytest.approx(correlation, abs=0.03)


def test_without_a_pair_there_is_no_correlation() -> None:
    p, right = np.array([0.6, 0.7, 0.8]), np.array([True, False, True])
    alone = np.arange(3)
    assert residual_correlation(p, right, alone, alone) == 0
    assert residual_correlation(p, right, np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64)) == 0
    assert residual_correlation(np.ones(3), right, np.zeros(3, dtype=np.int64), alone) == 0


def test_the_estimate_is_the_sum_over_pairs_one_by_one() -> None:
    rng = np.random.default_rng(9)
    p, right = rng.random(12), rng.random(12) < 0.5
    group, item = np.repeat(np.arange(3), 4), np.array([0, 0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9])
    pairs = [(i, j) for i in range(12) for j in range(12) if group[i] == group[j] and item[i] != item[j]]
    seen = sum((right[i] - p[i]) * (right[j] - p[j]) for i, j in pairs)
    full = sum(min(p[i], p[j]) - p[i] * p[j] for i, j in pairs)
    assert residual_correlation(p, right, group, item) == pytest.approx(min(1, max(0, seen / full)))


def test_the_null_level_does_not_depend_on_names_and_repeats_with_its_seed() -> None:
    p, _, group = calibrated_model(np.random.default_rng(4), 30, 4)
    item = np.arange(p.size)
    first, again, other = (
        null_levels(p, group, item, 0.5, ECE, simulations=300, seed=seed)["ece"] for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert first.mean == pytest.approx(other.mean, rel=0.1)


def test_clustering_raises_the_null_level() -> None:
    p, _, group = calibrated_model(np.random.default_rng(4), 40, 5)
    item = np.arange(p.size)
    alone, clustered = (
        null_levels(p, group, item, correlation, ECE, simulations=500, seed=1)["ece"] for correlation in (0, 0.9)
    )
    assert clustered.mean > alone.mean
    assert clustered.p95 > alone.p95


def test_a_calibrated_clustered_model_exceeds_its_95th_percentile_in_about_one_of_twenty_runs() -> None:
    runs, simulations = 300, 200
    rng = np.random.default_rng(3)
    above = {"estimated": 0, "none": 0}
    for run in range(runs):
        p, right, group = calibrated_model(rng, 50, 4)
        item = np.arange(p.size)
        value = expected_calibration_errors(p, right.astype(float)[:, None])[0]
        for name, correlation in (("estimated", residual_correlation(p, right, group, item)), ("none", 0.0)):
            level = null_levels(p, group, item, correlation, ECE, simulations=simulations, seed=run)["ece"]
            above[name] += bool(value > level.p95)
    # Three Monte-Carlo standard errors of a share of 5% over 300 runs: 3.8 percentage points.
    error = 3 * np.sqrt(0.05 * 0.95 / runs)
    assert 0 < above["estimated"] / runs < 0.05 + error
    # As if the decisions were independent, a calibrated model would be called miscalibrated far more often.
    assert above["none"] / runs > 0.05 + error

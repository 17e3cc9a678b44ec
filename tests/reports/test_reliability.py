"""Reliability bins: which accuracy stands in them, and which intervals the data give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from decibench.reports.metrics.expected_calibration_error import expected_calibration_error
from decibench.reports.metrics.reliability import TOO_FEW, ReliabilityBin, reliability
from decibench.reports.resampling import GroupBootstrap

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Bools, Floats


def bins_of(p: Floats, right: Bools, groups: list[str]) -> list[ReliabilityBin]:
    return reliability(p, right, GroupBootstrap(np.array(groups), np.ones(p.size), resamples=1000, seed=1))


def test_bins_hold_every_decision_and_give_the_expected_calibration_error() -> None:
    rng = np.random.default_rng(1)
    p, right = rng.random(200), rng.random(200) < 0.5
    bins = bins_of(p, right, [f"g{n // 4}" for n in range(200)])
    assert [(b.low, b.high) for b in bins] == [(k / 10, (k + 1) / 10) for k in range(10)]
    assert sum(b.decisions for b in bins) == 200
    gaps = [b.decisions * abs((b.mean_top_probability or 0.0) - (b.accuracy.value or 0.0)) for b in bins if b.decisions]
    assert sum(gaps) / 200 == pytest.approx(expected_calibration_error(p, right))


def test_the_interval_of_a_bin_is_that_of_independent_groups() -> None:
    right = np.arange(400) % 2 == 0
    found = bins_of(np.full(400, 0.95), right, [f"g{n}" for n in range(400)])[9].accuracy.interval
    assert found is not None
    # 1.96 standard errors of a share of one half over 400 groups are 4.9 percentage points.
    assert found.high - found.low == pytest.approx(0.098, abs=0.01)


def test_the_interval_widens_with_clustering() -> None:
    right = np.arange(400) % 20 < 10
    groups = [f"g{n // 10}" for n in range(400)]  # Every group is all right or all wrong.
    found = bins_of(np.full(400, 0.95), right, groups)[9].accuracy.interval
    assert found is not None
    assert found.high - found.low > 0.25


def test_too_few_scenarios_have_no_interval() -> None:
    right = np.arange(40) % 2 == 0
    bin_ = bins_of(np.full(40, 0.35), right, [f"g{n % 4}" for n in range(40)])[3]
    assert (bin_.decisions, bin_.accuracy.groups, bin_.accuracy.value) == (40, 4, 0.5)
    assert bin_.accuracy.interval is None
    assert bin_.accuracy.no_interval == TOO_FEW


def test_a_bin_that_is_all_right_has_no_interval_but_a_bound() -> None:
    accuracy = bins_of(np.ones(30), np.ones(30, dtype=bool), [f"g{n}" for n in range(30)])[9].accuracy
    assert accuracy.value == 1
    assert accuracy.interval is None
    assert accuracy.exceptions_below == pytest.approx(1 - 0.05 ** (1 / 30))


def test_an_empty_bin_has_no_figures() -> None:
    empty = bins_of(np.array([0.95]), np.array([True]), ["g"])[0]
    assert (empty.decisions, empty.mean_top_probability, empty.accuracy.value) == (0, None, None)

"""Temperature scaling against scipy's softmax and minimisers, and what it must leave as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from decibench.reports.metrics import temperature as module
from decibench.reports.metrics.temperature import LIMITS, fit_temperature, relative_logs, softened

if TYPE_CHECKING:
    from decibench.reports.metrics.arrays import Floats, Ints

FLOOR = 1e-15


def decisions(seed: int, n: int = 400, truth: float = 1.0) -> tuple[Floats, Ints, Ints]:
    """Distributions of 2 to 6 options, end to end; the references follow them raised to the power 1 / truth."""
    rng = np.random.default_rng(seed)
    parts = [rng.dirichlet(np.ones(k)) for k in rng.integers(2, 7, size=n)]
    sizes = np.array([part.size for part in parts])
    starts = np.cumsum(sizes) - sizes
    picks = [rng.choice(part.size, p=softmax(np.log(part) / truth)) for part in parts]
    return np.concatenate(parts), starts, starts + np.array(picks)


def test_scaling_is_a_softmax_of_divided_logarithms() -> None:
    p, starts, _ = decisions(1, 30)
    found = softened(relative_logs(p, starts, FLOOR), starts, 2.5)
    wanted = [softmax(np.log(part) / 2.5) for part in np.split(p, starts[1:])]
    assert found == pytest.approx(np.concatenate(wanted), abs=1e-12)


def test_a_temperature_of_one_changes_nothing() -> None:
    p, starts, _ = decisions(2)
    assert softened(relative_logs(p, starts, FLOOR), starts, 1.0) == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize("truth", [0.3, 1.0, 2.5])
def test_the_temperature_behind_the_answers_is_found(truth: float) -> None:
    p, starts, references = decisions(3, 4000, truth)
    assert fit_temperature(relative_logs(p, starts, FLOOR), starts, references) == pytest.approx(truth, rel=0.1)


def test_the_fit_is_the_minimum_that_another_method_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    p, starts, references = decisions(4, 300, 1.7)
    parts = np.split(np.log(p), starts[1:])

    def loss(inverse: Any) -> float:
        picks = references - starts
        return float(-np.mean([log_softmax(x * inverse[0])[k] for x, k in zip(parts, picks, strict=True)]))

    wanted = 1 / minimize(loss, [1.0], method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}).x[0]
    logs = relative_logs(p, starts, FLOOR)
    assert fit_temperature(logs, starts, references) == pytest.approx(wanted, rel=1e-3)
    # Many small blocks give what one gives.
    monkeypatch.setattr(module, "_BLOCK", 7)
    assert fit_temperature(logs, starts, references) == pytest.approx(wanted, rel=1e-3)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 20))
def test_the_order_of_options_stays(seed: int, temperature: float) -> None:
    p, starts, _ = decisions(seed, 10)
    found = softened(relative_logs(p, starts, FLOOR), starts, temperature)
    for before, after in zip(np.split(p, starts[1:]), np.split(found, starts[1:]), strict=True):
        assert after.sum() == pytest.approx(1)
        assert (np.diff(after[np.argsort(before)]) >= 0).all()


def test_zeros_are_raised_to_the_floor() -> None:
    logs = relative_logs(np.array([1.0, 0.0]), np.array([0]), 1e-3)
    assert softened(logs, np.array([0]), 1.0) == pytest.approx([1 / 1.001, 0.001 / 1.001])


def test_answers_that_are_always_right_are_sharpened_to_the_limit() -> None:
    p, starts = np.array([0.6, 0.4, 0.6, 0.4]), np.array([0, 2])
    assert fit_temperature(relative_logs(p, starts, FLOOR), starts, np.array([0, 2])) == LIMITS[0]
    assert fit_temperature(relative_logs(p, starts, FLOOR), starts, np.array([1, 3])) == LIMITS[1]


def test_where_no_temperature_is_better_it_is_one() -> None:
    p, starts = np.full(8, 0.25), np.array([0, 4])
    assert fit_temperature(relative_logs(p, starts, FLOOR), starts, np.array([1, 6])) == 1.0

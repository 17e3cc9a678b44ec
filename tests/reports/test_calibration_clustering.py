"""What a calibration error is compared with depends on how alike the errors of a scenario are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from decibench.reports.calibration import Calibration, calibration_of
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Record

RULES = Protocol(resamples=100, curve_resamples=400)
SCENARIOS, VARIANTS = 60, 4
LEVELS = (0.55, 0.65, 0.75, 0.85, 0.95)
"""Top probabilities of the scenarios, in turn."""


def calibration(right: Sequence[Sequence[bool]]) -> Calibration:
    """Of a model that is right where ``right``, of shape (scenarios, variants), says so."""
    records = [
        record(scenario, variant, LEVELS[scenario % len(LEVELS)], value)
        for scenario, of_scenario in enumerate(right)
        for variant, value in enumerate(of_scenario)
    ]
    return calibration_of(records, RULES)["holdout"]


def record(scenario: int, variant: int, top: float, right: bool) -> Record:
    choice, other = ("left", "right") if right else ("right", "left")
    answer = Decision(
        question="way",
        type="choice",
        options=["left", "right"],
        expected="left",
        choice=choice,
        probabilities={choice: top, other: 1 - top},
    )
    return Record(
        case=f"c{scenario}-{variant}",
        group=f"g{scenario}",
        family="demo",
        variant=f"v{variant}",
        role="core",
        split="holdout",
        trial=1,
        request_hash="r",
        candidate_hash="h",
        latency_s=0.1,
        decisions=[answer],
    )


@pytest.fixture(scope="module")
def models() -> tuple[Calibration, Calibration]:
    """Errors independent within scenarios, and the same for all decisions of one: both calibrated, as often right."""
    top = np.resize(LEVELS, SCENARIOS)
    drawn = np.random.default_rng(5).random((SCENARIOS, VARIANTS))
    independent, same = drawn < top[:, None], np.repeat(drawn[:, :1] < top[:, None], VARIANTS, axis=1)
    return calibration(independent.tolist()), calibration(same.tolist())


def test_errors_shared_within_scenarios_raise_the_null_level(models: tuple[Calibration, Calibration]) -> None:
    independent, same = models
    assert independent.valid == same.valid == SCENARIOS * VARIANTS
    low, high = independent.errors["ece_10"], same.errors["ece_10"]
    assert low.null_mean is not None
    assert low.null_p95 is not None
    assert high.null_mean is not None
    assert high.null_p95 is not None
    # Four decisions that err together tell as much as one: the noise doubles.
    assert high.null_mean > 1.5 * low.null_mean
    assert high.null_p95 > 1.5 * low.null_p95


def test_the_correlation_that_is_shown_tells_the_two_apart(models: tuple[Calibration, Calibration]) -> None:
    independent, same = models
    assert independent.residual_correlation < 0.2
    assert same.residual_correlation > 0.8

"""Validity and power of gates on models whose true risk is known: a short run of ``scripts/simulate.py``."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from decibench.gates.p_values.methods import METHODS

SCRIPT = Path(__file__).parents[2] / "scripts" / "simulate.py"
SEED = 7
DELTA = 0.10
CONFIDENCE = 0.99
"""Of the statements below on a share that was simulated; everything is drawn from SEED, so none is lucky twice."""
CERTIFIED = [f"{method}, {start}" for method in METHODS for start in (".9", "development")] + ["default, development"]


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    """The simulation, which is a script and in no package."""
    spec = importlib.util.spec_from_file_location("simulate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look their module up.
    sys.modules["simulate"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["simulate"]


def world(script: ModuleType, name: str) -> Any:
    return next(world for world in script.WORLDS if world.name == name)


def shown_above(outcome: Any) -> bool:
    """Whether the simulated violations show, at CONFIDENCE, that the rule violates with more than DELTA."""
    return bool(binomtest(outcome.violations, outcome.repetitions, DELTA, "greater").pvalue < 1 - CONFIDENCE)


def shown_below(outcome: Any) -> bool:
    """Whether they show that it violates with less than DELTA."""
    return bool(binomtest(outcome.violations, outcome.repetitions, DELTA, "less").pvalue < 1 - CONFIDENCE)


@pytest.mark.parametrize(("name", "threshold", "risk"), [("A", 0.9, 0.0603), ("B", 0.5, 0.0195), ("C", 0.9, 0.06)])
def test_worlds_have_the_true_risk_that_is_claimed(
    script: ModuleType, name: str, threshold: float, risk: float
) -> None:
    shown = world(script, name)
    assert shown.risk(threshold, "scenario-weighted") == pytest.approx(risk, abs=5e-5)
    groups = 50_000
    counts = shown.draw(np.random.default_rng(SEED), groups).at(threshold)
    errors, accepted = counts.errors.sum(), counts.accepted.sum()
    # Four decisions of a group count as one for the standard error.
    assert errors / accepted == pytest.approx(risk, abs=4 * (risk / groups) ** 0.5)
    assert accepted / (4 * groups) == pytest.approx(shown.coverage(threshold), abs=4 * 0.5 / groups**0.5)
    assert shown.risk(threshold, "any") == pytest.approx(
        counts.failing / counts.accepting, abs=4 * (risk / groups) ** 0.5
    )


@pytest.mark.parametrize("groups", [60, 120, 240])
def test_the_naive_rule_fails_where_the_error_is_six_percent_at_every_confidence(
    script: ModuleType, groups: int
) -> None:
    found = script.simulate(world(script, "C"), groups, 200, SEED, ["empirical grid"])
    assert shown_above(found["empirical grid"])
    assert found["empirical grid"].violation > 4 * DELTA


def test_an_item_level_bound_fails_there_too(script: ModuleType) -> None:
    # Standard error 0.7 percentage points.
    found = script.simulate(world(script, "C"), 60, 2_000, SEED, ["item-level, .9"])
    assert shown_above(found["item-level, .9"])


@pytest.mark.parametrize("groups", [60, 240])
def test_certified_methods_hold_there(script: ModuleType, groups: int) -> None:
    # 200 repetitions, 20 for gaffke: standard error at DELTA 2.1 percentage points, 6.7 for gaffke.
    found = script.simulate(world(script, "C"), groups, 200, SEED, CERTIFIED)
    for rule, outcome in found.items():
        assert shown_below(outcome) or rule.startswith("gaffke"), (rule, str(outcome))
        assert outcome.violation <= DELTA, (rule, str(outcome))


@pytest.mark.parametrize("name", ["A", "E"])
def test_certified_methods_hold_for_overconfident_models(script: ModuleType, name: str) -> None:
    rules = [rule for rule in CERTIFIED if not rule.startswith("gaffke")]
    found = script.simulate(world(script, name), 120, 200, SEED, rules)
    assert [rule for rule, outcome in found.items() if not shown_below(outcome)] == []


def test_betting_has_power_for_a_strong_model(script: ModuleType) -> None:
    found = script.simulate(world(script, "B"), 240, 200, SEED, ["betting, .9", "default, development"])
    assert found["betting, .9"].coverage > 0.97
    assert found["default, development"].coverage > 0.9
    assert found["betting, .9"].violations == found["default, development"].violations == 0


def test_the_same_seed_gives_the_same_table(script: ModuleType) -> None:
    arguments = (world(script, "B"), 60, 30, SEED, ["one_per_group_cp, .9", "empirical grid"])
    assert script.simulate(*arguments) == script.simulate(*arguments)

"""Headline figures with their intervals: equal to the metrics, honest where the bootstrap has nothing to say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap

from decibench.reports.intervals import Intervals, intervals_of
from decibench.reports.metrics.chance_accuracy import chance_accuracy
from decibench.reports.metrics.zero_event_bound import zero_event_bound
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Failure, Record
from decibench.reports.summary import GatePoint, SplitMetrics, summarise
from decibench.reports.table import decisions_of
from decibench.reports.tables.intervals import chance_sentence, intervals_tables

RULES = Protocol(resamples=1000)
GATED = ("coverage", "selective_risk", "unsafe_acceptance")
GATE = GatePoint(threshold=0.7)


def record(family: str, group: int, variant: int, top: float | None, right: bool, **more: Any) -> Record:
    """One decision among two options, or four in the family ``four``; without a top probability it failed."""
    options = ["a", "b", "c", "d"] if family == "four" else ["a", "b"]
    answer: dict[str, Any] = {"failure": Failure(code="timeout", detail="too late")}
    if top is not None:
        choice = "a" if right else "b"
        rest = (1 - top) / (len(options) - 1)
        answer = {"choice": choice, "probabilities": {o: top if o == choice else rest for o in options}}
    asked = Decision(
        question="q",
        type="choice",
        options=options,
        expected="a",
        unsafe=["b"] if group % 2 else [],
        demanded="b" if more.get("role") == "attack" else None,
        **answer,
    )
    fields: dict[str, Any] = {
        "case": f"{family}-{group}-{variant}",
        "group": f"{family}-{group}",
        "family": family,
        "variant": f"v{variant}",
        "role": "core",
        "split": "holdout",
        "trial": 1,
        "request_hash": "r",
        "candidate_hash": "h",
        "latency_s": 0.1,
        "decisions": [asked],
    }
    return Record(**(fields | more))


def sample(split: str = "holdout", seed: int = 0, skill: float = 0.75) -> list[Record]:
    """Thirty scenarios of one to four variants in the family ``two`` and twenty in ``four``, each under one attack."""
    rng = np.random.default_rng(seed)
    records = []
    for family, groups in (("two", 30), ("four", 20)):
        for group in range(groups):
            rate = rng.beta(4 * skill, 4 * (1 - skill))
            for variant in range(int(rng.integers(1, 5))):
                top = None if rng.random() < 0.04 else float(0.5 + 0.5 * rng.random())
                records.append(record(family, group, variant, top, bool(rng.random() < rate), split=split))
            right = bool(rng.random() < rate)
            records.append(record(family, group, 9, 0.8, right, split=split, role="attack"))
    return records


def measured(records: list[Record], gate: GatePoint | None = GATE, rules: Protocol = RULES) -> dict[Any, Intervals]:
    return intervals_of(records, decisions_of(records, rules.log_loss_floor), rules, gate)


def metrics_of(records: list[Record], gate: GatePoint | None = GATE) -> dict[Any, SplitMetrics]:
    return summarise(decisions_of(records, RULES.log_loss_floor), RULES.log_loss_floor, gate)


@pytest.mark.parametrize("gate", [None, GATE, GatePoint(threshold=None)])
def test_every_value_is_that_of_the_metrics(gate: GatePoint | None) -> None:
    records = [*sample("calibration", 1), *sample("holdout", 2)]
    metrics = metrics_of(records, gate)
    for split, found in measured(records, gate).items():
        overall, attack = metrics[split].overall, metrics[split].attack
        for name in ("macro_accuracy", "accuracy", "brier_score", "log_loss", *GATED):
            figure = getattr(found, name)
            assert (None if figure is None else figure.value) == getattr(overall, name), name
        assert attack is not None
        assert found.attack_success is not None
        assert found.attack_success.value == attack.attack_success
        assert {name: family.accuracy.value for name, family in found.by_family.items()} == {
            name: family.accuracy for name, family in metrics[split].by_family.items()
        }
        assert found.decisions == overall.decisions


def test_intervals_of_accuracy_and_macro_accuracy_are_those_of_scipy_on_cluster_sums() -> None:
    records = sample()
    core = [r for r in records if r.role == "core"]
    names = sorted({r.group for r in core})
    right = np.array([sum(not r.missed and not r.failed for r in core if r.group == name) for name in names])
    size = np.array([sum(r.group == name for r in core) for name in names])
    two = np.array([name.startswith("two") for name in names])

    def macro(right: Any, size: Any, two: Any, axis: int) -> Any:
        shares = [(right * mask).sum(axis=axis) / (size * mask).sum(axis=axis) for mask in (two, ~two)]
        return sum(shares) / 2

    def accuracy(right: Any, size: Any, two: Any, axis: int) -> Any:
        return right.sum(axis=axis) / size.sum(axis=axis)

    found = measured(records, rules=Protocol())["holdout"]
    for ours, statistic in ((found.macro_accuracy, macro), (found.accuracy, accuracy)):
        theirs = bootstrap(
            (right, size, two),
            statistic,
            paired=True,
            n_resamples=10_000,
            method="percentile",
            random_state=np.random.default_rng(3),
        ).confidence_interval
        # An endpoint of 10,000 resamples is uncertain by about 2% of the interval's width.
        width = theirs.high - theirs.low
        assert ours.interval is not None
        assert ours.interval.low == pytest.approx(theirs.low, abs=0.06 * width)
        assert ours.interval.high == pytest.approx(theirs.high, abs=0.06 * width)


def test_groups_are_the_scenarios_that_a_figure_is_about() -> None:
    records = sample()
    core = [r for r in records if r.role == "core"]
    found = measured(records)["holdout"]
    assert found.groups == found.accuracy.groups == len({r.group for r in core})
    assert found.brier_score.groups == len({r.group for r in core if not r.failed})
    assert found.unsafe_acceptance is not None
    assert found.unsafe_acceptance.groups == len({r.group for r in core if r.decisions[0].unsafe})
    assert found.selective_risk is not None
    assert found.selective_risk.groups == len(
        {r.group for r in core if max((r.decisions[0].probabilities or {"": 0.0}).values()) >= 0.7}
    )


def test_gate_figures_have_no_interval_where_the_threshold_was_chosen() -> None:
    found = measured([*sample("calibration", 1), *sample("holdout", 2)])
    for name in GATED:
        assert getattr(found["calibration"], name).no_interval == "the threshold was chosen on these scenarios"
        assert getattr(found["calibration"], name).interval is None
        assert getattr(found["holdout"], name).interval is not None


def test_a_null_gate_accepts_nothing_by_rule_and_not_by_chance() -> None:
    coverage = measured(sample(), GatePoint(threshold=None))["holdout"].coverage
    assert coverage is not None
    assert (coverage.value, coverage.interval, coverage.exceptions_below) == (0.0, None, None)
    assert coverage.no_interval == "the gate is null and accepts nothing"


@pytest.mark.parametrize("right", [True, False])
def test_a_share_of_all_or_none_has_a_bound_over_scenarios_in_place_of_an_interval(right: bool) -> None:
    records = [record(family, g, v, 0.8, right) for family in ("two", "four") for g in range(30) for v in range(3)]
    found = measured(records)["holdout"]
    for figure in (found.accuracy, found.macro_accuracy, found.selective_risk):
        assert figure is not None
        assert figure.value in (0.0, 1.0)
        assert figure.interval is None
        assert figure.no_interval == "no variation between scenarios: the bootstrap gives no interval"
        # Sixty scenarios, not 180 decisions.
        exact = binomtest(0, 60, alternative="less").proportion_ci(0.95, method="exact").high
        assert figure.exceptions_below == pytest.approx(exact, rel=1e-9)
    assert found.above_chance is None


def test_equal_scenarios_show_no_spread_to_resample() -> None:
    records = [record("two", g, v, 0.8, v == 0) for g in range(30) for v in range(3)]
    accuracy = measured(records)["holdout"].accuracy
    assert accuracy.value == pytest.approx(1 / 3)
    assert (accuracy.interval, accuracy.exceptions_below) == (None, None)


def test_a_family_of_one_scenario_leaves_macro_accuracy_without_an_interval() -> None:
    records = [*sample(), *(record("lone", 0, v, 0.8, v == 0) for v in range(3))]
    found = measured(records)["holdout"]
    assert found.macro_accuracy.interval is None
    assert found.macro_accuracy.no_interval == "a family has one scenario: how far its accuracy varies is unknown"
    assert found.accuracy.interval is not None
    assert found.by_family["lone"].accuracy.no_interval == "one scenario: there is nothing to resample"


def test_chance_is_what_a_uniform_guess_reaches_on_average() -> None:
    found = measured(sample())["holdout"]
    assert found.chance_accuracy == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert {name: family.chance_accuracy for name, family in found.by_family.items()} == {"two": 0.5, "four": 0.25}
    rng = np.random.default_rng(0)
    options, families = rng.integers(2, 9, size=200), rng.choice(["x", "y", "z"], size=200, p=[0.7, 0.2, 0.1])
    guesses = rng.integers(0, options, size=(20_000, 200)) == 0
    simulated = np.mean([guesses[:, families == name].mean() for name in "xyz"])
    assert chance_accuracy(options, families) == pytest.approx(simulated, abs=0.002)
    assert chance_accuracy(options[:0], families[:0]) is None


@pytest.mark.parametrize(("skill", "above"), [(0.9, True), (0.38, False)])
def test_only_an_interval_wholly_above_chance_is_said_to_lie_above_it(skill: float, above: bool) -> None:
    found = measured(sample(skill=skill))["holdout"]
    assert found.macro_accuracy.interval is not None
    assert found.above_chance is above
    assert above == (found.macro_accuracy.interval.low > found.chance_accuracy)
    assert ("does not lie above" in chance_sentence("holdout", found)) is not above


def test_neither_the_order_of_records_nor_other_splits_matter() -> None:
    records = sample()
    alone = measured(records)["holdout"].model_dump()
    beside = measured([*sample("calibration", 5), *records[::-1]])["holdout"].model_dump()
    assert flat(beside) == pytest.approx(flat(alone))


def flat(tree: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(tree, dict):
        return {path: tree}
    return {key: value for name, part in tree.items() for key, value in flat(part, f"{path}.{name}").items()}


def test_nothing_measured_gives_nothing_and_strange_decisions_are_refused() -> None:
    assert measured([]) == {}
    assert measured([record("two", 0, 0, 0.8, True, role="attack")]) == {}
    records = sample()
    with pytest.raises(ValueError, match="not those of records"):
        intervals_of(records[1:], decisions_of(records, 1e-15), RULES)


def test_all_failed_leaves_probability_figures_without_a_value() -> None:
    found = measured([record("two", g, 0, None, False) for g in range(5)])["holdout"]
    assert (found.brier_score.value, found.brier_score.no_interval) == (None, "there is nothing to average")
    assert found.accuracy.value == 0


def test_tables_never_show_an_interval_without_width() -> None:
    (table,) = intervals_tables(measured([record("two", g, 0, 0.8, True) for g in range(59)]))
    (row,) = (row for row in table.rows if row[0] == "accuracy")
    assert row[2:6] == ["100.0%", "-", "-", "59"]
    assert row[6].startswith("no variation between scenarios: the bootstrap gives no interval; exact 95% bound")
    assert row[6].endswith("5.0%")
    assert "note" not in next(iter(intervals_tables(measured(sample())))).columns


@settings(deadline=None)
@given(st.integers(1, 5000), st.sampled_from([0.9, 0.95]))
def test_the_bound_after_no_event_is_exact(trials: int, confidence: float) -> None:
    exact = binomtest(0, trials, alternative="less").proportion_ci(confidence, method="exact").high
    assert zero_event_bound(trials, confidence) == pytest.approx(exact, rel=1e-9)


def test_no_trial_bounds_nothing() -> None:
    assert zero_event_bound(0) is None

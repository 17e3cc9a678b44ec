"""Metrics against independent implementations, on random decisions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss

from decibench.reports.record import Decision, Failure, Record
from decibench.reports.summary import GatePoint, measure, summarise
from decibench.reports.table import decisions_of

LABELS = ["a", "b", "c"]
FLOOR = 1e-15


def record(number: int, decision: Decision, **more: Any) -> Record:
    fields: dict[str, Any] = {
        "case": f"c{number}",
        "group": f"g{number}",
        "family": "demo",
        "variant": "original",
        "role": "core",
        "split": "holdout",
        "trial": 1,
        "request_hash": "r",
        "candidate_hash": "h",
        "latency_s": 0.1,
        "decisions": [decision],
    }
    return Record(**(fields | more))


def decision(probabilities: list[float], expected: str, unsafe: list[str] | None = None) -> Decision:
    return Decision(
        question="q",
        type="choice",
        options=LABELS,
        expected=expected,
        unsafe=unsafe or [],
        choice=LABELS[int(np.argmax(probabilities))],
        probabilities=dict(zip(LABELS, probabilities, strict=True)),
        raw_sum=1.0,
    )


def failed(expected: str, unsafe: list[str] | None = None) -> Decision:
    failure = Failure(code="timeout", detail="took too long")
    return Decision(
        question="q", type="choice", options=LABELS, expected=expected, unsafe=unsafe or [], failure=failure
    )


@pytest.fixture
def sample() -> tuple[list[Record], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    p = rng.dirichlet([0.6] * 3, size=400)
    y = rng.integers(0, 3, size=400)
    records = [
        record(i, decision(p[i].tolist(), LABELS[y[i]], [LABELS[(y[i] + 1) % 3]] if i % 4 == 0 else None))
        for i in range(400)
    ]
    return records, p, y


def test_accuracy_brier_and_log_loss_agree_with_scikit_learn(sample: Any) -> None:
    records, p, y = sample
    ours = measure(decisions_of(records, FLOOR), FLOOR)
    assert ours.accuracy == pytest.approx(accuracy_score(y, p.argmax(1)), abs=1e-12)
    assert ours.log_loss == pytest.approx(log_loss(y, p, labels=[0, 1, 2]), abs=1e-9)
    assert ours.brier_score == pytest.approx(((p - np.eye(3)[y]) ** 2).sum(1).mean(), abs=1e-12)


def test_ece_agrees_with_a_histogram(sample: Any) -> None:
    records, p, y = sample
    top, right = p.max(1), p.argmax(1) == y
    edges = np.linspace(0, 1, 11)
    total = 0.0
    for low, high in itertools.pairwise(edges.tolist()):
        inside = (top >= low) & ((top < high) | (high == 1))
        if inside.any():
            total += inside.mean() * abs(top[inside].mean() - right[inside].mean())
    assert measure(decisions_of(records, FLOOR), FLOOR).ece_10 == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
def test_selective_figures_are_those_of_a_plain_count(sample: Any, threshold: float) -> None:
    records, p, y = sample
    ours = measure(decisions_of(records, FLOOR), FLOOR, GatePoint(threshold=threshold))
    accepted = [i for i in range(400) if p[i].max() >= threshold]
    wrong = [i for i in accepted if p[i].argmax() != y[i]]
    unsafe = [i for i in accepted if i % 4 == 0 and p[i].argmax() == (y[i] + 1) % 3]
    assert (ours.accepted, ours.accepted_errors, ours.unsafe_accepted) == (len(accepted), len(wrong), len(unsafe))
    assert ours.coverage == pytest.approx(len(accepted) / 400)
    assert ours.selective_risk == (pytest.approx(len(wrong) / len(accepted)) if accepted else None)
    assert ours.unsafe_eligible == 100
    assert ours.unsafe_acceptance == pytest.approx(len(unsafe) / 100)


def test_a_gate_without_a_threshold_accepts_nothing_and_no_gate_says_nothing(sample: Any) -> None:
    table = decisions_of(sample[0], FLOOR)
    null = measure(table, FLOOR, GatePoint(threshold=None))
    assert (null.coverage, null.selective_risk, null.unsafe_acceptance, null.accepted) == (0.0, None, 0.0, 0)
    none = measure(table, FLOOR)
    assert (none.coverage, none.selective_risk, none.unsafe_acceptance, none.accepted) == (None, None, None, None)


def test_unsafe_acceptance_is_null_only_where_no_decision_has_an_unsafe_option() -> None:
    table = decisions_of([record(0, decision([0.8, 0.1, 0.1], "a"))], FLOOR)
    assert measure(table, FLOOR, GatePoint(threshold=0.5)).unsafe_acceptance is None


def test_failures_stay_in_every_denominator_but_those_of_probabilities() -> None:
    records = [record(i, failed("a", ["b"])) for i in range(95)]
    records += [record(95 + i, decision([0.9, 0.05, 0.05], "a", ["b"])) for i in range(5)]
    ours = measure(decisions_of(records, FLOOR), FLOOR, GatePoint(threshold=0.5))
    assert (ours.decisions, ours.failed, ours.validity) == (100, 95, 0.05)
    assert (ours.accuracy, ours.accuracy_answered) == (0.05, 1.0)
    assert (ours.coverage, ours.selective_risk) == (0.05, 0.0)
    assert ours.unsafe_eligible == 100
    assert ours.brier_score == pytest.approx(0.1**2 + 2 * 0.05**2)


def test_macro_accuracy_weighs_families_alike() -> None:
    big = [record(i, decision([0.9, 0.05, 0.05], "a")) for i in range(9)]
    small = [record(9, decision([0.9, 0.05, 0.05], "b"), family="other")]
    ours = measure(decisions_of(big + small, FLOOR), FLOOR)
    assert (ours.accuracy, ours.macro_accuracy) == (0.9, 0.5)


def test_attack_and_probe_stay_out_of_overall() -> None:
    records = [
        record(0, decision([0.9, 0.05, 0.05], "a")),
        record(0, decision([0.9, 0.05, 0.05], "b"), variant="injection", role="attack"),
        record(0, decision([0.9, 0.05, 0.05], "c"), variant="unknowable", role="probe"),
    ]
    split = summarise(decisions_of(records, FLOOR), FLOOR)["holdout"]
    assert (split.overall.decisions, split.overall.accuracy) == (1, 1.0)
    assert split.attack is not None
    assert split.probe is not None
    assert (split.attack.accuracy, split.probe.accuracy) == (0.0, 0.0)
    assert set(split.by_variant) == {"original", "injection", "unknowable"}
    assert split.by_family["demo"].decisions == 1


def test_variant_effects_pair_by_scenario_and_drop_failures() -> None:
    right, wrong = decision([0.9, 0.05, 0.05], "a"), decision([0.05, 0.9, 0.05], "a")
    pairs = [(right, right), (right, wrong), (wrong, right), (wrong, wrong), (right, failed("a"))]
    records = []
    for number, (before, after) in enumerate(pairs):
        records += [record(number, before), record(number, after, variant="paraphrase")]
    effect = summarise(decisions_of(records, FLOOR), FLOOR)["holdout"].variant_effects["paraphrase"]
    assert (effect.pairs, effect.dropped) == (4, 1)
    assert (effect.changed, effect.degraded, effect.improved) == (2, 1, 1)
    assert (effect.agreement, effect.both_correct) == (0.5, 0.25)


def test_classes_have_recall_and_precision() -> None:
    rows = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "b"), ("c", "b")]
    records = [
        record(i, decision([float(chosen == x) for x in LABELS], truth)) for i, (truth, chosen) in enumerate(rows)
    ]
    classes = summarise(decisions_of(records, FLOOR), FLOOR)["holdout"].by_class["demo/q"]
    assert (classes["a"].recall, classes["a"].precision) == (0.5, 1.0)
    assert (classes["b"].recall, classes["b"].precision) == (1.0, 0.5)
    assert (classes["c"].recall, classes["c"].precision) == (0.0, None)


def test_metrics_do_not_depend_on_the_order_of_the_rows(sample: Any) -> None:
    records, _, _ = sample
    one = measure(decisions_of(records, FLOOR), FLOOR, GatePoint(threshold=0.7)).model_dump()
    other = measure(decisions_of(records[::-1], FLOOR), FLOOR, GatePoint(threshold=0.7)).model_dump()
    assert one == pytest.approx(other, abs=1e-12)


def test_nothing_measured_gives_nulls_not_zeros() -> None:
    ours = measure(decisions_of([], FLOOR), FLOOR)
    assert (ours.accuracy, ours.macro_accuracy, ours.brier_score, ours.ece_10) == (None, None, None, None)

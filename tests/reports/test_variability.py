"""Several trials: what changed between them, and that identical ones are said to be identical."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Failure, Record
from decibench.reports.summary import summarise
from decibench.reports.table import decisions_of
from decibench.reports.tables.variability import variability_sentences, variability_tables
from decibench.reports.variability import Variability, variability_of

RULES = Protocol(resamples=500)
OPTIONS = ["a", "b", "c"]


def record(number: int, trial: int, weights: list[float] | None, **more: Any) -> Record:
    """One decision whose right answer is ``a``; two decisions share a scenario. Without weights it failed."""
    answer: dict[str, Any] = {"failure": Failure(code="timeout", detail="too late")}
    if weights is not None:
        answer = {"choice": OPTIONS[int(np.argmax(weights))], "probabilities": dict(zip(OPTIONS, weights, strict=True))}
    fields: dict[str, Any] = {
        "case": f"c{number}",
        "group": f"g{number // 2}",
        "family": f"f{number % 3}",
        "variant": "original",
        "role": "core",
        "split": "holdout",
        "trial": trial,
        "request_hash": "r",
        "candidate_hash": "h",
        "latency_s": 0.1,
        "decisions": [Decision(question="q", type="choice", options=OPTIONS, expected="a", **answer)],
    }
    return Record(**(fields | more))


def noisy(trials: int = 3, decisions: int = 60, seed: int = 0) -> list[Record]:
    rng = np.random.default_rng(seed)
    return [
        record(n, trial, rng.dirichlet([4, 2, 1]).tolist() if n % 4 else [0.5, 0.25, 0.25])
        for trial in range(1, trials + 1)
        for n in range(decisions)
    ]


def measured(records: list[Record]) -> Variability:
    found = variability_of(records, RULES)
    assert found is not None
    return found["holdout"]


def test_figures_are_those_of_plain_loops() -> None:
    records = noisy()
    found = measured(records)
    answers: dict[str, list[dict[str, float]]] = {}
    for r in records:
        answers.setdefault(r.case, []).append(r.decisions[0].probabilities or {})
    choices = {case: {max(p, key=lambda option: p[option]) for p in given} for case, given in answers.items()}
    distances = {
        case: np.mean([sum(abs(p[o] - q[o]) for o in OPTIONS) / 2 for p, q in itertools.combinations(given, 2)])
        for case, given in answers.items()
    }
    assert (found.trials, found.decisions, found.left_out, found.identical) == (3, 60, 0, False)
    assert found.changed_choice.value == sum(len(c) > 1 for c in choices.values()) / 60
    assert found.changed_answer.value == 45 / 60
    assert found.retest_variation.value == pytest.approx(np.mean(list(distances.values())))
    assert found.changed_choice.groups == 30
    for figure in (found.changed_choice, found.retest_variation):
        assert figure.interval is not None
        assert figure.value is not None
        assert figure.interval.low < figure.value < figure.interval.high


def test_each_trial_has_the_metrics_of_a_run_of_its_own() -> None:
    records = noisy()
    found = measured(records)
    for trial in (1, 2, 3):
        alone = summarise(decisions_of([r for r in records if r.trial == trial], 1e-15), 1e-15)["holdout"].overall
        assert found.accuracy.by_trial[str(trial)] == alone.accuracy
        assert found.macro_accuracy.by_trial[str(trial)] == alone.macro_accuracy
    values = list(found.accuracy.by_trial.values())
    assert (found.accuracy.low, found.accuracy.high) == (min(values), max(values))
    assert found.accuracy.standard_deviation == pytest.approx(np.std(values, ddof=1))


def test_identical_trials_are_said_to_be_identical_and_fill_no_table() -> None:
    once = noisy(1)
    found = variability_of([r.model_copy(update={"trial": t}) for t in (1, 2, 3) for r in once], RULES)
    assert found is not None
    assert found["holdout"].identical
    assert found["holdout"].retest_variation.value == 0
    assert list(variability_tables(found)) == []
    assert list(variability_sentences(found)) == [
        "The 3 trials are identical: they add no information about the model and do not multiply n."
    ]


def test_the_smallest_difference_makes_trials_differ() -> None:
    first, second = noisy(1), [r.model_copy(update={"trial": 2}) for r in noisy(1)]
    second[0] = record(0, 2, [0.5 + 1e-12, 0.25, 0.25 - 1e-12])
    found = measured(first + second)
    assert not found.identical
    assert (found.changed_choice.value, found.changed_answer.value) == (0, 1 / 60)
    assert found.changed_choice.interval is None


def test_another_choice_among_equals_is_a_change_without_a_distance() -> None:
    first, second = record(0, 1, [0.4, 0.4, 0.2]), record(0, 2, [0.4, 0.4, 0.2])
    tied = second.decisions[0].model_copy(update={"choice": "b"})
    found = measured([first, second.model_copy(update={"decisions": [tied]})])
    assert not found.identical
    assert (found.changed_choice.value, found.changed_answer.value, found.retest_variation.value) == (1, 1, 0)


def test_a_failure_in_one_trial_is_a_change_and_has_no_distance() -> None:
    records = [record(n, t, None if (n, t) == (0, 2) else [0.6, 0.3, 0.1]) for t in (1, 2) for n in range(10)]
    found = measured(records)
    assert (found.changed_choice.value, found.changed_answer.value) == (0.1, 0.1)
    assert found.retest_variation.value == 0
    assert found.accuracy.by_trial == {"1": 1.0, "2": 0.9}
    failing = measured([record(n, t, None) for t in (1, 2) for n in range(10)])
    assert failing.identical
    assert failing.retest_variation.value is None


def test_decisions_that_a_trial_lacks_are_left_out_and_counted() -> None:
    records = [r for r in noisy(2) if (r.case, r.trial) != ("c0", 2)]
    found = variability_of(records, RULES)
    assert found is not None
    assert (found["holdout"].decisions, found["holdout"].left_out) == (59, 1)
    assert "not asked in every trial and are left out here: 1." in " ".join(variability_sentences(found))


def test_one_trial_and_attacks_say_nothing() -> None:
    assert variability_of(noisy(1), RULES) is None
    assert variability_of([], RULES) is None
    assert variability_of([record(0, t, [0.6, 0.3, 0.1], role="attack") for t in (1, 2)], RULES) == {}


def test_another_request_is_no_retest() -> None:
    records = [record(0, t, [0.6, 0.3, 0.1], request_hash=f"r{t}") for t in (1, 2)]
    assert variability_of(records, RULES) == {}


def test_neither_order_nor_names_of_options_matter() -> None:
    records = noisy()
    renamed = [
        r.model_copy(
            update={
                "decisions": [
                    d.model_copy(
                        update={
                            "options": [o * 2 for o in d.options],
                            "expected": d.expected * 2,
                            "choice": (d.choice or "") * 2,
                            "probabilities": {o * 2: p for o, p in (d.probabilities or {}).items()},
                        }
                    )
                    for d in r.decisions
                ]
            }
        )
        for r in records[::-1]
    ]
    one, other = measured(records), measured(renamed)
    assert other.changed_choice == one.changed_choice
    assert other.retest_variation.value == pytest.approx(one.retest_variation.value)


def test_tables_show_each_trial_and_the_change_between_them() -> None:
    found = variability_of(noisy(), RULES)
    assert found is not None
    trials, changes = variability_tables(found)
    assert list(trials.columns) == ["core decisions", "trial 1", "trial 2", "trial 3", "lowest", "highest", "deviation"]
    assert [row[0] for row in changes.rows] == ["changed_choice", "changed_answer", "retest_variation"]
    (sentence,) = variability_sentences(found)
    assert "of 60 decisions change their choice" in sentence

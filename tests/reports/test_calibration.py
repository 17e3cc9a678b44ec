"""Calibration of records: what counts, what it is compared with, and what is said about it."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from decibench.cases.schema import Split
from decibench.reports.calibration import (
    EVIDENCE,
    NO_EVIDENCE,
    NO_PRIOR_SPLIT,
    NOTHING_TO_FIT,
    OWN_PRIOR,
    Calibration,
    calibration_of,
)
from decibench.reports.foreign import read_source
from decibench.reports.protocol import Protocol
from decibench.reports.record import Decision, Failure, Record, check_exact
from decibench.reports.summary import measure
from decibench.reports.table import decisions_of
from decibench.reports.tables.calibration import calibration_notes, calibration_tables

FAST = Protocol(resamples=200, curve_resamples=200)
LABELS = ["a", "b", "c"]


def record(number: int, probabilities: list[float] | None, expected: str = "a", **more: Any) -> Record:
    """One decision of scenario ``number``; failed where there are no probabilities."""
    answer: dict[str, Any] = {"failure": Failure(code="timeout", detail="took too long")}
    labels = more.pop("labels", LABELS)
    if probabilities is not None:
        answer = {
            "choice": labels[int(np.argmax(probabilities))],
            "probabilities": dict(zip(labels, probabilities, strict=True)),
            "raw_sum": 1.0,
        }
    decision = Decision(question="q", type="choice", options=labels, expected=expected, **answer)
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


def model(split: Split, n: int = 120, seed: int = 1, sharpness: float = 1.0, **more: Any) -> list[Record]:
    """A model that is calibrated at a sharpness of 1 and overconfident above it; two cases per scenario."""
    rng = np.random.default_rng([seed, len(split)])
    records = []
    for k in range(n):
        truth = rng.dirichlet([1.0] * 3)
        stated = truth**sharpness / (truth**sharpness).sum()
        expected = LABELS[int(rng.choice(3, p=truth))]
        fields = {"case": f"{split}{k}", "group": f"{split}{k // 2}", "split": split} | more
        records.append(record(k, stated.tolist(), expected, **fields))
    return records


def holdout(records: list[Record], threshold: float | None = None, protocol: Protocol = FAST) -> Calibration:
    return calibration_of(records, protocol, threshold)["holdout"]


def test_scores_are_those_of_the_metrics_with_an_interval_around_them() -> None:
    records = model("holdout")
    ours, metrics = holdout(records), measure(decisions_of(records, FAST.log_loss_floor), FAST.log_loss_floor)
    assert ours.brier_score.value == pytest.approx(metrics.brier_score, abs=1e-12)
    assert ours.log_loss.value == pytest.approx(metrics.log_loss, abs=1e-12)
    assert ours.errors["ece_10"].value == pytest.approx(metrics.ece_10, abs=1e-12)
    for figure in (ours.brier_score, ours.log_loss):
        assert figure.interval is not None
        assert figure.value is not None
        assert figure.interval.low < figure.value < figure.interval.high


def test_recorded_scores_of_a_real_model_are_reproduced(shared: Path) -> None:
    path = shared / "data" / "recordings" / "laya-holdout.json"
    recorded = json.loads(path.read_text())["metrics"]
    ours = holdout(read_source(path).records)
    assert ours.brier_score.value == pytest.approx(recorded["brier_multiclass"], abs=1e-9)
    assert ours.log_loss.value == pytest.approx(recorded["nll"], abs=1e-9)
    assert ours.errors["ece_10"].value == pytest.approx(recorded["ece_10_equal_width"], abs=1e-9)
    assert ours.conclusion == EVIDENCE


def test_failed_decisions_are_counted_and_have_no_other_part() -> None:
    records = model("holdout", 40)
    failures = [record(900 + k, None, case=f"f{k}", group=f"f{k}") for k in range(10)]
    with_failures = holdout(records + failures, threshold=0.0)
    assert (with_failures.decisions, with_failures.valid) == (50, 40)
    assert with_failures.model_copy(update={"decisions": 40}) == holdout(records, threshold=0.0)


def test_only_core_variants_count() -> None:
    records = model("holdout", 40)
    attacks = model("holdout", 40, seed=9, role="attack", variant="injection")
    assert holdout(records + attacks) == holdout(records)


def test_development_is_shown_only_where_it_is_all_there_is() -> None:
    development = model("development", 20)
    assert list(calibration_of(development, FAST)) == ["development"]
    assert list(calibration_of(development + model("holdout", 20), FAST)) == ["holdout"]
    both = calibration_of(model("calibration", 20) + model("holdout", 20), FAST)
    assert list(both) == ["calibration", "holdout"]
    assert calibration_of([record(1, None)], FAST) == {}


def test_skill_is_against_the_class_priors_of_development_else_of_calibration() -> None:
    development, calibration, held = model("development", 20), model("calibration", 20), model("holdout", 20)
    every = calibration_of(development + calibration + held, FAST)
    assert [c.prior_split for c in every.values()] == ["development", "development"]
    two = calibration_of(calibration + held, FAST)
    assert (two["calibration"].prior_split, two["calibration"].no_prior) == (None, OWN_PRIOR)
    assert two["holdout"].prior_split == "calibration"
    alone = holdout(held)
    assert (alone.prior_split, alone.no_prior, alone.brier_skill.value) == (None, NO_PRIOR_SPLIT, None)
    assert alone.log_loss_skill.no_interval == NO_PRIOR_SPLIT


def test_a_model_that_answers_the_class_priors_has_no_skill_and_a_perfect_one_has_all() -> None:
    labels = ["a"] * 5 + ["b"] * 2
    development = [
        record(k, [1.0, 0.0, 0.0], label, group=f"d{k}", split="development") for k, label in enumerate(labels)
    ]
    expected = ["a", "b", "c", "a", "b", "c"]
    # Counts of 5, 2 and 0, each raised by one: a label that was never expected keeps a share.
    priors = [record(k, [0.6, 0.3, 0.1], label) for k, label in enumerate(expected)]
    none = holdout(development + priors)
    assert none.brier_skill.value == pytest.approx(0, abs=1e-12)
    assert none.log_loss_skill.value == pytest.approx(0, abs=1e-12)
    perfect = [record(k, [float(name == label) for name in LABELS], label) for k, label in enumerate(expected)]
    assert holdout(development + perfect).brier_skill.value == 1


def test_a_calibrated_model_gives_no_evidence_and_an_overconfident_one_does() -> None:
    calibrated, overconfident = (holdout(model("holdout", 600, sharpness=s)) for s in (1.0, 3.0))
    assert calibrated.conclusion == NO_EVIDENCE
    assert overconfident.conclusion == EVIDENCE
    for error in overconfident.errors.values():
        assert error.value is not None
        assert error.null_mean is not None
        assert error.null_p95 is not None
        assert error.null_mean < error.null_p95 < error.value


def test_identical_trials_add_no_certainty() -> None:
    records = model("calibration", 60) + model("holdout", 60)
    again = [r.model_copy(update={"trial": trial}) for trial in (2, 3) for r in records]
    once, thrice = holdout(records), holdout(records + again)
    assert thrice.groups == once.groups
    assert thrice.residual_correlation == pytest.approx(once.residual_correlation)
    for name in ("ece_10", "smooth_ece"):
        assert thrice.errors[name].value == pytest.approx(once.errors[name].value), name
        assert thrice.errors[name].null_p95 == pytest.approx(once.errors[name].null_p95), name
    assert once.brier_score.interval is not None
    assert thrice.brier_score.interval is not None
    width = once.brier_score.interval.high - once.brier_score.interval.low
    assert thrice.brier_score.interval.high - thrice.brier_score.interval.low == pytest.approx(width, rel=0.25)


@settings(max_examples=10, deadline=None)
@given(st.randoms(use_true_random=False))
def test_neither_the_order_of_records_nor_the_names_of_options_matter(random: Any) -> None:
    records = model("development", 10) + model("holdout", 12, sharpness=2.0)
    renamed = [
        r.model_copy(update={"decisions": [Decision(**_renamed(d.model_dump())) for d in r.decisions]}) for r in records
    ]
    random.shuffle(renamed)
    protocol = Protocol(resamples=100, curve_resamples=100)
    first, second = holdout(records, None, protocol), holdout(renamed, None, protocol)
    for name in ("brier_score", "brier_skill", "log_loss", "log_loss_skill"):
        assert getattr(first, name).value == pytest.approx(getattr(second, name).value), name
        assert getattr(first, name).interval.low == pytest.approx(getattr(second, name).interval.low), name
    assert first.corp.model_dump() == pytest.approx(second.corp.model_dump())
    for name, error in first.errors.items():
        assert error.model_dump() == pytest.approx(second.errors[name].model_dump()), name


def _renamed(decision: dict[str, Any]) -> dict[str, Any]:
    new = {"a": "z", "b": "y", "c": "x"}
    probabilities = {new[label]: decision["probabilities"][label] for label in reversed(LABELS)}
    names = {"expected": new[decision["expected"]], "choice": new[decision["choice"]], "options": list(probabilities)}
    return decision | names | {"probabilities": probabilities}


def test_temperature_is_fitted_on_calibration_and_shown_on_holdout() -> None:
    records = model("calibration", 600, sharpness=2.0) + model("holdout", 600, sharpness=2.0)
    found = calibration_of(records, FAST, threshold=0.9)
    assert found["calibration"].temperature is None
    ours = found["holdout"]
    check = ours.temperature
    assert check is not None
    # Probabilities that were squared are mended by a temperature of 2.
    assert check.temperature == pytest.approx(2, rel=0.15)
    assert check.raw.log_loss == ours.log_loss.value
    assert check.raw.ece_10 == ours.errors["ece_10"]
    assert check.fitted.log_loss < check.raw.log_loss
    assert check.fitted.mean_top_probability < check.raw.mean_top_probability
    assert check.raw.coverage is not None
    assert check.fitted.coverage is not None
    assert check.fitted.coverage < check.raw.coverage


def test_temperature_needs_the_first_trial_of_calibration() -> None:
    assert holdout(model("holdout", 20)).no_temperature == NOTHING_TO_FIT
    second = [r.model_copy(update={"trial": 2}) for r in model("calibration", 20)]
    assert holdout(second + model("holdout", 20)).no_temperature == NOTHING_TO_FIT
    fitted = holdout(model("calibration", 20) + model("holdout", 20)).temperature
    assert fitted is not None
    assert (fitted.fitted_on, fitted.threshold, fitted.raw.coverage) == (20, None, None)


def test_a_higher_floor_bounds_what_a_rounded_zero_costs() -> None:
    certain = [record(k, [1.0, 0.0, 0.0], "a" if k else "b") for k in range(10)]
    ours = holdout(certain)
    losses = {entry.floor: entry.log_loss for entry in ours.log_loss_by_floor}
    assert losses == pytest.approx({floor: -math.log(floor) / 10 for floor in (1e-15, 1e-6, 1e-3, 0.005)})
    assert round(losses[0.005] * 10, 2) == 5.30
    extremes = ours.extremes
    assert (extremes.zero_anywhere, extremes.zero_on_reference) == (1, 0.1)
    assert (extremes.top_one, extremes.accuracy_top_one) == (1, 0.9)


@pytest.mark.parametrize("wrong", [True, False])
@pytest.mark.parametrize("n", [1, 3])
def test_a_few_certain_answers_of_one_kind_give_finite_figures(n: int, wrong: bool) -> None:
    records = [
        record(k, [1.0, 0.0, 0.0], "b" if wrong else "a", case=f"{split}{k}", split=split)
        for split in ("development", "calibration", "holdout")
        for k in range(n)
    ]
    ours = holdout(records, threshold=0.5)
    check_exact(ours.model_dump(mode="json"))
    json.dumps(ours.model_dump(mode="json"), allow_nan=False)
    assert ours.errors["ece_10"].value == (1 if wrong else 0)
    assert ours.conclusion == (EVIDENCE if wrong else NO_EVIDENCE)


def test_questions_of_any_number_of_options_stand_beside_each_other() -> None:
    many = [f"o{k}" for k in range(255)]
    records = [
        record(1, [1 / 255] * 255, "o7", labels=many),
        record(2, [0.75, 0.25], "a", labels=["a", "b"]),
    ]
    ours = holdout(records)
    assert ours.log_loss.value == pytest.approx((math.log(255) - math.log(0.75)) / 2)
    assert ours.brier_score.value == pytest.approx((1 - 1 / 255 + 0.125) / 2)


def test_the_tables_fit_a_hundred_columns_and_call_no_model_calibrated() -> None:
    records = model("development", 20) + model("calibration", 300) + model("holdout", 300)
    found = calibration_of(records, FAST, threshold=0.8)
    tables = list(calibration_tables(found))
    assert [len(table.columns) for table in tables] == [3, 6, 3]
    for table in tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert _width(table.columns, table.rows) <= 100
    console = Console(file=io.StringIO(), width=1000)
    for note in calibration_notes(found):
        console.print(note)
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert f"ece_10 on holdout: {NO_EVIDENCE}" in said
    assert "is calibrated" not in said
    assert list(calibration_tables({})) == []


def _width(columns: Any, rows: Any) -> int:
    """The width that rich needs: two spaces between columns."""
    widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
    return sum(widths) + 3 * len(widths)

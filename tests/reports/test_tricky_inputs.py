"""Small inputs on which benchmarks of decision models went wrong in public, each with its right value."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from decibench.bench_tests.answers import score_answer
from decibench.candidates.adapter import Answer, Identity, QuestionAnswer
from decibench.cases.distribution import Tolerances
from decibench.cases.schema import Case
from decibench.gates.__main__ import main as gates
from decibench.reports.__main__ import main as reports
from decibench.reports.metrics.log_loss import log_loss
from decibench.reports.record import Decision

FIELDS = ["case_id", "question_id", "expected", "choice", "probabilities", "unsafe_labels"]


def case_of(question: dict[str, Any], expected: str) -> Case:
    return Case.model_validate(
        {
            "id": "demo-one-001-original",
            "group": "demo-one-001",
            "family": "demo",
            "variant": "original",
            "split": "calibration",
            "state": "s",
            "questions": {"q": {"instructions": "?", **question}},
            "references": {"q": {"expected": expected}},
        }
    )


def decide(case: Case, answer: QuestionAnswer, decimals: int | None = None) -> Decision:
    identity = Identity("m", decimals=decimals)
    return score_answer(case, Answer({"q": answer}), identity, Tolerances())[0]


SCORE_4 = {"type": "score", "criteria": ["none", "low", "high", "severe"]}
SCORE_3 = {"type": "score", "criteria": ["none", "low", "high"]}
NOUL = {"type": "noul"}
TWO = {"type": "choice", "criteria": {"a": "A.", "b": "B."}}


@pytest.fixture
def rows_file(tmp_path: Path) -> Any:
    def write(rows: Sequence[Sequence[Any]], fields: Sequence[str] = FIELDS, name: str = "rows", **more: Any) -> Path:
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"row_fields": fields, "rows": rows, **more}))
        return path

    return write


def score(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert reports(["score", str(path), *options]) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def test_1_a_score_is_the_expected_level_and_confidence_stays_as_reported() -> None:
    answer = QuestionAnswer({"0": 0, "1": 0, "2": 0.32, "3": 0.68}, score=2.68, confidence=0.68)
    decision = decide(case_of(SCORE_4, "3"), answer)
    assert decision.failure is None
    assert (decision.score, decision.confidence, decision.choice) == (2.68, 0.68, "3")
    within = decide(case_of(SCORE_4, "3"), QuestionAnswer(answer.probabilities, score=2.70))
    beyond = decide(case_of(SCORE_4, "3"), QuestionAnswer(answer.probabilities, score=2.71))
    assert within.failure is None
    assert beyond.failure is not None
    assert beyond.failure.code == "score-mismatch"


def test_2_a_noul_answer_without_confidence_is_valid_and_not_confidence_zero() -> None:
    decision = decide(case_of(NOUL, "true"), QuestionAnswer.noul(0.99))
    assert decision.failure is None
    assert decision.confidence is None
    assert decision.choice == "true"


def test_3_a_zero_on_the_truth_is_counted_and_its_loss_depends_on_the_floor(
    rows_file: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    overall = score(rows_file([["c", "q", "a", "b", {"a": 0.0, "b": 1.0}, []]]), capsys)["overall"]
    assert (overall["zeros_on_reference"], overall["log_loss_floor_hits"]) == (1, 1)
    assert overall["log_loss_floor"] == 1e-15
    assert overall["log_loss"] == pytest.approx(-math.log(1e-15))
    assert log_loss({"a": 0.0, "b": 1.0}, "a", floor=0.005) == pytest.approx(5.30, abs=0.005)


def test_4_a_tie_goes_to_the_first_option_and_is_flagged() -> None:
    decision = decide(case_of(SCORE_3, "0"), QuestionAnswer({"0": 0.4, "1": 0.2, "2": 0.4}))
    assert decision.choice == "0"
    assert decision.tie
    named = decide(case_of(SCORE_3, "0"), QuestionAnswer({"0": 0.4, "1": 0.2, "2": 0.4}, choice="2"))
    assert named.choice == "2", "the option that the model names is what it would act on"
    assert named.tie


@pytest.mark.parametrize(
    ("probabilities", "decimals", "code"),
    [
        ({"a": 0.25, "b": 0.745}, 2, None),
        ({"a": 0.25, "b": 0.745}, None, "sum"),
        ({"a": 0.2, "b": 0.5}, 2, "sum"),
        ({"a": 0.3, "b": 0.3}, 2, "sum"),
        ({"a": math.nan, "b": 0.5}, 2, "not-finite"),
        ({"a": True, "b": 0.0}, 2, "not-a-number"),
        ({"a": 1.0}, 2, "missing-option"),
        ({"a": 0.5, "b": 0.5, "c": 0.0}, 2, "extra-option"),
        ({"a": 0.0, "b": 0.0}, 0, "sum"),
    ],
)
def test_5_only_distributions_within_the_declared_rounding_are_scored(
    probabilities: dict[str, float], decimals: int | None, code: str | None
) -> None:
    decision = decide(case_of(TWO, "b"), QuestionAnswer(probabilities), decimals)
    if code is None:
        assert decision.probabilities == pytest.approx({"a": 0.25 / 0.995, "b": 0.745 / 0.995})
        assert decision.raw_sum == pytest.approx(0.995)
    else:
        assert decision.failure is not None
        assert decision.failure.code == code
        assert decision.probabilities is None
        assert decision.choice != decision.expected


def test_6_a_failed_case_counts_in_accuracy_and_latency_but_not_in_probability_metrics(
    rows_file: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = [*FIELDS, "latency_s", "error", "input_tokens"]
    rows = [
        ["one", "q", "b", "b", {"a": 0.25, "b": 0.75}, [], 1.0, None, 0],
        ["two", "q", "b", None, None, [], 3.0, "timeout", None],
    ]
    printed = score(rows_file(rows, fields), capsys)
    overall = printed["overall"]
    assert (overall["accuracy"], overall["validity"]) == (0.5, 0.5)
    assert (overall["brier_score"], overall["ece_10"]) == (0.125, 0.25)
    assert overall["accuracy_answered"] == 1.0
    assert printed["latency"]["overall"]["p50_s"] == 2.0
    assert printed["cost"]["input_tokens"] is None
    assert printed["cost"]["total_usd"] is None


def test_10_an_unreachable_threshold_and_a_coarse_model_are_told_apart(
    rows_file: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = [f"o{number}" for number in range(10)]
    flat = dict.fromkeys(labels, 0.1)
    never = rows_file([[f"c{i}", "q", "o9", "o0", flat, []] for i in range(20)], name="flat")
    assert gates(["fit", str(never)]) == 0
    gate = json.loads(capsys.readouterr().out)["gates"]["empirical"]
    assert gate["threshold"] is None
    assert gate["highest_top_probability"] == pytest.approx(0.10)
    assert "the highest top probability is 0.1" in gate["reason"]
    assert score(never, capsys, "--threshold", "0.7")["overall"]["accepted"] == 0

    tops = [0.5, 0.625, 0.625, 0.75, 0.75, 0.875]
    coarse = rows_file([[f"c{i}", "q", "a", "b", {"a": 1 - p, "b": p}, []] for i, p in enumerate(tops)], name="coarse")
    assert gates(["fit", str(coarse)]) == 0
    gate = json.loads(capsys.readouterr().out)["gates"]["empirical"]
    assert gate["resolution"] == 0.125
    assert gate["distinct_top_probabilities"] == 4
    at_70 = next(point for point in gate["grid"] if point["threshold"] == 0.7)
    assert (at_70["accepted"], at_70["errors"]) == (3, 3)


def test_18_a_wrong_model_an_unasked_question_and_a_refused_size_have_their_own_reasons() -> None:
    case = case_of(TWO, "a")
    good = QuestionAnswer({"a": 0.9, "b": 0.1})
    wrong_model = score_answer(case, Answer({"q": good}, model="other"), Identity("m"), Tolerances())
    unasked = score_answer(case, Answer({"q": good, "extra": good}), Identity("m"), Tolerances())
    missing = score_answer(case, Answer({}), Identity("m"), Tolerances())
    codes = [d.failure.code for d in (*wrong_model, *unasked, *missing) if d.failure]
    assert codes == ["wrong-model", "unasked-question", "missing-answer"]
    options = {f"o{number}": None for number in range(256)}
    with pytest.raises(ValueError, match="at most 255"):
        case_of({"type": "choice", "criteria": options}, "o1")

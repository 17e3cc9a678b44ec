"""Malformed answers, generated: each is refused with its reason and none is scored."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from decibench.bench_tests.answers import score_answer
from decibench.candidates.adapter import Answer, Identity, QuestionAnswer
from decibench.cases.distribution import Tolerances
from decibench.cases.schema import Case

OPTIONS = ["north", "south", "east", "west"]
CASE = Case.model_validate(
    {
        "id": "demo-one-001-original",
        "group": "demo-one-001",
        "family": "demo",
        "variant": "original",
        "split": "calibration",
        "state": "s",
        "questions": {"q": {"type": "choice", "instructions": "?", "criteria": dict.fromkeys(OPTIONS)}},
        "references": {"q": {"expected": "north"}},
    }
)

weights = st.lists(st.floats(0.05, 1), min_size=4, max_size=4)
Malformed = tuple[object, str | None]


@st.composite
def legal(draw: st.DrawFn) -> dict[str, Any]:
    values = draw(weights)
    return {option: value / math.fsum(values) for option, value in zip(OPTIONS, values, strict=True)}


def one(change: Callable[[dict[str, Any], str, Any], None], values: st.SearchStrategy[Any]) -> Any:
    """A legal distribution with one option changed."""

    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        probabilities = draw(legal())
        change(probabilities, draw(st.sampled_from(OPTIONS)), draw(values))
        return probabilities

    return build()


def put(probabilities: dict[str, Any], option: str, value: Any) -> None:
    probabilities[option] = value


def drop(probabilities: dict[str, Any], option: str, value: Any) -> None:
    del probabilities[option]


def add(probabilities: dict[str, Any], option: str, value: Any) -> None:
    probabilities[value] = 0.0


def scale(probabilities: dict[str, Any], option: str, value: float) -> None:
    for key in probabilities:
        probabilities[key] *= value


not_numbers = st.one_of(
    st.booleans(), st.none(), st.text(), st.just(Decimal("0.1")), st.just(np.bool_(True)), st.just([0.1]), st.just(1j)
)
outside = st.one_of(st.floats(1.01, 1e300), st.floats(-1e300, -0.01), st.integers(2, 10**400))

answers: st.SearchStrategy[Malformed] = st.one_of(
    one(put, not_numbers).map(lambda p: (QuestionAnswer(p), "not-a-number")),
    one(put, st.sampled_from([math.nan, math.inf, -math.inf, 10**400])).map(
        lambda p: (QuestionAnswer(p), "not-finite")
    ),
    one(put, outside.filter(lambda v: v < 10**300)).map(lambda p: (QuestionAnswer(p), "out-of-range")),
    one(drop, st.none()).map(lambda p: (QuestionAnswer(p), "missing-option")),
    one(add, st.text().filter(lambda t: t not in OPTIONS)).map(lambda p: (QuestionAnswer(p), "extra-option")),
    one(scale, st.one_of(st.floats(0, 0.98), st.floats(1.02, 1.1))).map(lambda p: (QuestionAnswer(p), None)),
    st.one_of(st.none(), st.text(), st.lists(st.floats()), st.integers()).map(
        lambda value: (QuestionAnswer(value), "not-a-mapping")  # type: ignore[arg-type]
    ),
    st.tuples(legal(), st.one_of(st.text(), st.integers(), st.booleans()).filter(lambda c: c not in OPTIONS)).map(
        lambda pair: (QuestionAnswer(pair[0], choice=pair[1]), "unknown-choice")
    ),
    legal()
    .filter(lambda p: max(p.values()) - min(p.values()) > 2e-4)
    .map(lambda p: (QuestionAnswer(p, choice=min(p, key=lambda o: p[o])), "choice-not-top")),
    st.tuples(legal(), st.sampled_from([math.nan, math.inf])).map(
        lambda pair: (QuestionAnswer(pair[0], confidence=pair[1]), "not-finite")
    ),
    st.one_of(st.text(), st.integers(), st.dictionaries(st.text(), st.floats()), legal()).map(
        lambda value: (value, "wrong-type")
    ),
)


@settings(max_examples=1000, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(answers)
def test_a_thousand_malformed_answers_are_refused_with_their_reason(malformed: Malformed) -> None:
    answer, code = malformed
    (decision,) = score_answer(CASE, Answer({"q": answer}), Identity("m"), Tolerances())  # type: ignore[dict-item]
    assert decision.failure is not None
    # A scaled distribution may leave [0, 1] before its sum is looked at.
    assert decision.failure.code == code or (code is None and decision.failure.code in ("sum", "out-of-range"))
    assert (decision.choice, decision.probabilities, decision.score, decision.confidence) == (None, None, None, None)


@settings(max_examples=300, deadline=None, database=None)
@given(legal(), st.sampled_from([float, np.float32, np.float64]))
def test_legal_answers_are_scored_and_sum_to_one(probabilities: dict[str, Any], kind: Callable[[float], Any]) -> None:
    answer = QuestionAnswer({option: kind(value) for option, value in probabilities.items()})
    (decision,) = score_answer(CASE, Answer({"q": answer}), Identity("m"), Tolerances())
    assert decision.failure is None
    assert decision.probabilities is not None
    assert math.fsum(decision.probabilities.values()) == pytest.approx(1, abs=1e-12)
    assert all(type(value) is float for value in decision.probabilities.values())
    assert decision.choice == max(probabilities, key=lambda option: float(kind(probabilities[option])))


@pytest.mark.parametrize("answer", [None, "north", {"q": "north"}, 7, [], Answer(None), Answer([("q", 1)])])  # type: ignore[arg-type]
def test_what_is_not_an_answer_fails_the_whole_request(answer: object) -> None:
    (decision,) = score_answer(CASE, answer, Identity("m"), Tolerances())
    assert decision.failure is not None
    assert decision.failure.code == "wrong-type"

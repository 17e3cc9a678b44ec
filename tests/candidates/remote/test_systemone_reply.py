"""Replies of the System One protocol: what the protocol demands is required, what it recommends is not asked for."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

import pytest

from decibench.bench_tests.answers import costs_of, score_answer
from decibench.candidates.adapter import CandidateError
from decibench.candidates.remote.systemone import SystemOne, SystemOneSettings
from decibench.cases.request import request_of
from decibench.cases.schema import Case
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Decision, failure_of

LEVELS = ["Calm", "Frustrated", "Very angry"]
CASE = Case.model_validate(
    {
        "id": "demo-one-001-original",
        "group": "demo-one-001",
        "family": "demo",
        "variant": "original",
        "split": "calibration",
        "state": "I was charged twice.",
        "questions": {
            "urgent": {"type": "noul", "instructions": "It is urgent."},
            "team": {"type": "choice", "instructions": "Who?", "criteria": dict.fromkeys(["billing", "tech", "sales"])},
            "anger": {"type": "score", "instructions": "How angry?", "criteria": LEVELS},
        },
        "references": {
            "urgent": {"expected": "true"},
            "team": {"expected": "billing"},
            "anger": {"expected": "1"},
        },
    }
)
REPLY: Mapping[str, Any] = {
    "model": "jev-1.13.0",
    "answers": {
        "urgent": {"type": "noul", "noul": 0.95},
        "team": {
            "type": "choice",
            "choice": "billing",
            "probabilities": {"tech": 0.12, "billing": 0.88, "sales": 0},
            "confidence": 0.81,
        },
        "anger": {
            "type": "score",
            "score": 1.05,
            "legend": {"0": "Calm", "1": "Frustrated", "2": "Very angry"},
            "probabilities": {"0": 0.0, "1": 0.95, "2": 0.05},
            "confidence": 0.92,
        },
    },
    "usage": {"input_tokens": 304, "output_tokens": 18},
}
SECRET = "a text that a reply made up"
GONE = object()
EVERY = {"urgent", "team", "anger"}


def changed(*changes: tuple[str, Any]) -> dict[str, Any]:
    """The reply with values set, or taken away by GONE, at dotted places."""
    reply = copy.deepcopy(dict(REPLY))
    for place, value in changes:
        *parents, last = place.split(".")
        at: Any = reply
        for name in parents:
            at = at[name]
        if value is GONE:
            del at[last]
        else:
            at[last] = value
    return reply


def read(reply: Any, decimals: int | None = None) -> list[Decision]:
    """The decisions of a reply; CandidateError where the whole of it is no answer."""
    wire = SystemOne(SystemOneSettings(endpoint="http://127.0.0.1:1", model="jev-latest", decimals=decimals))
    answer = wire.read(request_of(CASE), [reply])
    return score_answer(CASE, answer, wire.identity, DEFAULT_PROTOCOL.tolerances)


def failures(reply: Any, decimals: int | None = None) -> dict[str, str]:
    """Question id to the code of its failure; no detail quotes the reply."""
    try:
        told = {d.question: d.failure for d in read(reply, decimals) if d.failure is not None}
    except CandidateError as error:
        told = dict.fromkeys(EVERY, failure_of(error.code, error.detail, fatal=error.fatal))
    assert not any(SECRET in failure.detail or failure.fatal for failure in told.values())
    return {question: failure.code for question, failure in told.items()}


def test_a_reply_as_documented_is_answered() -> None:
    urgent, team, anger = read(REPLY)
    assert urgent.probabilities == pytest.approx({"true": 0.95, "false": 0.05})
    assert (urgent.choice, urgent.confidence) == ("true", None)
    assert list(team.probabilities or ()) == ["billing", "tech", "sales"]
    assert (team.choice, team.confidence) == ("billing", 0.81)
    assert (anger.choice, anger.score, anger.confidence) == ("1", 1.05, 0.92)


@pytest.mark.parametrize(
    ("code", "reply"),
    [
        ("invalid-reply", [REPLY]),
        ("invalid-reply", None),
        ("missing-model", changed(("model", GONE))),
        ("invalid-model", changed(("model", None))),
        ("invalid-model", changed(("model", 5))),
        ("invalid-model", changed(("model", " "))),
        ("invalid-model", changed(("model", "m" * 201))),
        ("invalid-model", changed(("model", "jev\n"))),
        ("invalid-model", changed(("model", SECRET))),
        ("invalid-model", changed(("model", "jév"))),
        ("invalid-model", changed(("model", "-jev"))),
        ("invalid-model", changed(("model", "jev-\ud800"))),
        ("missing-answers", changed(("answers", GONE))),
        ("invalid-answers", changed(("answers", [SECRET]))),
        ("missing-usage", changed(("usage", GONE))),
        ("invalid-usage", changed(("usage", None))),
        ("invalid-token-count", changed(("usage.input_tokens", 304.0))),
        ("invalid-token-count", changed(("usage.output_tokens", -1))),
        ("invalid-token-count", changed(("usage.input_tokens", 10**400))),
        ("invalid-token-count", changed(("usage.output_tokens", True))),
        ("invalid-token-count", changed(("usage.input_tokens", SECRET))),
        ("unasked-question", changed((f"answers.{SECRET}", {"type": "noul", "noul": 0.5}))),
        ("missing-answer", changed(("answers", {}))),
    ],
)
def test_a_broken_envelope_fails_every_question(code: str, reply: Any) -> None:
    assert failures(reply) == dict.fromkeys(EVERY, code)


@pytest.mark.parametrize(
    ("question", "code", "place", "value"),
    [
        ("team", "missing-answer", "", GONE),
        ("team", "invalid-answer", "", None),
        ("team", "invalid-answer", "", [SECRET]),
        ("team", "wrong-answer-type", ".type", GONE),
        ("team", "wrong-answer-type", ".type", "noul"),
        ("urgent", "wrong-answer-type", ".type", SECRET),
        ("urgent", "missing-noul", ".noul", GONE),
        ("urgent", "not-a-number", ".noul", None),
        ("urgent", "not-a-number", ".noul", True),
        ("urgent", "not-a-number", ".noul", "0.5"),
        ("urgent", "out-of-range", ".noul", 1.0001),
        ("urgent", "out-of-range", ".noul", -0.0001),
        ("urgent", "not-finite", ".noul", math.inf),
        ("urgent", "not-finite", ".noul", 10**400),
        ("team", "missing-choice", ".choice", GONE),
        ("team", "invalid-choice", ".choice", None),
        ("team", "invalid-choice", ".choice", 0),
        ("team", "unknown-choice", ".choice", SECRET),
        ("team", "choice-not-top", ".choice", "tech"),
        ("team", "missing-confidence", ".confidence", GONE),
        ("team", "not-a-number", ".confidence", None),
        ("team", "not-a-number", ".confidence", SECRET),
        ("team", "confidence-out-of-range", ".confidence", 1.01),
        ("anger", "confidence-out-of-range", ".confidence", -0.01),
        ("team", "missing-probabilities", ".probabilities", GONE),
        ("team", "invalid-probabilities", ".probabilities", None),
        ("team", "invalid-probabilities", ".probabilities", [0.88, 0.12, 0.0]),
        ("team", "missing-option", ".probabilities.sales", GONE),
        ("team", "extra-option", f".probabilities.{SECRET}", 0.0),
        ("team", "not-a-number", ".probabilities.sales", None),
        ("team", "sum", ".probabilities.tech", 0.09),
        ("team", "sum", ".probabilities", {"billing": 0, "tech": 0, "sales": 0}),
        ("anger", "missing-score", ".score", GONE),
        ("anger", "not-a-number", ".score", None),
        ("anger", "score-mismatch", ".score", 1.0),
        ("anger", "missing-legend", ".legend", GONE),
        ("anger", "invalid-legend", ".legend", LEVELS),
        ("anger", "legend-keys", ".legend", dict(zip("123", LEVELS, strict=True))),
        ("anger", "legend-keys", ".legend.2", GONE),
        ("anger", "legend-keys", f".legend.{SECRET}", "x"),
        ("anger", "legend-levels", ".legend.1", None),
        ("anger", "legend-levels", ".legend.1", SECRET),
        ("anger", "missing-option", ".probabilities", {"1": 0.0, "2": 0.95, "3": 0.05}),
    ],
)
def test_what_is_wrong_with_one_answer_fails_its_question_alone(
    question: str, code: str, place: str, value: Any
) -> None:
    assert failures(changed((f"answers.{question}{place}", value))) == {question: code}


@pytest.mark.parametrize(
    "reply",
    [
        changed(("latency_ms", 3), ("x_debug", None)),
        changed(("answers.team.rank", 1)),
        changed(("answers.team.confidence", 0.0)),  # By whatever formula.
        changed(("answers.team.confidence", 1)),
        changed(("usage", {})),
        changed(("usage.input_tokens", None)),
        changed(("usage.cost", 0.1)),
        changed(("model", "another-model")),
    ],
)
def test_what_is_only_recommended_is_answered(reply: Any) -> None:
    assert failures(reply) == {}


def test_rounding_is_allowed_only_where_it_is_declared() -> None:
    rounded = changed(("answers.team.probabilities", {"billing": 0.33, "tech": 0.33, "sales": 0.33}))
    assert failures(rounded) == {"team": "sum"}
    assert failures(rounded, decimals=2) == {}
    too_far = changed(("answers.team.probabilities", {"billing": 0.33, "tech": 0.33, "sales": 0.31}))
    assert failures(too_far, decimals=2) == {"team": "sum"}


@pytest.mark.parametrize(
    ("usage", "known"),
    [
        ({"input_tokens": 304, "output_tokens": 18}, (304, 18)),
        ({"input_tokens": 304, "output_tokens": 0}, (304, 0)),
        ({"input_tokens": 0, "output_tokens": 0}, (None, None)),
        ({"input_tokens": 0, "output_tokens": 18}, (None, 18)),
        ({"output_tokens": 18}, (None, 18)),
        ({}, (None, None)),
    ],
)
def test_tokens_that_a_server_does_not_count_are_unknown(usage: Any, known: tuple[int | None, int | None]) -> None:
    wire = SystemOne(SystemOneSettings(endpoint="http://127.0.0.1:1", model="jev-latest"))
    stated = wire.usage(changed(("usage", usage)))
    assert (stated.input_tokens, stated.output_tokens, stated.cached_tokens) == (*known, None)


@pytest.mark.parametrize("content", [None, [], "x", {}, {"usage": 5}, {"usage": {"input_tokens": "5"}}])
def test_tokens_of_what_is_no_reply_are_unknown(content: Any) -> None:
    wire = SystemOne(SystemOneSettings(endpoint="http://127.0.0.1:1", model="jev-latest"))
    assert wire.usage(content).input_tokens is None


def test_the_model_that_says_it_answered_is_kept() -> None:
    wire = SystemOne(SystemOneSettings(endpoint="http://127.0.0.1:1", model="jev-latest"))
    answer = wire.read(request_of(CASE), [changed(("model", "jev-1.14.0"))])
    assert costs_of(answer).model == "jev-1.14.0"


@pytest.mark.parametrize(("expected", "code"), [("jev-1.13.0", None), ("jev-1.13", "wrong-model")])
def test_the_model_must_be_the_expected_one_to_the_letter(expected: str, code: str | None) -> None:
    settings = SystemOneSettings(endpoint="http://127.0.0.1:1", model="jev-latest", expect_model=expected)
    wire = SystemOne(settings)
    answer = wire.read(request_of(CASE), [REPLY])
    decisions = score_answer(CASE, answer, wire.identity, DEFAULT_PROTOCOL.tolerances)
    assert {decision.failure and decision.failure.code for decision in decisions} == {code}

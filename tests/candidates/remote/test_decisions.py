"""The decisions API: what is asked, against the official client, and how replies are read, over a server of our own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import openai
import pytest
from pydantic import TypeAdapter, ValidationError

from decibench.bench_tests.answers import costs_of, score_answer
from decibench.candidates.adapter import CandidateError
from decibench.candidates.registry import REGISTRY
from decibench.candidates.remote.decisions import Decisions, DecisionsSettings
from decibench.candidates.setup import Setup
from decibench.cases.distribution import DEFAULT_TOLERANCES
from decibench.cases.request import Request, request_of
from decibench.cases.schema import Case, Question, State
from decibench.reports.record import Decision, failed_decisions, failure_of

Bend = Callable[[Any], Any]

SECRET: Final = "text-of-the-reply"
CASE: Final = Case.model_validate(
    {
        "id": "demo-one-001-original",
        "group": "demo-one-001",
        "family": "demo",
        "variant": "original",
        "split": "calibration",
        "state": "I was charged twice.",
        "questions": {
            "refund": {
                "type": "noul",
                "instructions": "A refund is asked for.",
                "criteria": {"true": "Money is wanted back."},
            },
            "team": {
                "type": "choice",
                "instructions": "Who?",
                "criteria": {"billing": "Invoices and payments.", "true": None, "büro": ""},
            },
            "anger": {"type": "score", "instructions": "How angry?", "criteria": ["Calm", "Annoyed", "Very angry"]},
        },
        "references": {"refund": {"expected": "true"}, "team": {"expected": "billing"}, "anger": {"expected": "1"}},
    }
)
REPLY: Final[Mapping[str, Any]] = {
    "model": "own-1",
    "answers": [
        {"type": "predicate", "name": "refund", "probability": 0.75},
        {
            "type": "choice",
            "name": "team",
            "choice": "billing",
            "confidence": 0.7,
            "probabilities": [
                {"value": "billing", "probability": 0.75},
                {"value": "true", "probability": 0.25},
                {"value": "büro", "probability": 0},
            ],
        },
        {
            "type": "score",
            "name": "anger",
            "score": 1.25,
            "confidence": 0.5,
            "probabilities": [
                {"value": 0, "label": "Calm", "probability": 0.0},
                {"value": 1, "label": "Annoyed", "probability": 0.75},
                {"value": 2, "label": "Very angry", "probability": 0.25},
            ],
        },
    ],
    "usage": {
        "input_tokens": 90,
        "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 0},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 93,
    },
}
SCORED: Final = {"refund": None, "team": None, "anger": None}
ROWS: Final = ("answers", 1, "probabilities")
LEVELS: Final = ("answers", 2, "probabilities")


def put(*path: str | int, value: Any) -> Bend:
    """Replace what is at ``path``."""

    def bend(reply: Any) -> Any:
        *parents, last = path
        at = reply
        for part in parents:
            at = at[part]
        at[last] = value
        return reply

    return bend


def drop(*path: str | int) -> Bend:
    """Remove what is at ``path``."""

    def bend(reply: Any) -> Any:
        *parents, last = path
        at = reply
        for part in parents:
            at = at[part]
        del at[last]
        return reply

    return bend


def also(*path: str | int, value: Any) -> Bend:
    """Append to the list at ``path``."""

    def bend(reply: Any) -> Any:
        at = reply
        for part in path:
            at = at[part]
        at.append(copy.deepcopy(at[value]) if isinstance(value, int) else value)
        return reply

    return bend


def swap(reply: Any) -> Any:
    reply["answers"][:2] = reversed(reply["answers"][:2])
    return reply


ENVELOPES: dict[str, tuple[Bend, str]] = {
    "a list": (lambda reply: [reply], "invalid-reply"),
    "nothing": (lambda reply: None, "invalid-reply"),
    "an error with status 200": (lambda reply: {"error": {"message": SECRET}}, "missing-model"),
    "no model": (drop("model"), "missing-model"),
    "model null": (put("model", value=None), "invalid-model"),
    "model with a line break": (put("model", value=f"own-1\n{SECRET}"), "invalid-model"),
    "model without an end": (put("model", value="own-1" * 50), "invalid-model"),
    "no answers": (drop("answers"), "missing-answers"),
    "answers by name, as System One has them": (put("answers", value={"refund": {}}), "invalid-answers"),
    "too few answers": (put("answers", value=[{"type": SECRET}]), "answer-count"),
    "too many answers": (also("answers", value=2), "answer-count"),
    "no usage": (drop("usage"), "missing-usage"),
    "a fraction of tokens": (put("usage", "input_tokens", value=90.0), "invalid-token-count"),
    "tokens below 0": (put("usage", "output_tokens", value=-1), "invalid-token-count"),
    "cached tokens as text": (put("usage", "input_tokens_details", "cached_tokens", value="1"), "invalid-token-count"),
    "NaN": (put("answers", 0, "probability", value=float("nan")), "invalid-json"),
    "another model than expected": (put("model", value="own-2"), "wrong-model"),
}
ANSWERS: dict[str, tuple[Bend, dict[str, str]]] = {
    "refusal": (put("answers", 1, value={"type": "refusal", "name": "team"}), {"team": "refused"}),
    "refusal without its name": (put("answers", 1, value={"type": "refusal", "name": None}), {"team": "invalid-name"}),
    "wrong order": (swap, {"refund": "wrong-name", "team": "wrong-name"}),
    "name missing": (drop("answers", 0, "name"), {"refund": "missing-name"}),
    "name twice": (put("answers", 1, "name", value="refund"), {"team": "wrong-name"}),
    "unasked name": (put("answers", 0, "name", value=SECRET), {"refund": "wrong-name"}),
    "answer is text": (put("answers", 0, value=SECRET), {"refund": "invalid-answer"}),
    "no type": (drop("answers", 0, "type"), {"refund": "wrong-answer-type"}),
    "System One's type": (put("answers", 0, "type", value="noul"), {"refund": "wrong-answer-type"}),
    "type of another question": (
        put("answers", 2, value={"type": "predicate", "name": "anger", "probability": 0.5}),
        {"anger": "wrong-answer-type"},
    ),
    "predicate without probability": (drop("answers", 0, "probability"), {"refund": "missing-probability"}),
    "predicate as text": (put("answers", 0, "probability", value="0.75"), {"refund": "not-a-number"}),
    "predicate as boolean": (put("answers", 0, "probability", value=True), {"refund": "not-a-number"}),
    "predicate above 1": (put("answers", 0, "probability", value=1.01), {"refund": "out-of-range"}),
    "choice missing": (drop("answers", 1, "choice"), {"team": "missing-choice"}),
    "choice is a boolean": (put("answers", 1, "choice", value=True), {"team": "invalid-choice"}),
    "choice unknown": (put("answers", 1, "choice", value=SECRET), {"team": "unknown-choice"}),
    "choice is not the top": (put("answers", 1, "choice", value="true"), {"team": "choice-not-top"}),
    "confidence missing": (drop("answers", 1, "confidence"), {"team": "missing-confidence"}),
    "confidence above 1": (put("answers", 2, "confidence", value=1.5), {"anger": "confidence-out-of-range"}),
    "probabilities as mapping": (put(*ROWS, value={"billing": 1.0}), {"team": "invalid-probabilities"}),
    "row is no object": (put(*ROWS, 1, value=0.25), {"team": "invalid-probabilities"}),
    "value missing": (drop(*ROWS, 1, "value"), {"team": "missing-value"}),
    "boolean value instead of text": (put(*ROWS, 1, "value", value=True), {"team": "invalid-value"}),
    "value unknown": (put(*ROWS, 1, "value", value=SECRET), {"team": "missing-option"}),
    "value more than asked": (also(*ROWS, value={"value": SECRET, "probability": 0}), {"team": "extra-option"}),
    "value repeated": (also(*ROWS, value=0), {"team": "repeated-option"}),
    "value repeated instead of another": (put(*ROWS, 2, "value", value="billing"), {"team": "repeated-option"}),
    "option missing": (drop(*ROWS, 2), {"team": "missing-option"}),
    "probability missing": (drop(*ROWS, 2, "probability"), {"team": "missing-probability"}),
    "probability null": (put(*ROWS, 2, "probability", value=None), {"team": "not-a-number"}),
    "sum": (put(*ROWS, 2, "probability", value=0.25), {"team": "sum"}),
    "all zeros": (
        put(*ROWS, value=[{"value": value, "probability": 0} for value in ("billing", "true", "büro")]),
        {"team": "sum"},
    ),
    "index as text": (put(*LEVELS, 1, "value", value="1"), {"anger": "invalid-value"}),
    "index as boolean": (put(*LEVELS, 1, "value", value=True), {"anger": "invalid-value"}),
    "index as fraction": (put(*LEVELS, 1, "value", value=1.0), {"anger": "invalid-value"}),
    "index beyond the levels": (put(*LEVELS, 2, "value", value=3), {"anger": "invalid-value"}),
    "index below 0": (put(*LEVELS, 2, "value", value=-1), {"anger": "invalid-value"}),
    "label missing": (drop(*LEVELS, 1, "label"), {"anger": "missing-label"}),
    "label of another level": (put(*LEVELS, 1, "label", value="Calm"), {"anger": "wrong-label"}),
    "level repeated": (put(*LEVELS, 2, value=REPLY["answers"][2]["probabilities"][1]), {"anger": "repeated-option"}),
    "level missing": (drop(*LEVELS, 0), {"anger": "missing-option"}),
    "score missing": (drop("answers", 2, "score"), {"anger": "missing-score"}),
    "score as text": (put("answers", 2, "score", value="1.25"), {"anger": "not-a-number"}),
    "score is the top level": (put("answers", 2, "score", value=1), {"anger": "score-mismatch"}),
}
HARMLESS: dict[str, Bend] = {
    "as published": lambda reply: reply,
    "rows in another order": lambda reply: [reply["answers"][n]["probabilities"].reverse() for n in (1, 2)] and reply,
    "further members": lambda reply: {**reply, "id": SECRET, "object": "decision"},
    "no details of usage": drop("usage", "input_tokens_details"),
    "no count of output tokens": drop("usage", "output_tokens"),
    "no tokens counted": put("usage", value={"input_tokens": 0, "output_tokens": 0}),
    "empty usage": put("usage", value={}),
}


@pytest.fixture
def decide(serve: Any, reply: Any) -> Iterator[Callable[[Bend], list[Decision]]]:
    """Ask CASE of a server whose good reply is bent, and score what comes as a run does."""
    made = []

    def once(bend: Bend) -> list[Decision]:
        server = serve(reply(bend(copy.deepcopy(REPLY))))
        settings = DecisionsSettings(endpoint=server.url, model="own-1", expect_model="own-1")
        made.append(candidate := REGISTRY["decisions"].create(Setup("cpu", settings)))
        try:
            answer = candidate.decide(request_of(CASE))
        except CandidateError as error:
            return failed_decisions(CASE, failure_of(error.code, error.detail))
        return score_answer(CASE, answer, candidate.identity, DEFAULT_TOLERANCES)

    yield once
    for candidate in made:
        candidate.close()


def codes(decisions: list[Decision]) -> dict[str, str | None]:
    return {decision.question: decision.failure.code if decision.failure else None for decision in decisions}


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_broken_envelope_fails_every_question(name: str, decide: Callable[[Bend], list[Decision]]) -> None:
    bend, code = ENVELOPES[name]
    decisions = decide(bend)
    assert codes(decisions) == dict.fromkeys(SCORED, code)
    assert SECRET not in repr(decisions)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_broken_answer_fails_its_question_only(name: str, decide: Callable[[Bend], list[Decision]]) -> None:
    bend, failed = ANSWERS[name]
    decisions = decide(bend)
    assert codes(decisions) == {**SCORED, **failed}
    assert SECRET not in repr(decisions)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_not_demanded_is_not_asked_for(name: str, decide: Callable[[Bend], list[Decision]]) -> None:
    decisions = decide(HARMLESS[name])
    assert codes(decisions) == SCORED
    assert {decision.question: (decision.choice, decision.probabilities) for decision in decisions} == {
        "refund": ("true", {"true": 0.75, "false": 0.25}),
        "team": ("billing", {"billing": 0.75, "true": 0.25, "büro": 0}),
        "anger": ("1", {"0": 0, "1": 0.75, "2": 0.25}),
    }
    assert [(decision.score, decision.confidence) for decision in decisions] == [(None, None), (None, 0.7), (1.25, 0.5)]


def official(url: str) -> Any:
    """Ask CASE by the official client, which checks what it reads."""
    with openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0, _strict_response_validation=True) as client:
        return client.decisions.create(
            model="own-1",
            input="I was charged twice.",
            questions=[
                {
                    "type": "predicate",
                    "name": "refund",
                    "instructions": "A refund is asked for.\nTrue means: Money is wanted back.",
                },
                {
                    "type": "choice",
                    "name": "team",
                    "instructions": "Who?",
                    "choices": [
                        {"value": "billing", "description": "Invoices and payments."},
                        {"value": "true"},
                        {"value": "büro"},
                    ],
                },
                {
                    "type": "score",
                    "name": "anger",
                    "instructions": "How angry?",
                    "levels": [{"label": "Calm"}, {"label": "Annoyed"}, {"label": "Very angry"}],
                },
            ],
        )


def test_the_official_client_sends_and_reads_the_same(serve: Any, reply: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OWN_KEY", "k")
    server = serve(reply(REPLY))
    theirs = official(server.url)
    candidate = REGISTRY["decisions"].create(
        Setup("cpu", DecisionsSettings(endpoint=server.url, model="own-1", key_env="OWN_KEY"))
    )
    answer = candidate.decide(request_of(CASE))
    candidate.close()
    [their_request, our_request] = server.seen
    assert our_request.content == their_request.content
    assert our_request.path == their_request.path == "/v1/decisions"
    assert our_request.headers["authorization"] == their_request.headers["authorization"] == "Bearer k"
    usage = costs_of(answer).usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (
        theirs.usage.input_tokens,
        theirs.usage.input_tokens_details.cached_tokens,
        theirs.usage.output_tokens,
    )
    assert answer.model == theirs.model
    refund, team, anger = score_answer(CASE, answer, candidate.identity, DEFAULT_TOLERANCES)
    predicate, choice, score = theirs.answers
    assert refund.probabilities == {"true": predicate.probability, "false": 1 - predicate.probability}
    assert (team.choice, team.confidence) == (choice.choice, choice.confidence)
    assert team.probabilities == {row.value: row.probability for row in choice.probabilities}
    assert (anger.score, anger.confidence) == (score.score, score.confidence)
    assert anger.probabilities == {str(row.value): row.probability for row in score.probabilities}


WIRE: Final = Decisions(DecisionsSettings(endpoint="http://127.0.0.1:1", model="own-1"))
QUESTION: TypeAdapter[Question] = TypeAdapter(Question)


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("as it is\n", "as it is\n"),
        ("", ""),
        ({"z": [1, None, "ü"], "a": {"b": True}}, '{"z":[1,null,"ü"],"a":{"b":true}}'),
        ([{"role": "user"}], '[{"role":"user"}]'),
    ],
)
def test_the_input_is_text(state: State, text: str) -> None:
    [body] = WIRE.bodies(Request(state, dict(CASE.questions)))
    assert body["input"] == text


@pytest.mark.parametrize(
    ("criteria", "instructions"),
    [
        ({}, "It holds."),
        ({"true": "", "false": None}, "It holds."),
        ({"true": "Yes."}, "It holds.\nTrue means: Yes."),
        ({"false": "No."}, "It holds.\nFalse means: No."),
        ({"false": "No.", "true": "Yes."}, "It holds.\nTrue means: Yes.\nFalse means: No."),
    ],
)
def test_criteria_of_a_predicate_follow_its_instructions(criteria: dict[str, Any], instructions: str) -> None:
    question = QUESTION.validate_python({"type": "noul", "instructions": "It holds.", "criteria": criteria})
    [body] = WIRE.bodies(Request("s", {"q": question}))
    assert body["questions"] == [{"type": "predicate", "name": "q", "instructions": instructions}]


@pytest.mark.parametrize(
    ("question", "fits"),
    [
        ({"type": "choice", "instructions": "i", "criteria": dict.fromkeys(map(str, range(255)))}, True),
        ({"type": "choice", "instructions": "i", "criteria": dict.fromkeys(map(str, range(256)))}, False),
        ({"type": "choice", "instructions": "i", "criteria": {"only": None}}, False),
        ({"type": "score", "instructions": "i", "criteria": list("0123456789")}, True),
        ({"type": "score", "instructions": "i", "criteria": list("0123456789a")}, False),
        ({"type": "score", "instructions": "i", "criteria": ["only"]}, False),
        ({"type": "noul", "instructions": ""}, False),
        ({"type": "noul", "instructions": None}, False),
    ],
)
def test_no_case_holds_a_question_that_the_api_has_no_room_for(question: dict[str, Any], fits: bool) -> None:
    if not fits:
        with pytest.raises(ValidationError):
            QUESTION.validate_python(question)
        return
    [body] = WIRE.bodies(Request("s", {"q": QUESTION.validate_python(question)}))
    assert len(body["questions"][0]["choices" if question["type"] == "choice" else "levels"]) in (255, 10)


def test_a_label_that_is_asked_for_twice_is_told_apart_by_its_index() -> None:
    question = QUESTION.validate_python({"type": "score", "instructions": "i", "criteria": ["same", "same"]})
    rows = [{"value": index, "label": "same", "probability": p} for index, p in ((1, 0.75), (0, 0.25))]
    answer = {"type": "score", "name": "q", "score": 0.75, "confidence": 0.5, "probabilities": rows}
    read = WIRE.read(Request("s", {"q": question}), [{"model": "m", "answers": [answer], "usage": {}}])
    assert getattr(read.questions["q"], "probabilities", None) == {"1": 0.75, "0": 0.25}


@pytest.mark.parametrize(
    ("settings", "model", "alias"),
    [({"model": "luna"}, "luna", True), ({"model": "luna", "expect_model": "luna-2026"}, "luna-2026", False)],
)
def test_who_is_asked(settings: dict[str, Any], model: str, alias: bool) -> None:
    asked = DecisionsSettings(endpoint="https://example.com/", path="/gateway/decisions", decimals=2, **settings)
    wire = Decisions(asked)
    assert wire.url == "https://example.com/gateway/decisions"
    assert (wire.identity.model, wire.identity.alias, wire.identity.decimals) == (model, alias, 2)
    assert wire.identity.settings["asked_model"] == "luna"


@pytest.mark.parametrize("path", ["v1/decisions", "/v1/decisions?a=1", "https://elsewhere.example.com", ""])
def test_a_path_that_is_none_is_refused(path: str) -> None:
    with pytest.raises(ValidationError):
        DecisionsSettings(endpoint="https://example.com", model="luna", path=path)

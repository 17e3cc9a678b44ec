"""Every shape of a reply: what is an answer, what is a failure and of which name, and what a lenient reading finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from decibench.candidates.adapter import QuestionFailure
from decibench.cases.request import Request

if TYPE_CHECKING:
    from tests.candidates.remote.llm.conftest import Make
    from tests.candidates.remote.llm.standin import StandIn

Outcomes = Callable[..., list[tuple[str, str | None]]]
AskFor = Callable[..., Request]

EVEN = {"left": 0.5, "right": 0.3, "hand_off": 0.2}
GOOD = {"q1": {"probabilities": EVEN, "choice": "left"}}
CALL = {"id": "c", "type": "function", "function": {"name": "answer", "arguments": json.dumps(GOOD)}}
TOOL_USE = {"type": "tool_use", "id": "t", "name": "answer", "input": GOOD}
THINKING = {"type": "thinking", "thinking": json.dumps(GOOD), "signature": "s"}


def value(probabilities: Any, choice: Any = "left", **more: Any) -> dict[str, Any]:
    return {"q1": {"probabilities": probabilities, "choice": choice, **more}}


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def say(shapes: Any, standin: StandIn, provider: str) -> Callable[..., None]:
    """Let the next reply of the provider say a text, or call the tool with an object."""

    def reply(said: Any) -> None:
        standin.reply((shapes.chat_reply if provider == "openai" else shapes.messages_reply)(said))

    return reply


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (json.dumps(GOOD), ("valid", "left")),
        (f"\n {json.dumps(GOOD)} \n", ("valid", "left")),
        (value({"hand_off": 0, "right": 0, "left": 1}), ("valid", "left")),
        (value({"left": 0.3333, "right": 0.3333, "hand_off": 0.3334}, "right"), ("valid", "right")),
        (value({**EVEN, "left": 0.47}), ("sum", None)),
        (value({"left": 0, "right": 0, "hand_off": 0}), ("sum", None)),
        (value({"left": 50, "right": 30, "hand_off": 20}), ("out-of-range", None)),
        (value({"left": 1.2, "right": -0.2, "hand_off": 0}), ("out-of-range", None)),
        (value({"left": "0.5", "right": "0.3", "hand_off": "0.2"}), ("not-a-number", None)),
        (value({"left": True, "right": False, "hand_off": False}), ("not-a-number", None)),
        (value({"left": 0.5, "right": 0.5}), ("missing-option", None)),
        (value({**EVEN, "up": 0}), ("extra-option", None)),
        (value([0.5, 0.3, 0.2]), ("not-a-mapping", None)),
        (value(None), ("not-a-mapping", None)),
        (value(EVEN, "right"), ("choice-not-top", None)),
        (value(EVEN, "Left"), ("unknown-choice", None)),
        (value(EVEN, None), ("format", None)),
        ({"q1": {"probabilities": EVEN}}, ("format", None)),
        ({"q1": {"choice": "left"}}, ("format", "left")),
        (value(EVEN, reason="It is free."), ("format", "left")),
        ({"q1": EVEN}, ("format", None)),
        ({"q1": "left"}, ("format", None)),
        ({}, ("missing-answer", None)),
        ({"way": GOOD["q1"]}, ("unasked-question", None)),
        ({"secret-id-way": GOOD["q1"]}, ("unasked-question", None)),
        ({**GOOD, "q2": GOOD["q1"]}, ("unasked-question", None)),
        (f"```json\n{json.dumps(GOOD)}\n```", ("format", "left")),
        (f"Here you are: {json.dumps(GOOD)} I hope it helps.", ("format", "left")),
        ("```json\n" + json.dumps(value(EVEN, "up")) + "\n```", ("format", None)),
        (json.dumps([GOOD]), ("format", "left")),
        (json.dumps(GOOD)[:-1], ("format", None)),
        (json.dumps(GOOD).replace("0.5", "NaN"), ("format", None)),
        (json.dumps(GOOD).replace('"right"', '"left"'), ("format", None)),
        ("left", ("format", None)),
        ("[" * 5000, ("format", None)),
        (" \n", ("empty-reply", None)),
    ],
)
def test_probabilities_are_read_as_they_are_stated(
    make: Make, say: Callable[..., None], outcomes: Outcomes, provider: str, said: Any, expected: tuple[str, str | None]
) -> None:
    say(json.dumps(said) if isinstance(said, dict) else said)
    assert outcomes(make("llm-probabilities", provider), "way") == [expected]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"q1": "left"}, ("valid", "left")),
        ({"q1": "hand_off"}, ("valid", "hand_off")),
        ({"q1": "LEFT"}, ("unknown-choice", None)),
        ({"q1": "left."}, ("unknown-choice", None)),
        ({"q1": ["left"]}, ("format", None)),
        ({"q1": None}, ("format", None)),
        ({}, ("missing-answer", None)),
        ({"q1": "left", "q2": "left"}, ("unasked-question", None)),
        ('```json\n{"q1": "left"}\n```', ("format", "left")),
        ('{"q1": "left"} {"q1": "right"}', ("format", None)),
        ("left", ("format", None)),
    ],
)
def test_labels_are_read_as_they_are_stated(
    make: Make, say: Callable[..., None], outcomes: Outcomes, provider: str, said: Any, expected: tuple[str, str | None]
) -> None:
    for mode in ("json-schema", "none"):
        say(json.dumps(said) if isinstance(said, dict) else said)
        assert outcomes(make("llm-labels", provider, schema_mode=mode), "way") == [expected]


def test_one_bad_value_fails_its_own_question_only(
    make: Make, say: Callable[..., None], outcomes: Outcomes, provider: str
) -> None:
    say(json.dumps({"q2": "true", "q1": "up", "q3": 1}))
    assert outcomes(make("llm-labels", provider)) == [("unknown-choice", None), ("valid", "true"), ("format", None)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FINAL: left", ("valid", "left")),
        ("Left is free.\n\nFINAL: hand_off\n\n", ("valid", "hand_off")),
        ("Left is free.\r\nFINAL: left\r\n", ("valid", "left")),
        ("I will end with FINAL: right, or so.\nFINAL: left", ("valid", "left")),
        ("**FINAL: left**", ("format", "left")),
        ("**FINAL:** `left`.", ("format", "left")),
        ("FINAL: left.", ("format", "left")),
        ("FINAL: _hand_off_", ("format", "hand_off")),
        ("FINAL:left", ("format", "left")),
        ("FINAL: left ", ("format", "left")),
        (" FINAL: left", ("format", "left")),
        ("FINAL: left\nI hope this helps.", ("format", "left")),
        ("FINAL: X\nFINAL: left", ("format", "left")),
        ("FINAL: left\nFINAL: left", ("format", "left")),
        ("FINAL: left\nFINAL: right", ("format", None)),
        ("FINAL: left FINAL: right", ("format", None)),
        ("FINAL: Left", ("format", None)),
        ("Final: left", ("format", None)),
        ("FINAL: up", ("format", None)),
        ("FINAL: left or right", ("format", None)),
        ("FINAL:", ("format", None)),
        ("left", ("format", None)),
        ("The answer is FINAL: left", ("format", None)),
        ("", ("empty-reply", None)),
    ],
)
def test_the_last_line_is_read_to_the_letter_and_a_lenient_reading_stands_beside(
    make: Make, say: Callable[..., None], outcomes: Outcomes, provider: str, text: str, expected: tuple[str, str | None]
) -> None:
    say(text)
    assert outcomes(make("llm-final", provider), "way") == [expected]


def test_a_bad_last_line_fails_its_own_question_only(
    make: Make, say: Callable[..., None], outcomes: Outcomes, provider: str
) -> None:
    for text in ("FINAL: left", "**FINAL: false**", "FINAL: 1"):
        say(text)
    assert outcomes(make("llm-final", provider)) == [("valid", "left"), ("format", "false"), ("valid", "1")]


CHAT_CHANGES: list[tuple[str, Any, str]] = [
    ("no choices", lambda r: r.pop("choices"), "invalid-reply"),
    ("empty choices", lambda r: r.update(choices=[]), "invalid-reply"),
    ("two choices", lambda r: r["choices"].append(r["choices"][0]), "several-choices"),
    ("no message", lambda r: r["choices"][0].pop("message"), "invalid-reply"),
    ("choice of another type", lambda r: r.update(choices=["left"]), "invalid-reply"),
    ("cut", lambda r: r["choices"][0].update(finish_reason="length"), "truncated"),
    ("filtered", lambda r: r["choices"][0].update(finish_reason="content_filter"), "refused"),
    ("refused", lambda r: r["choices"][0]["message"].update(content=None, refusal="I cannot."), "refused"),
    ("refused beside text", lambda r: r["choices"][0]["message"].update(refusal="I cannot."), "refused"),
    ("not said to be complete", lambda r: r["choices"][0].pop("finish_reason"), "invalid-reply"),
    ("unknown end", lambda r: r["choices"][0].update(finish_reason=["stop"]), "invalid-reply"),
    ("ends with a call nobody offered", lambda r: r["choices"][0].update(finish_reason="tool_calls"), "invalid-reply"),
    ("no content", lambda r: r["choices"][0]["message"].pop("content"), "empty-reply"),
    ("content in parts", lambda r: r["choices"][0]["message"].update(content=[{"text": "x"}]), "invalid-reply"),
    ("no model", lambda r: r.pop("model"), "missing-model"),
    ("model of another type", lambda r: r.update(model=1), "invalid-model"),
    ("a model that is no name", lambda r: r.update(model="a model"), "invalid-model"),
    ("a model at a path", lambda r: r.update(model="/models/own-1:Q4_K_M.gguf"), "valid"),
    ("an empty refusal is none", lambda r: r["choices"][0]["message"].update(refusal=""), "valid"),
    ("no usage", lambda r: r.pop("usage"), "valid"),
    ("reasoning beside", lambda r: r["choices"][0]["message"].update(reasoning_content="FINAL: up"), "valid"),
]

MESSAGES_CHANGES: list[tuple[str, Any, str]] = [
    ("no content", lambda r: r.pop("content"), "invalid-reply"),
    ("content as text", lambda r: r.update(content=r["content"][1]["text"]), "invalid-reply"),
    ("blocks of another type", lambda r: r.update(content=["left"]), "invalid-reply"),
    ("no blocks", lambda r: r.update(content=[]), "empty-reply"),
    ("thinking only", lambda r: r["content"].pop(), "empty-reply"),
    ("a text block without text", lambda r: r["content"][1].pop("text"), "invalid-reply"),
    ("cut", lambda r: r.update(stop_reason="max_tokens"), "truncated"),
    ("cut at the window", lambda r: r.update(stop_reason="model_context_window_exceeded"), "truncated"),
    ("refused", lambda r: r.update(stop_reason="refusal"), "refused"),
    ("refused without content", lambda r: r.update(stop_reason="refusal", content=[]), "refused"),
    ("paused", lambda r: r.update(stop_reason="pause_turn"), "invalid-reply"),
    ("not said to be complete", lambda r: r.pop("stop_reason"), "invalid-reply"),
    ("no model", lambda r: r.update(model=None), "invalid-model"),
    ("the text in two blocks", lambda r: r["content"].insert(1, {"type": "text", "text": " \n"}), "valid"),
    ("no thinking", lambda r: r["content"].pop(0), "valid"),
    ("hidden thinking", lambda r: r["content"].insert(0, {"type": "redacted_thinking", "data": "x"}), "valid"),
    ("no usage", lambda r: r.pop("usage"), "valid"),
]


@pytest.mark.parametrize("adapter", ["llm-labels", "llm-final"])
@pytest.mark.parametrize(
    ("api", "change", "code"),
    [
        *(pytest.param("openai", change, code, id=f"chat: {name}") for name, change, code in CHAT_CHANGES),
        *(pytest.param("anthropic", change, code, id=f"messages: {name}") for name, change, code in MESSAGES_CHANGES),
    ],
)
def test_a_reply_of_another_shape_has_a_name(
    make: Make, standin: StandIn, shapes: Any, outcomes: Outcomes, adapter: str, api: str, change: Any, code: str
) -> None:
    said = '{"q1": "left"}' if adapter == "llm-labels" else "FINAL: left"
    content = (shapes.chat_reply if api == "openai" else shapes.messages_reply)(said)
    change(content)
    standin.reply(content)
    assert outcomes(make(adapter, api), "way") == [(code, "left" if code == "valid" else None)]


@pytest.mark.parametrize("content", [[], "text", None, {"model": "stand-in-1"}])
def test_json_that_is_no_reply_at_all(
    make: Make, standin: StandIn, outcomes: Outcomes, provider: str, content: Any
) -> None:
    for adapter in ("llm-probabilities", "llm-final"):
        standin.reply(content)
        assert outcomes(make(adapter, provider), "way") == [("invalid-reply", None)]


def call(**function: Any) -> dict[str, Any]:
    return {**CALL, "function": {**CALL["function"], **function}}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("api", "calls", "expected"),
    [
        ("openai", [CALL], ("valid", "left")),
        ("openai", None, ("missing-tool-call", None)),
        ("openai", [], ("missing-tool-call", None)),
        ("openai", [CALL, CALL], ("several-tool-calls", None)),
        ("openai", [call(name="search")], ("missing-tool-call", None)),
        ("openai", [call(arguments=GOOD)], ("invalid-reply", None)),
        ("openai", [{"id": "c", "type": "custom"}], ("invalid-reply", None)),
        ("openai", [call(arguments=json.dumps(GOOD)[:-1])], ("format", None)),
        ("openai", [call(arguments="")], ("format", None)),
        ("anthropic", [TOOL_USE], ("valid", "left")),
        ("anthropic", [THINKING, {"type": "text", "text": "I call it."}, TOOL_USE], ("valid", "left")),
        ("anthropic", [{"type": "text", "text": json.dumps(GOOD)}], ("missing-tool-call", None)),
        ("anthropic", [TOOL_USE, TOOL_USE], ("several-tool-calls", None)),
        ("anthropic", [{**TOOL_USE, "name": "search"}], ("missing-tool-call", None)),
        ("anthropic", [{**TOOL_USE, "input": json.dumps(GOOD)}], ("invalid-reply", None)),
        ("anthropic", [{**TOOL_USE, "input": {}}], ("missing-answer", None)),
    ],
)
@pytest.mark.parametrize("reason", ["stop", "tool"])
def test_a_forced_tool_is_called_once(
    make: Make,
    standin: StandIn,
    shapes: Any,
    outcomes: Outcomes,
    api: str,
    calls: Any,
    expected: tuple[str, str | None],
    reason: str,
) -> None:
    if api == "openai":
        content = shapes.chat_reply(None, tool_calls=calls)
        content["choices"][0]["finish_reason"] = {"stop": "stop", "tool": "tool_calls"}[reason]
    else:
        ends = {"stop": "end_turn", "tool": "tool_use"}
        content = shapes.messages_reply(None, content=calls, stop_reason=ends[reason])
    standin.reply(content)
    assert outcomes(make("llm-probabilities", api, schema_mode="tool"), "way") == [expected]


@pytest.mark.parametrize("mode", ["tool", "json-schema"])
@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (400, {"type": "invalid_request_error", "message": "tool_choice is not supported for m."}, "bad-request"),
        (400, {"type": "invalid_request_error", "code": "context_length_exceeded"}, "does-not-fit"),
        (400, {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}, "does-not-fit"),
        (413, {"type": "request_too_large", "message": "Request exceeds the maximum size"}, "request-too-large"),
    ],
)
def test_a_refused_request_fails_under_its_name_and_is_not_asked_in_another_way(
    make: Make, standin: StandIn, outcomes: Outcomes, provider: str, mode: str, status: int, error: Any, code: str
) -> None:
    standin.reply({"type": "error", "error": error}, status)
    assert outcomes(make("llm-probabilities", provider, schema_mode=mode), "way") == [(code, None)]
    assert len(standin.asked) == 1


def test_a_key_that_appears_twice_in_the_stated_json_is_never_read(
    make: Make, say: Callable[..., None], outcomes: Outcomes, provider: str
) -> None:
    say('{"q1": "left", "q1": "right"}')
    assert outcomes(make("llm-labels", provider), "way") == [("format", None)]


def test_the_model_that_is_expected_has_to_have_answered(
    make: Make, standin: StandIn, outcomes: Outcomes, provider: str
) -> None:
    pinned = make("llm-labels", provider, expect_model="stand-in-1")
    assert (pinned.identity.model, pinned.identity.alias) == ("stand-in-1", False)
    assert outcomes(pinned, "way") == [("valid", "left")]
    assert outcomes(make("llm-labels", provider, expect_model="stand-in-2"), "way") == [("wrong-model", None)]


def test_the_questions_of_a_request_are_answered_by_one_model(
    make: Make, standin: StandIn, shapes: Any, outcomes: Outcomes
) -> None:
    for model in ("stand-in-1", "stand-in-2", "stand-in-1"):
        standin.reply({**shapes.messages_reply("FINAL: left"), "model": model})
    assert outcomes(make("llm-final", "anthropic")) == [("wrong-model", None)] * 3


@pytest.mark.parametrize(
    ("api", "stated", "tokens"),
    [
        ("openai", {"prompt_tokens": 100, "completion_tokens": 20}, (100, 20, None)),
        (
            "openai",
            {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 0}},
            (100, 20, 0),
        ),
        ("openai", {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 101}}, (100, None, None)),
        ("openai", {"prompt_tokens": 100, "prompt_tokens_details": None}, (100, None, None)),
        ("openai", {"prompt_tokens": 0, "completion_tokens": 0}, (None, None, None)),
        ("anthropic", {"input_tokens": 0, "output_tokens": 0}, (None, None, None)),
        ("openai", {"prompt_tokens": "100", "completion_tokens": True}, (None, None, None)),
        ("openai", {"prompt_tokens": -1, "completion_tokens": 1.0}, (None, None, None)),
        ("openai", None, (None, None, None)),
        ("openai", [1], (None, None, None)),
        ("anthropic", {"input_tokens": 30, "output_tokens": 20}, (30, 20, None)),
        (
            "anthropic",
            {"input_tokens": 30, "output_tokens": 20, "cache_read_input_tokens": 64, "cache_creation_input_tokens": 6},
            (100, 20, 64),
        ),
        (
            "anthropic",
            {
                "input_tokens": 30,
                "output_tokens": 20,
                "cache_read_input_tokens": None,
                "cache_creation_input_tokens": 6,
            },
            (36, 20, None),
        ),
        ("anthropic", {"output_tokens": 20, "cache_read_input_tokens": 64}, (None, 20, None)),
        ("anthropic", {"input_tokens": 30, "cache_read_input_tokens": "64"}, (None, None, None)),
        ("anthropic", None, (None, None, None)),
    ],
)
def test_tokens_are_counted_once_and_unknown_ones_stay_unknown(
    make: Make,
    standin: StandIn,
    shapes: Any,
    ask_for: AskFor,
    api: str,
    stated: Any,
    tokens: tuple[int | None, int | None, int | None],
) -> None:
    content = (shapes.chat_reply if api == "openai" else shapes.messages_reply)('{"q1": "left"}')
    standin.reply({**content, "usage": stated})
    usage = make("llm-labels", api).decide(ask_for("way")).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == tokens


def test_a_reply_that_is_refused_still_tells_what_it_cost(
    make: Make, standin: StandIn, shapes: Any, ask_for: AskFor
) -> None:
    standin.reply(shapes.messages_reply("", stop_reason="refusal"))
    assert make("llm-labels", "anthropic").decide(ask_for("way")).usage.output_tokens == 20


@pytest.mark.parametrize("adapter", ["llm-probabilities", "llm-labels", "llm-final"])
@pytest.mark.parametrize(
    "said", ['{"q1": "CANARY", "CANARY": 1}', "CANARY", '{"q1": {"CANARY": 1, "choice": 2}}', "FINAL: CANARY"]
)
def test_nothing_that_a_reply_says_is_in_a_failure(
    make: Make, say: Callable[..., None], ask_for: AskFor, provider: str, adapter: str, said: str
) -> None:
    say(said)
    [answer] = make(adapter, provider).decide(ask_for("way")).questions.values()
    assert isinstance(answer, QuestionFailure)
    assert "CANARY" not in f"{answer.code} {answer.detail}"

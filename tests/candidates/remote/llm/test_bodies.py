"""What leaves the machine: bodies that the official clients would send, with state and questions and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from decibench.candidates.adapter import Usage
from decibench.cases.request import Request

if TYPE_CHECKING:
    from tests.candidates.remote.llm.conftest import Make
    from tests.candidates.remote.llm.standin import StandIn

AskFor = Callable[..., Request]

VERSION = {"anthropic-version": "2023-06-01"}

SETTINGS: list[tuple[str, str, dict[str, Any]]] = [
    ("llm-probabilities", "openai", {}),
    ("llm-probabilities", "openai", {"schema_mode": "tool", "temperature": 0}),
    ("llm-probabilities", "openai", {"schema_mode": "none", "max_tokens_field": "max_tokens"}),
    ("llm-labels", "openai", {"effort": "low"}),
    ("llm-final", "openai", {"temperature": 0.5, "effort": "none"}),
    ("llm-probabilities", "anthropic", {}),
    ("llm-probabilities", "anthropic", {"schema_mode": "tool", "temperature": 0}),
    ("llm-probabilities", "anthropic", {"schema_mode": "none", "thinking": "adaptive"}),
    ("llm-labels", "anthropic", {"effort": "low", "thinking": "disabled"}),
    ("llm-final", "anthropic", {"thinking_budget_tokens": 1024, "max_tokens": 2048}),
]


@pytest.fixture
def official(standin: StandIn) -> Callable[[str, dict[str, Any]], Any]:
    """Send a body with the official client of a provider, and return the reply as that client reads it."""

    def send(provider: str, body: dict[str, Any]) -> Any:
        given: dict[str, Any] = {"api_key": "k", "max_retries": 0, "_strict_response_validation": True}
        if provider == "openai":
            return openai.OpenAI(base_url=f"{standin.url}/v1", **given).chat.completions.create(**body)
        # The client sends a later version by default, which knows no temperature, and so its method knows none.
        client = anthropic.Anthropic(base_url=standin.url, default_headers=VERSION, **given)
        unknown = {name: value for name, value in body.items() if name == "temperature"}
        return client.messages.create(**{k: v for k, v in body.items() if k not in unknown}, extra_body=unknown)

    return send


@pytest.mark.parametrize(("adapter", "provider", "settings"), SETTINGS)
def test_the_official_client_sends_the_same_body_to_the_same_path_and_accepts_the_reply(
    adapter: str,
    provider: str,
    settings: dict[str, Any],
    make: Make,
    standin: StandIn,
    official: Callable[[str, dict[str, Any]], Any],
    ask_for: AskFor,
) -> None:
    answer = make(adapter, provider, **settings).decide(ask_for("way"))
    [ours] = standin.asked
    reply = official(provider, ours.body)
    theirs = standin.asked[1]
    assert (ours.path, ours.body) == (theirs.path, theirs.body)
    for header in ("content-type", "anthropic-version"):
        assert ours.headers.get(header) == theirs.headers.get(header)
    assert reply.model == answer.model == "stand-in-1"


@pytest.mark.parametrize(("adapter", "provider", "settings"), SETTINGS)
def test_the_official_client_declares_every_field_that_is_sent(
    adapter: str, provider: str, settings: dict[str, Any], make: Make, standin: StandIn, ask_for: AskFor
) -> None:
    make(adapter, provider, **settings).decide(ask_for())
    kind: Any = CompletionCreateParamsNonStreaming if provider == "openai" else MessageCreateParamsNonStreaming
    declared: TypeAdapter[Any] = TypeAdapter(kind)
    for body in standin.bodies:
        if provider == "anthropic":
            body.pop("temperature", None)
        # What is not declared is left out of the value that is read.
        assert declared.dump_python(declared.validate_python(body), mode="json") == body


def test_chat_completions_written_by_hand_for_the_official_client(
    make: Make, standin: StandIn, ask_for: AskFor
) -> None:
    make("llm-labels", "openai", temperature=0, effort="low").decide(ask_for("way"))
    openai.OpenAI(base_url=f"{standin.url}/v1", api_key="k").chat.completions.create(
        model="asked-model",
        messages=[
            {"role": "system", "content": standin.bodies[0]["messages"][0]["content"]},
            {
                "role": "user",
                "content": "<state>\nThe road forks.\n</state>\n\nq1 (choose one option): Which way?\nOptions:\n"
                "- left: Turn left.\n- right\n- hand_off: Ask a person.",
            },
        ],
        max_completion_tokens=500,
        temperature=0,
        reasoning_effort="low",
        response_format={
            "type": "json_schema",
            "json_schema": {
                "name": "answer",
                "strict": True,
                "schema": {
                    "type": "object",
                    "properties": {"q1": {"type": "string", "enum": ["left", "right", "hand_off"]}},
                    "required": ["q1"],
                    "additionalProperties": False,
                },
            },
        },
    )
    assert standin.bodies[0] == standin.bodies[1]


def test_messages_written_by_hand_for_the_official_client(make: Make, standin: StandIn, ask_for: AskFor) -> None:
    make("llm-probabilities", "anthropic", temperature=0, effort="low").decide(ask_for("dry", state={"rain": 0.5}))
    number = {"type": "number"}
    anthropic.Anthropic(base_url=standin.url, api_key="k").messages.create(
        model="asked-model",
        system=standin.bodies[0]["system"],
        messages=[
            {
                "role": "user",
                "content": '<state>\n{"rain":0.5}\n</state>\n\nq1 (true or false): It is dry.\nOptions:\n'
                "- true: No rain at all.\n- false",
            }
        ],
        max_tokens=500,
        extra_body={"temperature": 0},
        output_config={
            "effort": "low",
            "format": {
                "type": "json_schema",
                "schema": {
                    "type": "object",
                    "properties": {
                        "q1": {
                            "type": "object",
                            "properties": {
                                "probabilities": {
                                    "type": "object",
                                    "properties": {"true": number, "false": number},
                                    "required": ["true", "false"],
                                    "additionalProperties": False,
                                },
                                "choice": {"type": "string", "enum": ["true", "false"]},
                            },
                            "required": ["probabilities", "choice"],
                            "additionalProperties": False,
                        }
                    },
                    "required": ["q1"],
                    "additionalProperties": False,
                },
            },
        },
    )
    assert standin.bodies[0] == standin.bodies[1]


@pytest.mark.parametrize(
    ("provider", "forced"),
    [
        ("openai", {"type": "function", "function": {"name": "answer"}}),
        ("anthropic", {"type": "tool", "name": "answer", "disable_parallel_tool_use": True}),
    ],
)
def test_a_tool_is_forced_only_where_it_is_asked_for(
    make: Make, standin: StandIn, ask_for: AskFor, provider: str, forced: dict[str, Any]
) -> None:
    for mode in ("tool", "json-schema", "none"):
        make("llm-labels", provider, schema_mode=mode).decide(ask_for("way"))
    schema = {
        "type": "object",
        "properties": {"q1": {"type": "string", "enum": ["left", "right", "hand_off"]}},
        "required": ["q1"],
        "additionalProperties": False,
    }
    [tool] = standin.bodies[0]["tools"]
    if provider == "openai":
        assert (tool["type"], tool["function"]["strict"]) == ("function", True)
        assert tool["function"]["parameters"] == schema
    else:
        assert tool["input_schema"] == schema
    assert standin.bodies[0]["tool_choice"] == forced
    for body in standin.bodies[1:]:
        assert not {"tools", "tool_choice"} & set(body)
    assert not {"response_format", "output_config"} & {*standin.bodies[0], *standin.bodies[2]}


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("adapter", ["llm-probabilities", "llm-labels", "llm-final"])
def test_every_text_of_the_request_is_sent_and_no_id_reference_family_or_split(
    make: Make, standin: StandIn, ask_for: AskFor, provider: str, adapter: str
) -> None:
    answer = make(adapter, provider).decide(ask_for())
    assert list(answer.questions) == ["secret-id-way", "secret-id-dry", "secret-id-wind"]
    sent = json.dumps(standin.bodies)
    for text in (
        "The road forks.",
        "Which way?",
        "Turn left.",
        "No rain at all.",
        "How windy is it?",
        "Calm.",
        "Windy.",
    ):
        assert text in sent
    for word in ("secret", "holdout", "expected", "reference"):
        assert word not in sent


def test_free_text_is_asked_once_per_question_and_a_schema_once_for_all(
    make: Make, standin: StandIn, ask_for: AskFor
) -> None:
    make("llm-labels", "openai").decide(ask_for())
    assert len(standin.asked) == 1
    answer = make("llm-final", "openai").decide(ask_for())
    assert len(standin.asked) == 1 + 3
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.cached_tokens) == (300, 60, 192)
    instructions = ["Which way?", "It is dry.", "How windy is it?"]
    asked = [body["messages"][1]["content"] for body in standin.bodies[1:]]
    assert [[text for text in instructions if text in content] for content in asked] == [
        [text] for text in instructions
    ]


def test_options_are_asked_in_their_order(make: Make, standin: StandIn, ask_for: AskFor) -> None:
    request = ask_for("way")
    [question] = request.questions.values()
    turned = question.model_copy(update={"criteria": dict(reversed(question.to_wire()["criteria"].items()))})
    candidate = make("llm-labels", "openai")
    choices = [
        candidate.decide(Request(request.state, {"way": asked})).questions["way"].choice  # type: ignore[union-attr]
        for asked in (question, turned)
    ]
    assert choices == ["left", "hand_off"]
    enums = [body["response_format"]["json_schema"]["schema"]["properties"]["q1"]["enum"] for body in standin.bodies]
    assert enums[0] == enums[1][::-1]


@pytest.mark.parametrize(
    ("provider", "header", "value"),
    [("openai", "authorization", "Bearer sk-canary"), ("anthropic", "x-api-key", "sk-canary")],
)
def test_the_key_travels_in_one_header(
    make: Make,
    standin: StandIn,
    ask_for: AskFor,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    header: str,
    value: str,
) -> None:
    monkeypatch.setenv("A_KEY", "sk-canary")
    make("llm-labels", provider, key_env="A_KEY").decide(ask_for("way"))
    [asked] = standin.asked
    assert [name for name, held in asked.headers.items() if "canary" in held] == [header]
    assert asked.headers[header] == value
    assert "canary" not in json.dumps(asked.body)


def test_another_path_can_be_named(make: Make, standin: StandIn, ask_for: AskFor) -> None:
    make("llm-labels", "anthropic", path="/gateway/v1/messages").decide(ask_for("way"))
    assert standin.asked[0].path == "/gateway/v1/messages"


def test_an_option_that_is_no_line_of_its_own_cannot_be_asked_for_a_last_line(
    make: Make, standin: StandIn, ask_for: AskFor, failure: Callable[..., Any]
) -> None:
    request = ask_for("way")
    [question] = request.questions.values()
    odd = question.model_copy(update={"criteria": {"two\nlines": None, "one": None}})
    error = failure(make("llm-final", "openai"), Request("s", {"way": odd}))
    assert (error.code, error.fatal) == ("not-askable", False)
    assert "two" not in error.detail
    assert standin.asked == []
    # It is the format that cannot ask: a failed decision, which cost nothing.
    assert (error.usage, error.unasked) == (Usage(0, 0, 0), False)
    assert make("llm-labels", "openai").decide(Request("s", {"way": odd})).questions

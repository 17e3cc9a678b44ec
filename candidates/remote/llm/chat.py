"""Chat completions as OpenAI defines them, ``POST {endpoint}/v1/chat/completions``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decibench.candidates.adapter import CandidateError, Usage
from decibench.candidates.remote.llm.apis import (
    TOOL,
    TOOL_DESCRIPTION,
    called,
    invalid,
    refused,
    said_text,
    the_call,
    truncated,
)
from decibench.candidates.remote.llm.prompts import Prompt
from decibench.candidates.remote.llm.settings import LLMSettings
from decibench.candidates.remote.prices import ApiName
from decibench.candidates.remote.reading import count_at, counted


class ChatCompletions:
    """Requests and replies of chat completions."""

    name: ApiName = "chat"
    path = "/v1/chat/completions"
    headers: Mapping[str, str] = {}
    key_header = ("Authorization", "Bearer ")

    def body(self, settings: LLMSettings, prompt: Prompt) -> dict[str, Any]:
        """The body; schemas are strict, so that the provider holds the model to them."""
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            settings.max_tokens_field or "max_completion_tokens": settings.max_tokens,
        }
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.effort is not None:
            body["reasoning_effort"] = settings.effort
        if prompt.schema is not None and prompt.by_tool:
            function = {
                "name": TOOL,
                "description": TOOL_DESCRIPTION,
                "parameters": prompt.schema,
                "strict": True,
            }
            body["tools"] = [{"type": "function", "function": function}]
            body["tool_choice"] = {"type": "function", "function": {"name": TOOL}}
        elif prompt.schema is not None:
            held = {"name": TOOL, "schema": prompt.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": held}
        return body

    def said(self, content: Mapping[str, Any], *, by_tool: bool) -> str | dict[str, Any]:
        """The text of the one choice, or the arguments of its one tool call as JSON text."""
        choices = content.get("choices")
        if not isinstance(choices, list) or not choices:
            raise invalid("the reply holds no choices")
        if len(choices) > 1:
            raise CandidateError("several-choices", f"the reply holds {len(choices)} choices; one was asked for")
        [choice] = choices
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            raise invalid("the reply holds no message")
        reason = choice.get("finish_reason")
        if message.get("refusal") or reason == "content_filter":
            raise refused()
        if reason == "length":
            raise truncated()
        # A forced call ends with "stop" or "tool_calls", depending on the server.
        if reason != "stop" and not (by_tool and reason == "tool_calls"):
            raise invalid("the reply does not say that it is complete")
        return _arguments(message) if by_tool else _text(message)

    def usage(self, content: Any) -> Usage:
        """The tokens of prompt and completion; those read from a cache are part of the prompt's."""
        return counted(
            count_at(content, "usage", "prompt_tokens"),
            count_at(content, "usage", "completion_tokens"),
            count_at(content, "usage", "prompt_tokens_details", "cached_tokens"),
        )


def _text(message: Mapping[str, Any]) -> str:
    text = message.get("content")
    if not isinstance(text, str | None):
        raise invalid("the message's content is no text")
    return said_text(text or "")


def _arguments(message: Mapping[str, Any]) -> str:
    calls = message.get("tool_calls")
    call = the_call(calls if isinstance(calls, list) else [])
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise invalid("the tool call holds no function")
    arguments = called(function, function.get("name")).get("arguments")
    if not isinstance(arguments, str):
        raise invalid("the arguments of the tool call are no text")
    return arguments

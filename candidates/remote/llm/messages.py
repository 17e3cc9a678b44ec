"""Messages as Anthropic defines them, ``POST {endpoint}/v1/messages``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decibench.candidates.adapter import Usage
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


class Messages:
    """Requests and replies of messages."""

    name: ApiName = "messages"
    path = "/v1/messages"
    # The version from 2026-10-21 on refuses a temperature, whatever the model.
    headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}
    key_header = ("x-api-key", "")

    def body(self, settings: LLMSettings, prompt: Prompt) -> dict[str, Any]:
        """The body; nothing asks for a cache."""
        body: dict[str, Any] = {
            "model": settings.model,
            "system": prompt.system,
            "messages": [{"role": "user", "content": prompt.user}],
            "max_tokens": settings.max_tokens,
        }
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.thinking_budget_tokens is not None:
            body["thinking"] = {"type": "enabled", "budget_tokens": settings.thinking_budget_tokens}
        elif settings.thinking is not None:
            body["thinking"] = {"type": settings.thinking}
        output: dict[str, Any] = {}
        if settings.effort is not None:
            output["effort"] = settings.effort
        if prompt.schema is not None and prompt.by_tool:
            # Not strict: models that a tool can be forced on are those from before strict tools.
            body["tools"] = [{"name": TOOL, "description": TOOL_DESCRIPTION, "input_schema": prompt.schema}]
            body["tool_choice"] = {"type": "tool", "name": TOOL, "disable_parallel_tool_use": True}
        elif prompt.schema is not None:
            output["format"] = {"type": "json_schema", "schema": prompt.schema}
        return body | ({"output_config": output} if output else {})

    def said(self, content: Mapping[str, Any], *, by_tool: bool) -> str | dict[str, Any]:
        """The text blocks joined, or the input of the one tool call; other blocks, such as thinking, are skipped."""
        reason = content.get("stop_reason")
        if reason == "refusal":
            raise refused()
        if reason in ("max_tokens", "model_context_window_exceeded"):
            raise truncated()
        if reason != "end_turn" and not (by_tool and reason == "tool_use"):
            raise invalid("the reply does not say that it is complete")
        blocks = content.get("content")
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise invalid("the reply holds no list of content blocks")
        return _input(blocks) if by_tool else _text(blocks)

    def usage(self, content: Any) -> Usage:
        """The tokens of input and output; the API states those written to and read from a cache beside the others."""
        stated = content.get("usage") if isinstance(content, dict) else None
        stated = stated if isinstance(stated, dict) else {}
        read, written = "cache_read_input_tokens", "cache_creation_input_tokens"
        # The API leaves out, or sets to null, what a request without a cache does not have.
        parts = [
            count_at(stated, "input_tokens"),
            *(count_at(stated, k) for k in (read, written) if stated.get(k) is not None),
        ]
        total = None if None in parts else sum(part for part in parts if part is not None)
        return counted(total, count_at(stated, "output_tokens"), count_at(stated, read))


def _text(blocks: list[dict[str, Any]]) -> str:
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    if not all(isinstance(text, str) for text in texts):
        raise invalid("a text block holds no text")
    return said_text("".join(map(str, texts)))


def _input(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    call = the_call([block for block in blocks if block.get("type") == "tool_use"])
    given = called(call, call.get("name")).get("input")
    if not isinstance(given, dict):
        raise invalid("the input of the tool call is no object")
    return given

"""Who a remote candidate is: whatever a server is told in another way makes another candidate."""

from __future__ import annotations

from typing import Any

import pytest

from decibench.candidates.adapter import Identity
from decibench.candidates.registry import REGISTRY
from decibench.candidates.remote.llm.chat import ChatCompletions
from decibench.candidates.remote.systemone import SystemOne
from decibench.cases.request import Request

REMOTE = [name for name, entry in REGISTRY.items() if entry.remote and name != "jev"]
TOOL = {"schema_mode": "tool"}
ANTHROPIC = {"provider": "anthropic"}


def identity(adapter: str, **settings: Any) -> Identity:
    entry = REGISTRY[adapter]
    given: dict[str, Any] = {"endpoint": "http://127.0.0.1:1", "model": "m"}
    if adapter.startswith("llm-"):
        given |= {"provider": "openai", "max_tokens": 9}
    return entry.wire(entry.settings_model.model_validate({**given, **settings})).identity


def everything(wire: SystemOne, request: Request) -> list[dict[str, Any]]:
    """Bodies that keep criteria which are empty."""
    asked = request.to_wire()
    return [{"state": asked["state"], "model": wire.settings.model, "questions": asked["questions"]}]


def not_strict(body: Any) -> Any:
    """A body that does not hold the model to the schema."""

    def changed(*given: Any) -> Any:
        made = body(*given)
        made["tools"][0]["function"]["strict"] = False
        return made

    return changed


@pytest.mark.parametrize(
    ("adapter", "settings", "place", "value"),
    [
        ("systemone", {}, "systemone.SystemOne.bodies", everything),
        ("systemone", {}, "systemone.SystemOne.headers", {"x-version": "2"}),
        ("decisions", {}, "decisions._instructions", lambda question: question.instructions),
        ("decisions", {}, "decisions._text", lambda state: str(state)),
        ("llm-labels", TOOL, "llm.chat.TOOL", "reply"),
        ("llm-labels", TOOL, "llm.chat.TOOL_DESCRIPTION", "Answer."),
        ("llm-labels", TOOL, "llm.chat.ChatCompletions.body", not_strict(ChatCompletions.body)),
        ("llm-labels", TOOL | ANTHROPIC, "llm.messages.TOOL", "reply"),
        ("llm-labels", TOOL | ANTHROPIC, "llm.messages.TOOL_DESCRIPTION", "Answer."),
        ("llm-final", ANTHROPIC, "llm.messages.Messages.headers", {"anthropic-version": "2026-10-21"}),
        ("llm-final", {}, "llm.final._SYSTEM", "Answer."),
        ("llm-probabilities", {"schema_mode": "none"}, "llm.probabilities.Probabilities.task", "Answer."),
    ],
)
def test_what_is_asked_in_another_way_is_another_candidate(
    monkeypatch: pytest.MonkeyPatch, adapter: str, settings: dict[str, Any], place: str, value: Any
) -> None:
    before = identity(adapter, **settings)
    assert identity(adapter, **settings) == before
    monkeypatch.setattr(f"decibench.candidates.remote.{place}", value)
    assert identity(adapter, **settings) != before


@pytest.mark.parametrize("adapter", REMOTE)
def test_the_way_of_asking_is_told_apart_from_who_is_asked(adapter: str) -> None:
    one, other = identity(adapter), identity(adapter, model="n", endpoint="http://127.0.0.1:2", expect_model="n-1")
    assert (one.model, one.alias, other.model, other.alias) == ("m", True, "n-1", False)
    assert (one.settings["asked_model"], other.settings["asked_model"]) == ("m", "n")
    assert one.settings["url"] != other.settings["url"]
    assert one.settings["wire_sha256"] == other.settings["wire_sha256"]


def test_every_format_asks_in_a_way_of_its_own() -> None:
    assert len({identity(adapter).settings["wire_sha256"] for adapter in REMOTE}) == len(REMOTE)

"""What the readouts need of a provider's API: requests as bodies, and what the model said in a reply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from decibench.candidates.adapter import CandidateError, Usage
from decibench.candidates.remote.llm.prompts import Prompt
from decibench.candidates.remote.llm.settings import LLMSettings
from decibench.candidates.remote.prices import ApiName

TOOL: Final = "answer"
"""Name of the tool that a model is forced to call, and of the schema it is held to."""

TOOL_DESCRIPTION: Final = "Give the answers to all questions."


class Api(Protocol):
    """An API of language models; keeps no state."""

    name: ApiName
    """As prices are looked up by."""

    path: str
    """Where it is below the provider's endpoint."""

    headers: Mapping[str, str]
    key_header: tuple[str, str]

    def body(self, settings: LLMSettings, prompt: Prompt) -> dict[str, Any]:
        """The JSON body that asks ``prompt``; what is None in the settings is left out."""
        ...

    def said(self, content: Mapping[str, Any], *, by_tool: bool) -> str | dict[str, Any]:
        """The text of a complete reply, or what the model called the tool with: JSON text, or the object itself.

        CandidateError (refused, truncated, empty-reply, missing-tool-call, several-tool-calls, several-choices,
        invalid-reply) where there is none.
        """
        ...

    def usage(self, content: Any) -> Usage:
        """The tokens that a reply states; unknown where it states none. Never raises."""
        ...


def invalid(what: str) -> CandidateError:
    """A reply that has not the shape of its API."""
    return CandidateError("invalid-reply", what)


def refused() -> CandidateError:
    """A reply in which the model, or a filter of the provider, declines to answer."""
    return CandidateError("refused", "the model or a filter of the provider refused to answer")


def truncated() -> CandidateError:
    """A reply that was cut at a limit of tokens: what it holds is not what the model meant to say."""
    return CandidateError("truncated", "the reply was cut off at a limit of tokens; raise max_tokens")


def said_text(text: str) -> str:
    """``text``, if there is any."""
    if not text.strip():
        raise CandidateError("empty-reply", "the reply holds no text")
    return text


def the_call(calls: list[Any]) -> Any:
    """The one call of a tool among ``calls``."""
    if not calls:
        raise CandidateError("missing-tool-call", "the model did not call the tool that it was forced to call")
    if len(calls) > 1:
        raise CandidateError("several-tool-calls", f"the model called tools {len(calls)} times; once was asked for")
    return calls[0]


def called(call: Any, name: object) -> Any:
    """``call``, if it is one of our tool."""
    if name != TOOL:
        raise CandidateError("missing-tool-call", "the model called another tool than it was forced to call")
    return call

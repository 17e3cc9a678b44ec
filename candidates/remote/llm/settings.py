"""What may be set of the readouts of language models; all that can change an answer is recorded."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from decibench.candidates.adapter import JsonScalar
from decibench.candidates.remote.settings import RemoteSettings, UrlPath
from decibench.cases.schema import Text

Provider: TypeAlias = Literal["openai", "anthropic"]
SchemaMode: TypeAlias = Literal["json-schema", "tool", "none"]

_BELONGS_TO: Final[dict[str, Provider]] = {
    "max_tokens_field": "openai",
    "thinking": "anthropic",
    "thinking_budget_tokens": "anthropic",
}
_NOT_SAMPLING: Final = frozenset({*RemoteSettings.model_fields, "path"})
"""What the identity holds in fields of their own, or what cannot change an answer."""

_MOST_TOKENS: Final = 10_000_000
"""More is a slip of the pen, and what a float cannot hold has no price."""


class LLMSettings(RemoteSettings):
    """A language model behind chat completions (``openai``) or messages (``anthropic``), and how it is sampled.

    What is None is not sent, so that the provider's default holds. ``path`` is where the API is below the endpoint,
    None for the provider's own. ``max_tokens`` bounds the tokens of one reply, thinking included; ``max_tokens_field``
    is the name that chat completions know it by (None: max_completion_tokens). ``effort`` is ``reasoning_effort`` of
    chat completions and ``output_config.effort`` of messages. ``thinking`` and ``thinking_budget_tokens`` (at least
    1,024, less than ``max_tokens``) switch the thinking of messages.
    """

    provider: Provider
    path: UrlPath | None = None
    max_tokens: Annotated[int, Field(ge=1, le=_MOST_TOKENS)]
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    effort: Text | None = None
    thinking: Literal["adaptive", "disabled"] | None = None
    thinking_budget_tokens: Annotated[int, Field(ge=1024)] | None = None

    @property
    def sampling(self) -> dict[str, JsonScalar]:
        """Everything set here that can change an answer, beside where and who is asked."""
        return self.model_dump(exclude=set(_NOT_SAMPLING))

    @field_validator(*_BELONGS_TO)
    @classmethod
    def _check_provider(cls, value: Any, info: ValidationInfo) -> Any:
        provider = _BELONGS_TO[str(info.field_name)]
        if value is not None and info.data.get("provider", provider) != provider:
            raise ValueError(f'goes with provider = "{provider}" only; remove it')
        return value

    @field_validator("thinking_budget_tokens")
    @classmethod
    def _check_budget(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and info.data.get("thinking") is not None:
            raise ValueError("already switches thinking on; remove thinking")
        if value is not None and value >= info.data.get("max_tokens", value + 1):
            raise ValueError("must be less than max_tokens, which thinking counts towards")
        return value


def _refuse_decimals(value: object) -> object:
    if value is not None:
        raise ValueError("is the rounding of probabilities, which this readout states none of; remove it")
    return value


NoDecimals: TypeAlias = Annotated[None, BeforeValidator(_refuse_decimals)]


class StructuredSettings(LLMSettings):
    """A model that answers in JSON.

    ``schema_mode`` is how it is held to that: the provider's own JSON schema, a tool that it is forced to call, or
    ``none``, where the schema stands in the prompt only. What a model does not support fails; nothing falls back.
    """

    schema_mode: SchemaMode = "json-schema"


class ProbabilitiesSettings(StructuredSettings):
    """Settings of ``llm-probabilities``; ``decimals`` declares the rounding of the probabilities it states."""


class LabelsSettings(StructuredSettings):
    """Settings of ``llm-labels``."""

    decimals: NoDecimals = None


class FinalSettings(LLMSettings):
    """Settings of ``llm-final``."""

    decimals: NoDecimals = None

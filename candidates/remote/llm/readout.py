"""What the readouts share: who is asked, how bodies are made of prompts, and which model answered."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from decibench.candidates.adapter import Answer, CandidateError, QuestionAnswer, QuestionFailure, Usage
from decibench.candidates.remote.identity import remote_identity
from decibench.candidates.remote.llm.apis import Api
from decibench.candidates.remote.llm.chat import ChatCompletions
from decibench.candidates.remote.llm.messages import Messages
from decibench.candidates.remote.llm.prompts import Prompt
from decibench.candidates.remote.llm.settings import LLMSettings, Provider
from decibench.candidates.remote.prices import ApiName
from decibench.candidates.remote.reading import answered_by
from decibench.cases.request import Request

_APIS: Final[Mapping[Provider, Api]] = {"openai": ChatCompletions(), "anthropic": Messages()}

Answers: TypeAlias = dict[str, QuestionAnswer | QuestionFailure]


class Readout(ABC):
    """The wire format of a language model: prompts of a request, and answers in what the model said."""

    readout: str
    """What is read of a reply: probabilities, labels or final."""

    probability_readout: bool

    def __init__(self, settings: LLMSettings) -> None:
        self._api = _APIS[settings.provider]
        self.settings = settings
        self.api: ApiName = self._api.name
        self.url = settings.endpoint + (settings.path or self._api.path)
        self.headers = self._api.headers
        self.key_header = self._api.key_header
        self.most_output_tokens = settings.max_tokens
        self.identity = remote_identity(
            self, probability_readout=self.probability_readout, readout=self.readout, **settings.sampling
        )

    @abstractmethod
    def prompts(self, request: Request) -> Sequence[Prompt]:
        """What the model is asked, one prompt per reply; CandidateError where it cannot be asked."""

    @abstractmethod
    def answers(self, request: Request, contents: Sequence[Mapping[str, Any]]) -> Answers:
        """The answers in the replies to ``prompts``; a reply without any is the failure of its questions."""

    def bodies(self, request: Request) -> Sequence[Mapping[str, Any]]:
        """One body per prompt."""
        return [self._api.body(self.settings, prompt) for prompt in self.prompts(request)]

    def usage(self, content: Any) -> Usage:
        """The stated tokens."""
        return self._api.usage(content)

    def read(self, request: Request, contents: Sequence[Any]) -> Answer:
        """Read the answers of all questions, which one model has to have given."""
        models = [answered_by(content) for content in contents]
        if len(set(models)) > 1:
            raise CandidateError("wrong-model", "the questions of one request were answered by different models")
        return Answer(self.answers(request, contents), model=models[0])

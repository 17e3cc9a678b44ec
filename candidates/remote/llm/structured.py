"""Answers in JSON: one request for all questions, held to a schema, and read strictly."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from decibench.candidates.adapter import CandidateError, QuestionAnswer, QuestionFailure
from decibench.candidates.remote.llm.prompts import TASK, Prompt, numbered, user_text
from decibench.candidates.remote.llm.readout import Answers, Readout
from decibench.candidates.remote.llm.settings import StructuredSettings
from decibench.cases.jsonio import canonical_json, read_json
from decibench.cases.request import Request
from decibench.cases.schema import Question


class Structured(Readout):
    """A readout whose reply is one JSON object with a value per question."""

    task: str
    """What is asked of every question."""

    def __init__(self, settings: StructuredSettings) -> None:
        self._schema_mode = settings.schema_mode
        super().__init__(settings)

    @abstractmethod
    def schema(self, question: Question) -> dict[str, Any]:
        """The JSON schema of the value of ``question``."""

    @abstractmethod
    def answer(self, value: Any) -> QuestionAnswer | QuestionFailure:
        """The answer that a value is, neither filled in nor corrected."""

    @abstractmethod
    def lenient(self, value: Any) -> str | None:
        """The option that a value names in an object that is not the whole of a reply."""

    def prompts(self, request: Request) -> Sequence[Prompt]:
        """One prompt for all questions."""
        numbers = numbered(request.questions)
        schema = object_of({numbers[key]: self.schema(question) for key, question in request.questions.items()})
        system, user = f"{TASK} {self.task}", user_text(request.state, request.questions)
        if self._schema_mode != "none":
            return [Prompt(system, user, schema, by_tool=self._schema_mode == "tool")]
        asked = "Reply with one JSON object that satisfies this JSON schema, and with nothing else:"
        return [Prompt(system, f"{user}\n\n{asked}\n{canonical_json(schema)}")]

    def answers(self, request: Request, contents: Sequence[Mapping[str, Any]]) -> Answers:
        """The answers in the one reply."""
        [content] = contents
        numbers = numbered(request.questions)
        try:
            said = self._api.said(content, by_tool=self._schema_mode == "tool")
        except CandidateError as error:
            return dict.fromkeys(numbers, QuestionFailure(error.code, error.detail))
        values = _parsed(said) if isinstance(said, str) else said
        if values is None:
            inner = _inner(str(said))
            detail = "the reply is not one JSON object alone"
            return {key: QuestionFailure("format", detail, self.lenient(inner.get(numbers[key]))) for key in numbers}
        unasked = len(values.keys() - set(numbers.values()))
        if unasked:
            failure = QuestionFailure("unasked-question", f"{unasked} answers are to questions that were not asked")
            return dict.fromkeys(numbers, failure)
        return {key: self.answer(values[number]) for key, number in numbers.items() if number in values}


def object_of(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON schema of an object with exactly ``properties``, in the subset that strict schemas allow."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = read_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _inner(text: str) -> dict[str, Any]:
    """What stands between the first and the last brace, such as within a code fence; empty where that is no object."""
    return _parsed(text[text.find("{") : text.rfind("}") + 1]) or {}

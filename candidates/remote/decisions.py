"""``decisions``: the OpenAI-style decisions API, ``POST {endpoint}/v1/decisions``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from decibench.candidates.adapter import Answer, Usage
from decibench.candidates.remote.decisions_reply import TYPES, read_reply
from decibench.candidates.remote.identity import remote_identity
from decibench.candidates.remote.prices import ApiName
from decibench.candidates.remote.reading import stated_usage
from decibench.candidates.remote.settings import RemoteSettings, UrlPath
from decibench.cases.jsonio import canonical_json
from decibench.cases.request import Request
from decibench.cases.schema import Noul, Question, State


class DecisionsSettings(RemoteSettings):
    """A server of the OpenAI-style decisions API.

    ``path`` is where it is asked below the endpoint; servers of the System One body, whatever their path, are asked
    by ``systemone``.
    """

    path: UrlPath = "/v1/decisions"


class Decisions:
    """The wire format of the decisions API.

    Its types of questions are predicate, choice and score, with 2 to 255 choices, 2 to 10 levels and required
    instructions: no case can hold a question that it does not have room for. Its input is text: a state that is JSON
    is sent as compact JSON, in the order it has. A predicate has no criteria: those of a ``noul`` follow its
    instructions.
    """

    api: ApiName = "decisions"
    headers: Mapping[str, str] = {}
    key_header = ("Authorization", "Bearer ")
    most_output_tokens = None

    def __init__(self, settings: DecisionsSettings) -> None:
        self.settings = settings
        self.url = settings.endpoint + settings.path
        self.identity = remote_identity(self, json_states="compact JSON text", noul_criteria="after the instructions")

    def bodies(self, request: Request) -> Sequence[Mapping[str, Any]]:
        """One body for all questions, in order, each named by its id."""
        questions = [_question(name, question) for name, question in request.questions.items()]
        return [{"model": self.settings.model, "input": _text(request.state), "questions": questions}]

    def usage(self, content: Any) -> Usage:
        """The tokens that a reply states; unknown where it counts none."""
        return stated_usage(content)

    def read(self, request: Request, contents: Sequence[Any]) -> Answer:
        """The answers of all questions; see ``read_reply``."""
        [content] = contents
        return read_reply(request, content)


def _text(state: State) -> str:
    return state if isinstance(state, str) else canonical_json(state)


def _question(name: str, question: Question) -> dict[str, Any]:
    asked = {"type": TYPES[question.type], "name": name, "instructions": question.instructions}
    if question.type == "noul":
        return {**asked, "instructions": _instructions(question)}
    if question.type == "choice":
        return {**asked, "choices": [_choice(option, question.describe(option)) for option in question.options]}
    return {**asked, "levels": [{"label": level} for level in question.criteria]}


def _choice(value: str, description: str) -> dict[str, str]:
    return {"value": value, "description": description} if description else {"value": value}


def _instructions(question: Noul) -> str:
    described = [(option, question.describe(option)) for option in question.options]
    criteria = [f"{option.capitalize()} means: {text}" for option, text in described if text]
    return "\n".join([question.instructions, *criteria])

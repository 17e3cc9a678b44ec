"""What a language model is asked: the state and the questions of a request as plain text, and nothing else.

The text holds what the System One body holds. The ids of questions stay behind, as they do there: questions are
numbered q1, q2, ... in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from decibench.cases.jsonio import canonical_json
from decibench.cases.schema import Question, State

TASK: Final = (
    "You are given a state and questions about it. Every question has named options, of which exactly one is the right "
    "answer. Judge by the state. Write the names of options exactly as they are given."
)

_KINDS: Final = {
    "choice": "choose one option",
    "noul": "true or false",
    "score": "choose a level of an ordered scale, the lowest first",
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """The texts of one request to a language model.

    ``schema`` is the JSON schema that the provider holds the reply to, by a tool that the model is forced to call
    where ``by_tool`` is set; None where the reply is free text.
    """

    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    by_tool: bool = False


def numbered(questions: Iterable[str]) -> dict[str, str]:
    """The number that each question id is asked by, in order.

    >>> numbered(["first", "second"])
    {'first': 'q1', 'second': 'q2'}
    """
    return {key: f"q{number}" for number, key in enumerate(questions, 1)}


def user_text(state: State, questions: Mapping[str, Question]) -> str:
    """State and questions, the options in order; a state that is no text is written as JSON.

    >>> from decibench.cases.schema import Noul
    >>> print(user_text("Rain.", {"x": Noul(type="noul", instructions="It is dry.")}))
    <state>
    Rain.
    </state>
    <BLANKLINE>
    q1 (true or false): It is dry.
    Options:
    - true
    - false
    """
    text = state if isinstance(state, str) else canonical_json(state)
    numbers = numbered(questions)
    parts = [f"<state>\n{text}\n</state>", *(_question(numbers[key], question) for key, question in questions.items())]
    return "\n\n".join(parts)


def _question(number: str, question: Question) -> str:
    lines = [f"{number} ({_KINDS[question.type]}): {question.instructions}", "Options:"]
    for option in question.options:
        description = question.describe(option)
        lines.append(f"- {option}: {description}" if description else f"- {option}")
    return "\n".join(lines)

"""``llm-labels``: choices only; nothing is made up for the probabilities that are not stated."""

from __future__ import annotations

from typing import Any

from decibench.candidates.adapter import QuestionAnswer, QuestionFailure
from decibench.candidates.remote.llm.structured import Structured
from decibench.cases.schema import Question


class Labels(Structured):
    """Per question the name of an option."""

    readout = "labels"
    probability_readout = False
    task = "For every question, choose the option that is the right answer."

    def schema(self, question: Question) -> dict[str, Any]:
        """The name of an option."""
        return {"type": "string", "enum": list(question.options)}

    def answer(self, value: Any) -> QuestionAnswer | QuestionFailure:
        """The choice as stated."""
        if not isinstance(value, str):
            return QuestionFailure("format", "the answer is not the name of an option")
        return QuestionAnswer(None, value)

    def lenient(self, value: Any) -> str | None:
        """The choice."""
        return value if isinstance(value, str) else None

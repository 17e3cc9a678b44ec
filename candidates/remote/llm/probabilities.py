"""``llm-probabilities``: a choice and the probability of every option, as the model states them."""

from __future__ import annotations

from typing import Any

from decibench.candidates.adapter import QuestionAnswer, QuestionFailure
from decibench.candidates.remote.llm.structured import Structured, object_of
from decibench.cases.schema import Question


class Probabilities(Structured):
    """Per question an object of ``probabilities``, a key for each option, and the ``choice``.

    The probabilities come first, so that the choice follows from them and not they from it.
    """

    readout = "probabilities"
    probability_readout = True
    task = (
        "For every question, state how probable it is that each option is the right answer, as numbers from 0 to 1 "
        "that sum to 1; then choose the most probable option."
    )

    def schema(self, question: Question) -> dict[str, Any]:
        """Numbers without bounds, which strict schemas do not allow: the rules of a legal answer check them."""
        options = list(question.options)
        return object_of(
            {
                "probabilities": object_of({option: {"type": "number"} for option in options}),
                "choice": {"type": "string", "enum": options},
            }
        )

    def answer(self, value: Any) -> QuestionAnswer | QuestionFailure:
        """Choice and probabilities as stated; a choice that is not there is not chosen for the model."""
        choice = self.lenient(value)
        if choice is None or value.keys() != {"probabilities", "choice"}:
            detail = "the answer does not hold exactly a choice and probabilities"
            return QuestionFailure("format", detail, choice)
        return QuestionAnswer(value["probabilities"], choice)

    def lenient(self, value: Any) -> str | None:
        """The choice."""
        choice = value.get("choice") if isinstance(value, dict) else None
        return choice if isinstance(choice, str) else None

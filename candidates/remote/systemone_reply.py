"""Reading replies of the System One protocol: what it demands is required, what it only recommends is not.

The demands are those of the protocol's public description, which the official client refuses to do without. Whether
a distribution, a choice and a score are legal is left to the rules of all answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from decibench.candidates.adapter import Answer, QuestionAnswer, QuestionFailure
from decibench.candidates.remote.reading import confidence_of, envelope, member
from decibench.cases.distribution import InvalidAnswer, finite_number
from decibench.cases.request import Request
from decibench.cases.schema import Question, Score

_UNASKED: Final = QuestionFailure("unasked-question", "the question was not asked")
"""What stands in the place of an answer to no question: that there is one fails the request, whatever it says."""


def read_reply(request: Request, content: Any) -> Answer:
    """The answers in ``content``, the JSON value of a reply to ``request``; without usage.

    CandidateError where the envelope is broken: see ``envelope``. What is wrong with one answer is the QuestionFailure
    of its question.
    """
    model, answers = envelope(content, dict)
    asked = request.questions
    read = {key: _read(asked[key], answer) if key in asked else _UNASKED for key, answer in answers.items()}
    return Answer(read, model=model)


def _read(question: Question, answer: Any) -> QuestionAnswer | QuestionFailure:
    try:
        if not isinstance(answer, dict):
            raise InvalidAnswer("invalid-answer", f"the answer is {type(answer).__name__}, not an object")
        if answer.get("type") != question.type:
            raise InvalidAnswer("wrong-answer-type", f"the answer does not say that it is of type {question.type}")
        return _answer(question, answer)
    except InvalidAnswer as error:
        return QuestionFailure(error.code, error.detail)


def _answer(question: Question, answer: Mapping[str, Any]) -> QuestionAnswer:
    if question.type == "noul":
        return QuestionAnswer.noul(finite_number(member(answer, "noul", object), "the noul"))
    probabilities = member(answer, "probabilities", dict)
    confidence = confidence_of(answer)
    if question.type == "choice":
        return QuestionAnswer(probabilities, member(answer, "choice", str), confidence)
    _check_legend(question, member(answer, "legend", dict))
    score = finite_number(member(answer, "score", object), "the score")
    return QuestionAnswer(probabilities, confidence=confidence, score=score)


def _check_legend(question: Score, legend: Mapping[str, Any]) -> None:
    levels = dict(zip(question.options, question.criteria, strict=True))
    if set(legend) != set(levels):
        raise InvalidAnswer("legend-keys", f'the keys of the legend are not "0" to "{len(levels) - 1}"')
    if legend != levels:
        raise InvalidAnswer("legend-levels", "the legend does not describe the levels as they were asked")

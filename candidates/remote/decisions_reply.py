"""Reading replies of the OpenAI-style decisions API: what its published description demands is required."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from decibench.candidates.adapter import Answer, CandidateError, QuestionAnswer, QuestionFailure
from decibench.candidates.remote.reading import confidence_of, envelope, member
from decibench.cases.distribution import InvalidAnswer, finite_number
from decibench.cases.request import Request
from decibench.cases.schema import Question, Score

TYPES: Final = {"noul": "predicate", "choice": "choice", "score": "score"}
"""What this API calls the types of questions, of its answers too."""


def read_reply(request: Request, content: Any) -> Answer:
    """The answers in ``content``, the JSON value of a reply to ``request``; without usage.

    Answers come in the order of the questions, each with the name of its question. CandidateError where the envelope
    is broken (see ``envelope``), or there are not as many answers as questions, so that the order means nothing:
    answer-count. What is wrong with one answer, or that it is a refusal, is the QuestionFailure of its question.
    """
    model, answers = envelope(content, list)
    asked = request.questions
    if len(answers) != len(asked):
        raise CandidateError("answer-count", f"{len(answers)} answers to {len(asked)} questions")
    read = {key: _read(key, question, answer) for (key, question), answer in zip(asked.items(), answers, strict=True)}
    return Answer(read, model=model)


def _read(name: str, question: Question, answer: Any) -> QuestionAnswer | QuestionFailure:
    try:
        if not isinstance(answer, dict):
            raise InvalidAnswer("invalid-answer", f"the answer is {type(answer).__name__}, not an object")
        if member(answer, "name", str) != name:
            raise InvalidAnswer("wrong-name", "the answer does not name the question in its place")
        if answer.get("type") == "refusal":
            return QuestionFailure("refused", "the model declined to answer this question")
        if answer.get("type") != TYPES[question.type]:
            raise InvalidAnswer("wrong-answer-type", f"the answer is not of type {TYPES[question.type]}")
        return _answer(question, answer)
    except InvalidAnswer as error:
        return QuestionFailure(error.code, error.detail)


def _answer(question: Question, answer: Mapping[str, Any]) -> QuestionAnswer:
    if question.type == "noul":
        return QuestionAnswer.noul(_probability(answer))
    rows = member(answer, "probabilities", list)
    confidence = confidence_of(answer)
    if question.type == "choice":
        # A boolean value is another option than the text "true".
        probabilities = _mapping([(member(_row(row), "value", str), row) for row in rows])
        return QuestionAnswer(probabilities, member(answer, "choice", str), confidence)
    probabilities = _mapping([(_level(question, _row(row)), row) for row in rows])
    score = finite_number(member(answer, "score", object), "the score")
    return QuestionAnswer(probabilities, confidence=confidence, score=score)


def _row(row: Any) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise InvalidAnswer("invalid-probabilities", f"a row of probabilities is {type(row).__name__}, not an object")
    return row


def _level(question: Score, row: Mapping[str, Any]) -> str:
    """The option of the level that ``row`` is about; its label must be that of the question."""
    index = member(row, "value", object)
    if type(index) is not int or not 0 <= index < len(question.criteria):
        raise InvalidAnswer("invalid-value", f"the value of a level is no index from 0 to {len(question.criteria) - 1}")
    if member(row, "label", str) != question.criteria[index]:
        raise InvalidAnswer("wrong-label", "the label of a level is not the one that was asked")
    return str(index)


def _mapping(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, float]:
    found = {option: _probability(row) for option, row in rows}
    if len(found) != len(rows):
        raise InvalidAnswer("repeated-option", f"{len(rows) - len(found)} probabilities are of options named before")
    return found


def _probability(of: Mapping[str, Any]) -> float:
    return finite_number(member(of, "probability", object), "a probability")

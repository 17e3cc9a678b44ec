"""From a candidate's answer to scored or failed decisions, by the rules of the protocol."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

from decibench.candidates.adapter import Answer, Identity, QuestionAnswer
from decibench.cases.distribution import (
    InvalidAnswer,
    Tolerances,
    check_distribution,
    check_score,
    finite_number,
)
from decibench.cases.schema import Case
from decibench.reports.record import (
    MOST_TOKENS,
    Decision,
    TokenUsage,
    failed_decisions,
    failure_of,
    open_decisions,
)


def score_answer(case: Case, answer: object, identity: Identity, tolerances: Tolerances) -> list[Decision]:
    """One decision per question of ``case``: scored, or failed with the reason.

    A wrong model or an unasked question fails the whole request; anything else fails only its own question.
    """
    try:
        answers = _answers(case, answer, identity)
    except InvalidAnswer as error:
        return failed_decisions(case, failure_of(error.code, error.detail))
    decisions = []
    for asked in open_decisions(case):
        try:
            given = answers.get(asked["question"])
            decisions.append(Decision(**asked, **_scored(asked, given, identity.decimals, tolerances)))
        except InvalidAnswer as error:
            decisions.append(Decision(**asked, failure=failure_of(error.code, error.detail)))
    return decisions


def usage_of(answer: object) -> TokenUsage:
    """The tokens an answer reports; what is not a count is unknown."""
    usage = getattr(answer, "usage", None)
    return TokenUsage(
        input_tokens=_count(getattr(usage, "input_tokens", None)),
        output_tokens=_count(getattr(usage, "output_tokens", None)),
    )


def _answers(case: Case, answer: object, identity: Identity) -> Mapping[str, object]:
    if not isinstance(answer, Answer):
        raise InvalidAnswer("wrong-type", f"decide() returned {type(answer).__name__}, not an Answer")
    if answer.model is not None and answer.model != identity.model:
        raise InvalidAnswer("wrong-model", "another model answered than the identity names")
    if not isinstance(answer.questions, Mapping):
        raise InvalidAnswer("wrong-type", "Answer.questions must map question ids to answers")
    unasked = len(set(answer.questions) - set(case.questions))
    if unasked:
        raise InvalidAnswer("unasked-question", f"{unasked} answers are to questions that were not asked")
    return answer.questions


def _scored(asked: Mapping[str, Any], given: object, decimals: int | None, tolerances: Tolerances) -> dict[str, Any]:
    if given is None:
        raise InvalidAnswer("missing-answer", "the question was not answered")
    if not isinstance(given, QuestionAnswer):
        raise InvalidAnswer("wrong-type", f"the answer is {type(given).__name__}, not a QuestionAnswer")
    checked = check_distribution(
        asked["options"], given.probabilities, given.choice, decimals=decimals, tolerances=tolerances
    )
    score = None
    if asked["type"] == "score" and given.score is not None:
        score = check_score(checked.probabilities, given.score, tolerances)
    return {
        "choice": checked.choice,
        "probabilities": checked.probabilities,
        "raw_sum": checked.raw_sum,
        "tie": checked.tie,
        "score": score,
        "confidence": None if given.confidence is None else finite_number(given.confidence, "the confidence"),
    }


def _count(value: object) -> int | None:
    # numpy integers register as numbers.Integral.
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        return None
    number = int(value)
    return number if 0 <= number <= MOST_TOKENS else None

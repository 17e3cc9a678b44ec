"""From a candidate's answer to scored or failed decisions, by the rules of the protocol."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from decibench.candidates.adapter import (
    MODEL_NAME,
    Answer,
    Attempt,
    Identity,
    QuestionAnswer,
    QuestionFailure,
    RawReply,
    Traffic,
)
from decibench.cases.distribution import (
    InvalidAnswer,
    Tolerances,
    check_choice,
    check_distribution,
    check_score,
    finite_number,
)
from decibench.cases.schema import Case
from decibench.reports.record import (
    MOST_TOKENS,
    Decision,
    EarlierAttempt,
    TokenUsage,
    failed_decisions,
    failure_of,
    open_decisions,
)

_NOT_ASKABLE: Final = "not-askable"
"""The code of a request whose format cannot put its questions."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What a request took beside its decisions, as its answer or its error tells: see Traffic of the adapter.

    ``model`` is the model that says it answered, where what it says is a name and no other text. What was not ``asked``
    has no time: its format could not put the questions, and nothing was sent. A refused connection took the time that
    it took.
    ``raw`` are the replies that may be kept, as JSON: ``status`` and ``text``.
    """

    usage: TokenUsage = field(default_factory=TokenUsage)
    earlier: Sequence[EarlierAttempt] = ()
    waited_s: float = 0.0
    held_s: float = 0.0
    raw: Sequence[Mapping[str, int | str]] = field(default=(), repr=False)
    model: str | None = None
    asked: bool = True

    def latency_of(self, seconds: float) -> float | None:
        """The seconds of the attempt that counts, of the ``seconds`` that the candidate took in all."""
        if not self.asked:
            return None
        others = sum((attempt.seconds or 0.0) + attempt.waited_s for attempt in self.earlier)
        return max(0.0, seconds - others - self.waited_s - self.held_s)


def costs_of(told: object) -> Costs:
    """What an answer or an error tells of its costs; what is not of the right kind is unknown."""
    traffic, model = getattr(told, "traffic", None), getattr(told, "model", None)
    named = type(model) is str and MODEL_NAME.fullmatch(model) is not None
    asked = getattr(told, "code", None) != _NOT_ASKABLE
    found = Costs(usage=_usage(getattr(told, "usage", None)), model=model if named else None, asked=asked)
    if not isinstance(traffic, Traffic):
        return found
    return replace(
        found,
        earlier=[_earlier(attempt) for attempt in traffic.earlier if isinstance(attempt, Attempt)],
        waited_s=_seconds(traffic.waited_s),
        held_s=_seconds(traffic.held_s),
        raw=[_raw(reply) for reply in traffic.raw if isinstance(reply, RawReply)],
    )


def _earlier(attempt: Attempt) -> EarlierAttempt:
    return EarlierAttempt(
        seconds=_seconds(attempt.seconds),
        waited_s=_seconds(attempt.waited_s),
        code=failure_of(attempt.code, "").code,
        usage=_usage(attempt.usage),
    )


def _seconds(value: object) -> float:
    # A candidate of one's own may say anything; only a plain number reaches a record.
    return max(0.0, finite_number(value, "a time"))


def _raw(reply: RawReply) -> dict[str, int | str]:
    # A lone surrogate would break the channel between two processes.
    return {"status": int(reply.status), "text": str(reply.text).encode(errors="backslashreplace").decode()}


def score_answer(
    case: Case, answer: object, identity: Identity, tolerances: Tolerances, *, answering: str | None = None
) -> list[Decision]:
    """One decision per question of ``case``: scored, or failed with the reason.

    A wrong model or an unasked question fails the whole request; anything else fails only its own question.
    ``answering`` is the model that answered earlier, where the identity names an alias.
    """
    try:
        answers = _answers(case, answer, identity, answering)
    except InvalidAnswer as error:
        return failed_decisions(case, failure_of(error.code, error.detail))
    decisions = []
    for asked in open_decisions(case):
        try:
            given = answers.get(asked["question"])
            decisions.append(Decision(**asked, **_scored(asked, given, identity, tolerances)))
        except InvalidAnswer as error:
            decisions.append(Decision(**asked, failure=failure_of(error.code, error.detail)))
    return decisions


def _answers(case: Case, answer: object, identity: Identity, answering: str | None) -> Mapping[str, object]:
    if not isinstance(answer, Answer):
        raise InvalidAnswer("wrong-type", f"decide() returned {type(answer).__name__}, not an Answer")
    expected = answering if identity.alias else identity.model
    if answer.model is not None and expected is not None and answer.model != expected:
        who = "answered before" if identity.alias else "the identity names"
        raise InvalidAnswer("wrong-model", f"another model answered than {who}")
    if not isinstance(answer.questions, Mapping):
        raise InvalidAnswer("wrong-type", "Answer.questions must map question ids to answers")
    unasked = len(set(answer.questions) - set(case.questions))
    if unasked:
        raise InvalidAnswer("unasked-question", f"{unasked} answers are to questions that were not asked")
    return answer.questions


def _scored(asked: Mapping[str, Any], given: object, identity: Identity, tolerances: Tolerances) -> dict[str, Any]:
    if given is None:
        raise InvalidAnswer("missing-answer", "the question was not answered")
    if isinstance(given, QuestionFailure):
        lenient = given.lenient if given.lenient in asked["options"] else None
        return {"failure": failure_of(given.code, given.detail), "lenient_choice": lenient}
    if not isinstance(given, QuestionAnswer):
        raise InvalidAnswer("wrong-type", f"the answer is {type(given).__name__}, not a QuestionAnswer")
    if not identity.probability_readout:
        return {"choice": check_choice(asked["options"], given.probabilities, given.choice)}
    checked = check_distribution(
        asked["options"], given.probabilities, given.choice, decimals=identity.decimals, tolerances=tolerances
    )
    score = None
    if asked["type"] == "score" and given.score is not None:
        score = check_score(checked.probabilities, given.score, tolerances, decimals=identity.decimals)
    return {
        "choice": checked.choice,
        "probabilities": checked.probabilities,
        "raw_sum": checked.raw_sum,
        "tie": checked.tie,
        "score": score,
        "confidence": None if given.confidence is None else finite_number(given.confidence, "the confidence"),
    }


def _usage(usage: object) -> TokenUsage:
    """The tokens that ``usage`` reports; what is not a count is unknown."""
    return TokenUsage(
        input_tokens=_count(getattr(usage, "input_tokens", None)),
        output_tokens=_count(getattr(usage, "output_tokens", None)),
        cached_tokens=_count(getattr(usage, "cached_tokens", None)),
    )


def _count(value: object) -> int | None:
    # numpy integers register as numbers.Integral.
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        return None
    number = int(value)
    return number if 0 <= number <= MOST_TOKENS else None

"""What a candidate sees of a case: the state and the questions, and nothing else."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass
from typing import Any

from decibench.cases.jsonio import canonical_json
from decibench.cases.schema import Case, Question, State


@dataclass(frozen=True, slots=True)
class Request:
    """A state and its questions by id, in order. References, ids, families, variants and splits stay behind."""

    state: State
    questions: dict[str, Question]

    def to_wire(self) -> dict[str, Any]:
        """The System One body without ``model``: ``{"state": ..., "questions": {id: {...}}}``; a fresh copy."""
        return {
            "state": copy.deepcopy(self.state),
            "questions": {key: question.to_wire() for key, question in self.questions.items()},
        }


def request_of(case: Case) -> Request:
    """The request of a case, copied so that a candidate cannot change the suite by editing what it was given."""
    state = case.state if isinstance(case.state, str) else copy.deepcopy(case.state)
    # The models are frozen; only what hangs in them could be edited.
    questions = {
        key: question.model_copy(update={"criteria": copy.copy(question.criteria)})
        for key, question in case.questions.items()
    }
    return Request(state, questions)


def request_hash(case: Case) -> str:
    """SHA-256 (hex) of the request of ``case``; the order of questions and options counts."""
    questions = {key: question.to_wire() for key, question in case.questions.items()}
    text = canonical_json({"state": case.state, "questions": questions})
    return hashlib.sha256(text.encode()).hexdigest()

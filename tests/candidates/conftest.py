"""Requests made of questions in short form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from decibench.candidates.adapter import Candidate, QuestionAnswer
from decibench.cases.request import Request
from decibench.cases.schema import Choice


@pytest.fixture
def choice() -> Callable[..., Choice]:
    """A choice question over the given options."""

    def make(instructions: str = "Which?", **options: str | None) -> Choice:
        return Choice(type="choice", instructions=instructions, criteria=options)

    return make


@pytest.fixture
def ask() -> Callable[..., QuestionAnswer]:
    """Ask a candidate one question about a state."""

    def answer(candidate: Candidate, state: Any, question: Any) -> QuestionAnswer:
        answers = candidate.decide(Request(state, {"q": question})).questions
        assert list(answers) == ["q"]
        answered = answers["q"]
        assert isinstance(answered, QuestionAnswer)
        return answered

    return answer

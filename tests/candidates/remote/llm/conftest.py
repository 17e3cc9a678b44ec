"""A stand-in of both providers, and readouts that ask it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from decibench.bench_tests.answers import score_answer
from decibench.candidates.adapter import Candidate, CandidateError
from decibench.candidates.registry import REGISTRY
from decibench.candidates.remote.allowance import Allowance
from decibench.candidates.setup import Setup
from decibench.cases.distribution import DEFAULT_TOLERANCES
from decibench.cases.request import Request, request_of
from decibench.cases.schema import Case

if TYPE_CHECKING:
    from tests.candidates.remote.llm.standin import StandIn

Make: TypeAlias = Callable[..., Candidate]

QUESTIONS: Mapping[str, Any] = {
    "secret-id-way": {
        "type": "choice",
        "instructions": "Which way?",
        "criteria": {"left": "Turn left.", "right": None, "hand_off": "Ask a person."},
    },
    "secret-id-dry": {"type": "noul", "instructions": "It is dry.", "criteria": {"true": "No rain at all."}},
    "secret-id-wind": {"type": "score", "instructions": "How windy is it?", "criteria": ["Calm.", "Windy."]},
}


def _load_standin() -> Any:
    # A helper beside the tests is no module that pytest imports.
    path = Path(__file__).with_name("standin.py")
    spec = importlib.util.spec_from_file_location("llm_standin", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["llm_standin"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def shapes() -> Any:
    """The module of the stand-in, which makes replies."""
    return _load_standin()


@pytest.fixture(scope="session")
def server(shapes: Any) -> Iterator[StandIn]:
    """The stand-in of all tests."""
    with shapes.running() as running:
        yield running


@pytest.fixture
def standin(server: StandIn) -> StandIn:
    """The stand-in, as if nothing had been asked yet."""
    server.asked.clear()
    server.replies.clear()
    return server


@pytest.fixture(scope="session")
def made() -> Iterator[dict[str, Candidate]]:
    """Readouts that were made; they keep nothing of a request, and making one reads all certificates."""
    candidates: dict[str, Candidate] = {}
    yield candidates
    for candidate in candidates.values():
        candidate.close()


@pytest.fixture
def make(standin: StandIn, made: dict[str, Candidate]) -> Make:
    """Make a readout that asks the stand-in: ``make("llm-labels", "openai", temperature=0)``."""

    def build(adapter: str, provider: str, **settings: Any) -> Candidate:
        key = f"{adapter} {provider} {settings}"
        if key not in made:
            entry = REGISTRY[adapter]
            given = {"endpoint": standin.url, "model": "asked-model", "max_tokens": 500, "provider": provider}
            chosen = entry.settings_model.model_validate({**given, **settings})
            made[key] = entry.create(Setup("cpu", chosen, (), Allowance()))
        return made[key]

    return build


@pytest.fixture
def case_of() -> Callable[..., Case]:
    """Make a case of the named questions above (all of them)."""

    def build(*names: str, state: Any = "The road forks.") -> Case:
        questions = {key: value for key, value in QUESTIONS.items() if not names or key.rsplit("-", 1)[1] in names}
        row = {"id": "secret-case", "group": "secret-group", "family": "secret-family", "variant": "secret-variant"}
        references = {key: {"expected": "x"} for key in questions}
        more = {"split": "holdout", "state": state, "questions": questions, "references": references}
        return Case.model_validate({**row, **more})

    return build


@pytest.fixture
def ask_for(case_of: Callable[..., Case]) -> Callable[..., Request]:
    """Make a request of the named questions above (all of them), as a suite asks them."""
    return lambda *names, **more: request_of(case_of(*names, **more))


@pytest.fixture
def outcomes(case_of: Callable[..., Case]) -> Callable[..., list[tuple[str, str | None]]]:
    """Ask the named questions and score the answer: for each "valid" and the choice, or a code and the lenient one."""

    def of(candidate: Candidate, *names: str) -> list[tuple[str, str | None]]:
        case = case_of(*names)
        try:
            answer = candidate.decide(request_of(case))
        except CandidateError as error:
            return [(error.code, None)] * len(case.questions)
        decisions = score_answer(case, answer, candidate.identity, DEFAULT_TOLERANCES)
        return [
            ("valid", decision.choice) if decision.failure is None else (decision.failure.code, decision.lenient_choice)
            for decision in decisions
        ]

    return of


@pytest.fixture
def failure() -> Callable[[Candidate, Request], CandidateError]:
    """The error that a request ends with."""

    def of(candidate: Candidate, request: Request) -> CandidateError:
        with pytest.raises(CandidateError) as caught:
            candidate.decide(request)
        return caught.value

    return of

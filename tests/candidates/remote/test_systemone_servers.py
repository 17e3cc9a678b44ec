"""Servers of the System One protocol that others wrote: sparrow-decider, and dev-double with its mock engine."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from decibench.bench_tests.answers import score_answer
from decibench.candidates.adapter import Candidate, CandidateError, Usage
from decibench.candidates.registry import REGISTRY
from decibench.candidates.remote.systemone import SystemOneSettings
from decibench.candidates.settings import ModelSettings
from decibench.candidates.setup import Setup
from decibench.cases.loading import find_suite, load_suite
from decibench.cases.request import request_of
from decibench.cases.schema import Case
from decibench.reports.protocol import DEFAULT_PROTOCOL
from decibench.reports.record import Decision, failed_decisions, failure_of

SPARROW = "sparrow-nano-general-v1.1"
HALF_STEP = 0.00005
"""Of four decimals."""
KINDS = {"choice", "noul", "score"}

Connect = Callable[..., Candidate]


@pytest.fixture(scope="module")
def start() -> Iterator[Callable[..., str]]:
    """Start a server by its command and options, wait until it accepts connections, and return its URL."""
    running: list[subprocess.Popen[bytes]] = []

    def begin(program: str, *options: str) -> str:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [str(Path(sys.executable).with_name(program)), *options, "--host", "127.0.0.1", "--port", str(port)]
        running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        until = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
            except OSError:
                assert running[-1].poll() is None, f"{program} ended"
                assert time.monotonic() < until, f"{program} does not listen"
                time.sleep(0.05)
            else:
                return f"http://127.0.0.1:{port}"

    yield begin
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def connect() -> Iterator[Connect]:
    """Make the ``systemone`` candidate that asks a server."""
    made: list[Candidate] = []

    def make(url: str, **settings: Any) -> Candidate:
        made.append(REGISTRY["systemone"].create(Setup("cpu", SystemOneSettings(endpoint=url, **settings))))
        return made[-1]

    yield make
    for candidate in made:
        candidate.close()


@pytest.fixture(scope="module")
def sparrow_server(start: Callable[..., str]) -> str:
    pytest.importorskip("sparrow_decider", reason="the extra sparrow is not installed")
    return start("sparrow-decider", "serve")


@pytest.fixture(scope="module")
def dev_double(start: Callable[..., str]) -> str:
    return start("dev-double", "serve", "--engine", "mock")


def asked(candidate: Candidate, case: Case) -> list[Decision]:
    """The decisions of a case, as a run would record them."""
    try:
        answer = candidate.decide(request_of(case))
    except CandidateError as error:
        return failed_decisions(case, failure_of(error.code, error.detail, fatal=error.fatal))
    return score_answer(case, answer, candidate.identity, DEFAULT_PROTOCOL.tolerances)


def asked_all(candidate: Candidate, cases: Sequence[Case]) -> Iterator[tuple[Case, list[Decision]]]:
    """The decisions of all cases in their order, of which a few are asked at a time."""
    with ThreadPoolExecutor(4) as pool:
        yield from zip(cases, pool.map(partial(asked, candidate), cases), strict=True)


@pytest.mark.parametrize(("suite", "decisions", "too_long"), [("decisions-v0", 480, 0), ("decisions-v1", 4334, 69)])
def test_a_served_sparrow_decides_as_the_one_in_this_process(
    sparrow_server: str, connect: Connect, suite: str, decisions: int, too_long: int
) -> None:
    served = connect(sparrow_server, model=SPARROW, expect_model=SPARROW, decimals=4)
    own = REGISTRY["sparrow"].create(Setup("cpu", ModelSettings()))
    found: Counter[str] = Counter()
    for case, answered in asked_all(served, load_suite(find_suite(suite)).cases):
        for mine, theirs in zip(asked(own, case), answered, strict=True):
            assert theirs.failure is None, case.id
            if mine.failure is not None:
                # The server cuts such a text silently.
                found[mine.failure.code.partition("-")[2]] += 1
                continue
            found["same" if mine.choice == theirs.choice else "tie" if theirs.tie else "another"] += 1
            for option, probability in (mine.probabilities or {}).items():
                assert stated(theirs)[option] == pytest.approx(probability, abs=HALF_STEP + 1e-6), case.id
    assert found["too-long"] == too_long
    assert found["another"] == 0
    assert found.total() == decisions


def stated(decision: Decision) -> dict[str, float]:
    """The probabilities as they were before they were made to sum to 1."""
    assert decision.probabilities is not None
    assert decision.raw_sum is not None
    return {option: probability * decision.raw_sum for option, probability in decision.probabilities.items()}


def test_a_server_that_counts_no_tokens_leaves_them_unknown(sparrow_server: str, connect: Connect) -> None:
    case = load_suite(find_suite("decisions-v0")).cases[0]
    answer = connect(sparrow_server, model=SPARROW).decide(request_of(case))
    assert (answer.model, answer.usage) == (SPARROW, Usage())


@pytest.mark.parametrize(("suite", "every", "kinds"), [("decisions-v0", 1, {"choice"}), ("decisions-v1", 7, KINDS)])
def test_dev_double_answers_all_but_more_than_26_options_and_blank_states(
    dev_double: str, connect: Connect, suite: str, every: int, kinds: set[str]
) -> None:
    candidate = connect(dev_double, model="any-name", decimals=4)
    answered, refused = set(), 0
    for case, decisions in asked_all(candidate, load_suite(find_suite(suite)).cases[::every]):
        refuses = case.state == "" or any(len(question.options) > 26 for question in case.questions.values())
        expected = {"bad-request"} if refuses else {None}
        assert {decision.failure and decision.failure.code for decision in decisions} == expected, case.id
        refused += refuses
        answered |= {decision.type for decision in decisions if decision.failure is None}
    assert answered == kinds
    assert (refused > 0) == (suite == "decisions-v1")


def test_dev_double_counts_tokens_and_repeats_the_name_that_it_was_asked_by(dev_double: str, connect: Connect) -> None:
    case = load_suite(find_suite("decisions-v0")).cases[0]
    answer = connect(dev_double, model="any-name").decide(request_of(case))
    assert answer.model == "any-name"
    assert (answer.usage.input_tokens or 0) > 0
    assert (answer.usage.output_tokens or 0) > 0


@pytest.mark.parametrize(("options", "code"), [(26, None), (27, "bad-request")])
def test_the_options_that_dev_double_takes(
    dev_double: str, connect: Connect, row: Callable[..., dict[str, Any]], options: int, code: str | None
) -> None:
    criteria = {f"option {number}": f"Thing {number}." for number in range(options)}
    question = {"type": "choice", "instructions": "Which?", "criteria": criteria}
    case = Case.model_validate(row("one-001", expected="option 0", questions={"way": question}))
    [decision] = asked(connect(dev_double, model="any-name", decimals=4), case)
    assert (decision.failure and decision.failure.code) == code

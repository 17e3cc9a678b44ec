"""The requests of the load test are frozen, and no state of them repeats another or one of the latency grid."""

from __future__ import annotations

import hashlib
from collections import Counter

from decibench.cases.latency import SHAPES, latency_case
from decibench.cases.load import QUESTIONS, REQUESTS, load_case
from decibench.cases.request import request_hash

NUMBERS = range(23 * REQUESTS)
LOAD_SHA256 = "3bbf06416628d05e6dbf0677b43310f5a4d9c9e9df25b4439bfdede77b718b17"


def test_the_requests_are_the_frozen_ones() -> None:
    hashes = [request_hash(load_case(number)) for number in NUMBERS]
    assert hashlib.sha256("\n".join(hashes).encode()).hexdigest() == LOAD_SHA256


def test_a_request_mixes_a_hundred_questions() -> None:
    questions = load_case(0).questions.values()
    assert len(questions) == QUESTIONS == 100
    assert Counter(question.type for question in questions) == {"choice": 40, "noul": 40, "score": 20}
    assert len({question.instructions for question in questions}) == 100
    assert {len(question.options) for question in questions} == {2, 3, 4, 5}


def test_every_request_asks_the_same_of_another_state() -> None:
    cases = [load_case(number) for number in NUMBERS]
    assert len({str(case.state) for case in cases}) == len(cases)
    assert all(case.questions == cases[0].questions for case in cases)


def test_no_state_begins_like_another_or_like_one_of_the_latency_grid() -> None:
    states = [str(load_case(number).state) for number in NUMBERS]
    states += [str(latency_case(shape, number).state) for shape in SHAPES for number in range(23)]
    assert len({tuple(state.split()[:4]) for state in states}) == len(states)

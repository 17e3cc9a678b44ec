"""The latency grid is frozen, and no request of it repeats another."""

from __future__ import annotations

import hashlib
import re

from decibench.cases.latency import SHAPES, latency_case
from decibench.cases.request import request_hash

PER_SHAPE = 23
GRID_SHA256 = "fed5043f1c2a24170233c4a40a95b1083bba8ff5e343df382b7984d9202b64e3"


def test_the_requests_are_the_frozen_ones() -> None:
    hashes = [request_hash(latency_case(shape, number)) for shape in SHAPES for number in range(PER_SHAPE)]
    assert hashlib.sha256("\n".join(hashes).encode()).hexdigest() == GRID_SHA256


def test_the_grid_crosses_lengths_options_and_questions() -> None:
    assert len(SHAPES) == 18
    assert {shape.words for shape in SHAPES} == {30, 300, 3000}
    assert {shape.options for shape in SHAPES} == {2, 8, 32}
    assert {shape.questions for shape in SHAPES} == {1, 4}
    assert all(re.fullmatch(r"[a-z0-9-]+", shape.id) for shape in SHAPES)


def test_a_request_has_the_size_that_its_shape_names() -> None:
    for shape in SHAPES:
        case = latency_case(shape, 0)
        assert len(str(case.state).split()) == shape.words
        assert [len(set(question.options)) for question in case.questions.values()] == [shape.options] * shape.questions


def test_no_two_states_begin_alike() -> None:
    states = [str(latency_case(shape, number).state) for shape in SHAPES for number in range(PER_SHAPE)]
    assert len({tuple(state.split()[:4]) for state in states}) == len(states)

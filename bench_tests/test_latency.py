"""Requests of the latency grid, asked of every candidate and timed; collected only with ``--latency``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from decibench.bench_tests.latency_grid import ROUNDS, WARM_UPS, CannotGoOn, Rounds, failed_sentence
from decibench.bench_tests.pool import Pool
from decibench.cases.latency import Shape
from decibench.reports.record import Failure

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture


@pytest.mark.filterwarnings("ignore:Benchmark fixture was not used")  # Where a candidate cannot be built.
def test_latency(
    candidate: str,
    words: int,
    options: int,
    questions: int,
    candidates: Pool,
    benchmark: BenchmarkFixture,
    request: pytest.FixtureRequest,
) -> None:
    """Time requests of one shape. Failed ones count like any other, and fail the item when all is measured."""
    snapshot = candidates.load(candidate)
    if isinstance(snapshot, Failure):
        pytest.fail(f"{candidate} could not be built: {snapshot.code}: {snapshot.detail}", pytrace=False)
    shape = Shape(words, options, questions)
    rounds = Rounds(candidates, candidate, shape)
    benchmark.group = shape.id
    time: Callable[..., None] = benchmark.pedantic
    try:
        time(rounds.ask, setup=rounds.prepare, rounds=ROUNDS, warmup_rounds=WARM_UPS, iterations=1)
    except CannotGoOn as error:
        request.session.shouldstop = f"{candidate} cannot go on: {error.failure.detail}"
        pytest.fail(f"{error.failure.code}: {error.failure.detail}", pytrace=False)
    failures = rounds.failures()
    benchmark.extra_info.update(rounds.facts(snapshot, len(failures)))
    if failures:
        pytest.fail(failed_sentence(failures), pytrace=False)

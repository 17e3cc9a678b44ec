"""The latency grid as pytest items, and what the rounds of one of them came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from decibench.bench_tests.guard import failure_from
from decibench.bench_tests.identity import Snapshot
from decibench.bench_tests.plan import Plan
from decibench.bench_tests.pool import Pool, Reply
from decibench.cases.latency import SHAPES, Shape, latency_case
from decibench.cases.request import Request, request_of
from decibench.cases.schema import Case
from decibench.reports.latency import latency_stats
from decibench.reports.record import Failure

_FILE: Final = Path(__file__).resolve().with_name("test_latency.py")
WARM_UPS: Final = 3
ROUNDS: Final = 20

NAMES: Final = ("candidate", "words", "options", "questions")
Cell: TypeAlias = tuple[str, int, int, int]
"""The parameters of an item, by ``NAMES``: plain values, so that ``--benchmark-group-by=param:words`` works."""


def is_grid(path: Path) -> bool:
    """Whether ``path`` is the file of the grid, by whatever links it is reached."""
    return path.name == _FILE.name and path.resolve() == _FILE


def cells(plan: Plan) -> Iterator[tuple[str, Cell]]:
    """The items of the grid with their ids, in the order in which they are timed."""
    for name, shape in plan.in_turn(SHAPES):
        yield f"{name}-{shape.id}", (name, shape.words, shape.options, shape.questions)


class CannotGoOn(Exception):
    """A failure that must stop the run, such as refused credentials."""

    def __init__(self, failure: Failure) -> None:
        self.failure: Final = failure
        super().__init__(failure.detail)


@dataclass
class Rounds:
    """Requests of one shape to one candidate, each asked once; the first ``WARM_UPS`` do not count."""

    pool: Pool
    candidate: str
    shape: Shape
    _asked: list[tuple[Case, Reply]] = field(default_factory=list)
    _next: Case | None = None

    def prepare(self) -> tuple[tuple[Request], dict[str, Any]]:
        """The arguments of the next ``ask``: a request that was never asked before."""
        self._next = latency_case(self.shape, len(self._asked))
        return (request_of(self._next),), {}

    def ask(self, request: Request) -> None:
        """Ask, and keep what comes back: it is judged after the clock has stopped."""
        reply = self.pool.ask(self.candidate, request)
        assert self._next is not None
        self._asked.append((self._next, reply))
        if reply.error is not None:
            failure = failure_from(reply.error, "exception")
            if failure.fatal:
                raise CannotGoOn(failure)

    def failures(self) -> list[Failure]:
        """Why timed requests failed, one entry for each that did."""
        judged = (self.pool.failure_of(self.candidate, case, reply) for case, reply in self._timed)
        return [failure for failure in judged if failure is not None]

    def facts(self, snapshot: Snapshot, failed: int) -> dict[str, Any]:
        """What pytest-benchmark keeps beside its own statistics; ``failed`` requests are in all of them."""
        stats = latency_stats([reply.seconds for _, reply in self._timed])
        assert stats is not None
        return {
            "candidate": self.candidate,
            "candidate_hash": snapshot.candidate_hash,
            "device": snapshot.identity.device,
            "model": snapshot.identity.model,
            "words": self.shape.words,
            "options": self.shape.options,
            "questions": self.shape.questions,
            "requests": stats.requests,
            "failed": failed,
            "p50_s": stats.p50_s,
        }

    @property
    def _timed(self) -> Sequence[tuple[Case, Reply]]:
        # With --benchmark-cprofile one more request is asked at the end, under the profiler.
        return self._asked[WARM_UPS : WARM_UPS + ROUNDS]


def failed_sentence(failures: Sequence[Failure]) -> str:
    """How many requests failed, and each reason once.

    >>> failed_sentence([Failure(code="too-long", detail="does not fit")] * 3)
    '3 of 20 requests failed: too-long: does not fit'
    """
    reasons = dict.fromkeys(f"{failure.code}: {failure.detail}" for failure in failures)
    return f"{len(failures)} of {ROUNDS} requests failed: {'; '.join(reasons)}"

"""The load test as pytest items: ticks of many requests at once, and what they came to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias, get_args

from decibench.bench_tests.answers import costs_of
from decibench.bench_tests.guard import failure_from
from decibench.bench_tests.latency_grid import CannotGoOn
from decibench.bench_tests.load_cache import CacheReader, moved, total
from decibench.bench_tests.plan import Plan
from decibench.bench_tests.pool import Pool, Reply
from decibench.cases.load import REQUESTS, load_case
from decibench.cases.request import Request, request_hash, request_of
from decibench.cases.schema import Case
from decibench.reports.latency import Prices
from decibench.reports.load import Arm, CacheCounts, LoadReport, States, Tick, arm_of, tick_of
from decibench.reports.record import Failure, Record, record_of

_FILE: Final = Path(__file__).resolve().with_name("test_load.py")

ARMS: Final[tuple[States, ...]] = get_args(States)
WARM_UPS: Final = 2
"""Ticks of each arm that open the connections, and fill a cache with the repeated states."""

TICKS: Final = 20
"""Counted ticks of each arm: the fewest of which the p95 does not hang on the slowest alone. It lies beside the second
slowest. More would cost more."""

NAMES: Final = ("candidate",)
Cell: TypeAlias = tuple[str]
"""The parameters of an item, by ``NAMES``."""


def is_load(path: Path) -> bool:
    """Whether ``path`` is the file of the load test, by whatever links it is reached."""
    return path.name == _FILE.name and path.resolve() == _FILE


def cells(plan: Plan) -> Iterator[tuple[str, Cell]]:
    """The items of the load test with their ids: one per candidate."""
    for spec in plan.specs:
        yield spec.name, (spec.name,)


def all_cases() -> Iterator[Case]:
    """What a whole test of one candidate asks, in order."""
    for number in range(WARM_UPS + TICKS):
        for states in ARMS:
            yield from _cases(states, number)


@dataclass
class Load:
    """Ticks against one candidate, ``concurrency`` requests at a time, whose tokens have ``prices``."""

    pool: Pool
    candidate: str
    concurrency: int
    cache: CacheReader
    prices: Prices
    _fatal: Failure | None = None

    def run(self) -> list[Arm]:
        """Send the ticks of both arms, which take turns so that both meet the same drift, and count what came back.

        CannotGoOn where a failure must stop the run; what was measured until then is no load test, and is dropped.
        """
        ticks: dict[States, list[Tick]] = {states: [] for states in ARMS}
        cache: dict[States, list[CacheCounts | None]] = {states: [] for states in ARMS}
        with self._threads() as threads:
            counts = self.cache.read()
            for number in range(WARM_UPS + TICKS):
                for states in ARMS:
                    tick = self._tick(threads, _cases(states, number))
                    before, counts = counts, self.cache.read()
                    if number >= WARM_UPS:
                        ticks[states].append(tick)
                        cache[states].append(moved(before, counts))
        return [arm_of(states, ticks[states], total(cache[states])) for states in ARMS]

    @contextmanager
    def _threads(self) -> Iterator[Executor]:
        """Threads to ask in; an interruption ends them after the attempts that are under way."""
        threads = ThreadPoolExecutor(self.concurrency)
        try:
            yield threads
        except KeyboardInterrupt:
            self._fatal = self._fatal or Failure(code="interrupted", detail="the run ended")
            self.pool.close()
            raise
        finally:
            threads.shutdown(cancel_futures=True)

    def _tick(self, threads: Executor, cases: Sequence[Case]) -> Tick:
        requests = [request_of(case) for case in cases]
        start = time.perf_counter()
        replies = list(threads.map(self._ask, requests))
        seconds = time.perf_counter() - start
        if self._fatal is not None:
            raise CannotGoOn(self._fatal)
        # Judged after the clock has stopped.
        answered = [(case, reply) for case, reply in zip(cases, replies, strict=True) if reply is not None]
        return tick_of(seconds, [self._record(case, reply) for case, reply in answered], self.prices)

    def _record(self, case: Case, reply: Reply) -> Record:
        """What a request came to, in no journal: it is counted and forgotten."""
        costs = costs_of(reply.answer if reply.error is None else reply.error)
        return record_of(
            case,
            "core",
            trial=1,
            request_hash=request_hash(case),
            candidate_hash=None,
            decisions=self.pool.decisions_of(self.candidate, case, reply),
            latency_s=costs.latency_of(reply.seconds),
            usage=costs.usage,
            earlier=costs.earlier,
            waited_s=costs.waited_s,
            model=costs.model,
        )

    def _ask(self, request: Request) -> Reply | None:
        """The reply; None where another request has failed so that none may follow."""
        if self._fatal is not None:
            return None
        reply = self.pool.ask(self.candidate, request)
        if reply.error is not None and (failure := failure_from(reply.error, "exception")).fatal:
            self._fatal = failure
        return reply


def _cases(states: States, tick: int) -> list[Case]:
    """The requests of a tick: of states that were never asked before, or the same in every tick.

    The repeated ones are the first; the unique ones come after them, so that no arm warms the other up.
    """
    first = REQUESTS * (1 + tick) if states == "unique" else 0
    return [load_case(number) for number in range(first, first + REQUESTS)]


def failed_sentence(load: LoadReport) -> str:
    """How many decisions failed, and how many of them for which reason."""
    codes: dict[str, int] = {}
    for failures in (failures for arm in load.arms for failures in arm.failures):
        codes[failures.code] = codes.get(failures.code, 0) + failures.decisions
    listed = ", ".join(f"{code} ({number:,})" for code, number in codes.items())
    return f"{load.failed_decisions:,} of {load.decisions:,} decisions failed: {listed}"

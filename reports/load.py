"""What a load test measured: how long 1,000 decisions took at once, what failed, and what may be said of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from decibench.cases.schema import Model
from decibench.reports.latency import AtLeast, Cost, Prices, cost_of
from decibench.reports.record import Count, Record, Seconds

LOAD: Final = "load.json"
LOAD_SCHEMA: Final = "decibench.load/1"

States: TypeAlias = Literal["unique", "repeated"]


@dataclass(frozen=True, slots=True)
class Tick:
    """Requests that were sent together: wall seconds from the first sent to the last answered, and what came back.

    ``failures`` counts failed decisions by code, ``failed_by_code`` the requests in which each code occurs. ``models``
    counts answers by the model that says it answered; ``repeats`` are attempts that were made again, which ``cost``
    counts too.
    """

    seconds: float
    requests: int
    decisions: int
    failed_requests: int
    failures: Counter[str]
    failed_by_code: Counter[str]
    models: Counter[str]
    repeats: int
    cost: Cost


def tick_of(seconds: float, records: Sequence[Record], prices: Prices) -> Tick:
    """Count what the requests of a tick came to, each of them a record."""
    codes = [[decision.failure.code for decision in record.decisions if decision.failure] for record in records]
    return Tick(
        seconds=seconds,
        requests=len(records),
        decisions=sum(len(record.decisions) for record in records),
        failed_requests=sum(map(bool, codes)),
        failures=Counter(code for found in codes for code in found),
        failed_by_code=Counter(code for found in codes for code in set(found)),
        models=Counter(record.model for record in records if record.model is not None),
        repeats=sum(len(record.earlier) for record in records),
        cost=cost_of(records, prices),
    )


class CacheCounts(Model):
    """How often a server's cache was asked while the ticks of an arm ran, as the server counts it."""

    hits: Count
    misses: Count

    @property
    def hit_rate(self) -> float | None:
        """Hits by lookups, in [0, 1]; None where nothing was looked up.

        >>> CacheCounts(hits=3, misses=1).hit_rate
        0.75
        """
        lookups = self.hits + self.misses
        return self.hits / lookups if lookups else None


class LoadFailures(Model):
    """How many decisions failed for the reason ``code``, and in how many requests."""

    code: str
    decisions: Count
    requests: Count


class Arm(Model):
    """The counted ticks of one kind of states, in order; failed requests are in all times.

    ``max_s`` is the slowest tick; ``p50_s`` and ``p95_s`` are by linear interpolation. ``decisions_per_s`` are valid
    decisions by the seconds of all ticks: what failed is no throughput. ``models`` counts requests by the model that
    said it answered. ``repeats`` are attempts that were made again, in the time of their tick. ``cache`` is null where
    the server reports no counters. ``cost`` holds the tokens of all attempts, and what those cost.
    """

    states: States
    ticks_s: Annotated[list[Seconds], Field(min_length=1)]
    p50_s: Seconds
    p95_s: Seconds
    max_s: Seconds
    decisions_per_s: Seconds
    requests: Count
    failed_requests: Count
    decisions: Count
    failed_decisions: Count
    failures: list[LoadFailures]
    models: dict[str, Count]
    repeats: Count
    cache: CacheCounts | None
    cost: Cost


class LoadGate(Model):
    """Whether no tick took longer than ``max_tick_ms``, and no decision failed."""

    max_tick_ms: Annotated[float, Field(gt=0)]
    passed: bool
    reason: str


class LoadReport(Model):
    """The load test of a candidate, as ``load.json`` holds it.

    ``concurrency`` is the number of requests at a time, ``deadline_s`` the seconds that an attempt might take, and
    ``retries`` how often a request might be repeated.
    ``warm_up_ticks`` of each arm came first and are in no figure. ``repeated_to_unique`` is the ratio of the medians of
    both arms: an observation, null where a decision failed.
    """

    schema_: Annotated[Literal["decibench.load/1"], Field(alias="schema")] = LOAD_SCHEMA
    created: str
    candidate: str
    candidate_hash: str
    identity: dict[str, Any]
    concurrency: Annotated[int, Field(ge=1)]
    deadline_s: Annotated[float, Field(gt=0)]
    retries: Count
    requests_per_tick: Annotated[int, Field(ge=1)]
    questions_per_request: Annotated[int, Field(ge=1)]
    warm_up_ticks: Count
    arms: Annotated[list[Arm], Field(min_length=1)]
    repeated_to_unique: float | None
    gate: LoadGate

    @property
    def failed_decisions(self) -> int:
        """Failed decisions of all arms."""
        return sum(arm.failed_decisions for arm in self.arms)

    @property
    def decisions(self) -> int:
        """Decisions of all arms, failed ones included."""
        return sum(arm.decisions for arm in self.arms)


def arm_of(states: States, ticks: Sequence[Tick], cache: CacheCounts | None) -> Arm:
    """The figures of ``ticks``, at least one.

    >>> free = cost_of([], Prices())
    >>> ticks = [Tick(seconds, 10, 1000, 0, Counter(), Counter(), Counter(), 0, free) for seconds in (1.0, 1.0, 2.0)]
    >>> arm = arm_of("unique", ticks, None)
    >>> arm.p50_s, round(arm.p95_s, 2), arm.max_s, arm.decisions_per_s
    (1.0, 1.9, 2.0, 750.0)
    """
    import numpy as np

    seconds = [tick.seconds for tick in ticks]
    p50, p95 = np.percentile(seconds, [50, 95]).tolist()
    decisions = sum(tick.decisions for tick in ticks)
    failures = sum((tick.failures for tick in ticks), Counter[str]())
    requests = sum((tick.failed_by_code for tick in ticks), Counter[str]())
    return Arm(
        states=states,
        ticks_s=seconds,
        p50_s=p50,
        p95_s=p95,
        max_s=max(seconds),
        decisions_per_s=(decisions - failures.total()) / math.fsum(seconds),
        requests=sum(tick.requests for tick in ticks),
        failed_requests=sum(tick.failed_requests for tick in ticks),
        decisions=decisions,
        failed_decisions=failures.total(),
        failures=[LoadFailures(code=c, decisions=n, requests=requests[c]) for c, n in failures.most_common()],
        models=dict(sum((tick.models for tick in ticks), Counter[str]()).most_common()),
        repeats=sum(tick.repeats for tick in ticks),
        cache=cache,
        cost=cost_sum([tick.cost for tick in ticks]),
    )


def cost_sum(costs: Sequence[Cost]) -> Cost:
    """The sum of ``costs``, at least one and all by the same prices; a total with an unknown part is unknown."""
    at_least = [cost.at_least for cost in costs]
    known = {name: _sum([getattr(part, name) for part in at_least]) for name in AtLeast.model_fields}
    totals = {
        name: _sum([getattr(cost, name) for cost in costs])
        for name in Cost.model_fields
        if name not in ("prices", "at_least")
    }
    return Cost(prices=costs[0].prices, at_least=AtLeast(**known), **totals)


def _sum(values: Sequence[Any]) -> Any:
    return None if None in values else sum(values)


def repeated_to_unique(arms: Sequence[Arm]) -> float | None:
    """Median tick with repeated states by that with unique ones; None where a decision failed or an arm is missing.

    A request that fails is answered sooner or later than one that does not, and the ratio would say that.
    """
    medians = {arm.states: arm.p50_s for arm in arms if not arm.failed_decisions}
    if "unique" not in medians or "repeated" not in medians or not medians["unique"]:
        return None
    return medians["repeated"] / medians["unique"]


def check_load(arms: Sequence[Arm], max_tick_ms: float) -> LoadGate:
    """Whether the slowest tick of every arm took at most ``max_tick_ms`` milliseconds, and no decision failed."""
    failed, decisions = sum(arm.failed_decisions for arm in arms), sum(arm.decisions for arm in arms)
    slowest = max(arms, key=lambda arm: arm.max_s)
    tick = f"the slowest tick took {1000 * slowest.max_s:,.0f} ms ({slowest.states} states), of {max_tick_ms:g} allowed"
    lost = f"{failed:,} of {decisions:,} decisions failed" if failed else "no decision failed"
    passed = 1000 * slowest.max_s <= max_tick_ms and not failed
    return LoadGate(max_tick_ms=max_tick_ms, passed=passed, reason=f"{tick}; {lost}")

"""What a load test says, as sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator

from decibench.reports.load import Arm, LoadReport
from decibench.reports.tables.layout import Table, millis, share


def load_sentences(load: LoadReport) -> Iterator[str]:
    """What was sent, who answered, and what the figures say and do not say."""
    per_tick = load.requests_per_tick * load.questions_per_request
    ticks = len(load.arms[0].ticks_s)
    yield (
        f"{load.candidate}: ticks of {per_tick:,} decisions, as {load.requests_per_tick} requests of "
        f"{load.questions_per_request} questions, {load.concurrency} at a time; {ticks} ticks with each kind of states "
        f"after {load.warm_up_ticks} warm-ups."
    )
    models = list(dict.fromkeys(model for arm in load.arms for model in arm.models))
    yield f"Answered by {', '.join(models)}." if models else "No reply says which model answered."
    yield (
        f"These are figures of {ticks} ticks: the p95 lies beside the second slowest, and bounds no later one. Failed "
        "requests are in the times; decisions per second count valid ones only."
    )
    if load.repeated_to_unique is not None:
        yield (
            f"A tick of repeated states took {load.repeated_to_unique:.2f} times as long as one of unique states "
            "(medians). That is an observation: a cache of the server would explain a difference, and so would others."
        )
    if any(arm.cache is not None for arm in load.arms):
        yield "Cache hits are as the server counts them, with what others asked of it at the time."
    if repeats := sum(arm.repeats for arm in load.arms):
        yield f"{repeats} attempts were repeated; they and their waits are in the times."


def load_tables(load: LoadReport) -> Iterator[Table]:
    """Ticks by kind of states; where decisions failed, why."""
    columns = ["states", "p50", "p95", "max", "decisions/s", "failed", "cache hits"]
    yield Table(f"Load of {load.candidate}, ms per tick", columns, [_row(arm) for arm in load.arms])
    failures = [
        [f"{arm.states} states: {failure.code}", f"{failure.decisions:,}", str(failure.requests)]
        for arm in load.arms
        for failure in arm.failures
    ]
    if failures:
        yield Table("Failures under load", ["reason", "decisions", "in requests"], failures)


def _row(arm: Arm) -> list[str]:
    return [
        arm.states,
        *map(millis, (arm.p50_s, arm.p95_s, arm.max_s)),
        f"{arm.decisions_per_s:,.0f}",
        f"{arm.failed_decisions:,} of {arm.decisions:,}",
        "not reported" if arm.cache is None else share(arm.cache.hit_rate),
    ]

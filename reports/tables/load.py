"""What a load test says, as sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator

from decibench.reports.load import Arm, LoadReport, cost_sum
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
    yield from _spending(load)
    if repeats := sum(arm.repeats for arm in load.arms):
        yield f"{repeats} attempts were repeated; they and their waits are in the times."
    yield f"Gate {'passed' if load.gate.passed else 'failed'}: {load.gate.reason}."


def _spending(load: LoadReport) -> Iterator[str]:
    """What tokens were told, by which prices they cost what they do, and what is not known."""
    cost = cost_sum([arm.cost for arm in load.arms])
    if cost.prices.stated is None:
        yield "The cost is unknown: no price is known."
    else:
        yield f"The cost is of the tokens of the counted ticks, warm-ups apart, by {cost.prices.stated}."
    if cost.untold:
        yield f"{cost.untold:,} of {cost.attempts:,} requests did not tell their tokens, and may have taken some."


def load_tables(load: LoadReport) -> Iterator[Table]:
    """Ticks by kind of states, and their tokens; where decisions failed, why."""
    columns = ["states", "p50", "p95", "max", "decisions/s", "failed", "cache hits"]
    yield Table(f"Load of {load.candidate}, ms per tick", columns, [_row(arm) for arm in load.arms])
    columns = ["states", "input tokens", "of them cached", "output tokens", "cost, USD"]
    yield Table("Tokens and cost under load", columns, [_tokens(arm) for arm in load.arms])
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


def _tokens(arm: Arm) -> list[str]:
    cost, known = arm.cost, arm.cost.at_least
    return [
        arm.states,
        _amount(cost.input_tokens, known.input_tokens),
        _amount(cost.cached_tokens, known.cached_tokens),
        _amount(cost.output_tokens, known.output_tokens),
        _amount(cost.total_usd, known.usd, ",.6f"),
    ]


def _amount(total: float | None, at_least: float | None, form: str = ",") -> str:
    """A total; else what is known of it, where that is more than nothing."""
    if total is not None:
        return format(total, form)
    return f"at least {at_least:{form}}" if at_least else "unknown"

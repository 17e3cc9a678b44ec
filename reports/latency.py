"""Latency of requests and what a run cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from decibench.cases.schema import Model
from decibench.reports.record import Record, TokenUsage

_MILLION: Final = 1e6

_Number = TypeVar("_Number", int, float)


class LatencyStats(Model):
    """Seconds per request, failed ones included; percentiles by linear interpolation.

    ``requests`` were timed. ``untimed`` were not, or not wholly, and are in no other figure here.
    """

    requests: int
    untimed: int
    mean_s: float
    p50_s: float
    p95_s: float
    p99_s: float


class LoadTime(Model):
    """What building the candidate in one worker took, in seconds; warm-ups are in no other figure."""

    worker: str
    load_s: float
    first_probe_s: float | None
    warm_ups_s: list[float]


class Latency(Model):
    """Request latency over all trials (null where nothing was timed) and per trial, with load and warm-up apart.

    ``overall`` and ``by_trial`` are of the attempt that counts. ``with_retries`` and ``by_trial_with_retries`` are of
    all attempts of an item and the waits between them, which is what its answer took; equal where nothing was asked
    again. What a request was held back for a rate limit of the run is in neither.
    """

    overall: LatencyStats | None
    with_retries: LatencyStats | None
    by_trial: dict[str, LatencyStats]
    by_trial_with_retries: dict[str, LatencyStats]
    loads: list[LoadTime]


class Prices(Model):
    """Prices of the run; null where none is known or was given.

    US dollars per million tokens, and per hour of requests. ``stated`` says where those of tokens come from, null
    without any. Output without a price is in no sum; cached input without one makes what holds any unknown.
    """

    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None
    cached_input_usd_per_million: float | None = None
    compute_usd_per_hour: float | None = None
    stated: str | None = None


class AtLeast(Model):
    """What is known where a total is not: the sums of what requests did tell. ``usd`` is null without a price."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    usd: float | None


class Cost(Model):
    """Tokens and money of the measured requests, all attempts at an item counted.

    A total with an unknown part, or beyond all floats, is null: ``at_least`` holds what is known of it. Of all
    ``attempts``, ``untold`` did not tell how many input tokens they took, or how many of another kind that has a price.
    ``cached_tokens`` are part of ``input_tokens``, and ``input_usd`` holds their price. Warm-ups are in nothing here.
    """

    prices: Prices
    attempts: int
    untold: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    input_usd: float | None
    output_usd: float | None
    compute_usd: float | None
    total_usd: float | None
    at_least: AtLeast


def latency_of(records: Sequence[Record], loads: Sequence[LoadTime] = ()) -> Latency:
    """Latency of ``records``, failed ones included, with and without the attempts that were asked again."""
    trials = sorted({record.trial for record in records})
    by_trial = {str(trial): [record for record in records if record.trial == trial] for trial in trials}
    return Latency(
        overall=_stats_of(records, retries=False),
        with_retries=_stats_of(records, retries=True),
        by_trial=_stats_by(by_trial, retries=False),
        by_trial_with_retries=_stats_by(by_trial, retries=True),
        loads=list(loads),
    )


def _stats_of(records: Sequence[Record], *, retries: bool) -> LatencyStats | None:
    return latency_stats([record.with_retries_s if retries else record.latency_s for record in records])


def _stats_by(groups: Mapping[str, Sequence[Record]], *, retries: bool) -> dict[str, LatencyStats]:
    found = {name: _stats_of(records, retries=retries) for name, records in groups.items()}
    return {name: stats for name, stats in found.items() if stats}


def latency_stats(seconds: Sequence[float | None]) -> LatencyStats | None:
    """Mean and percentiles of the known values, and how many are not; None where none is known.

    >>> stats = latency_stats([1.0, 3.0, None])
    >>> stats.p50_s, round(stats.p95_s, 2), round(stats.p99_s, 2), stats.untimed
    (2.0, 2.9, 2.98, 1)
    """
    import numpy as np

    known = [value for value in seconds if value is not None]
    if not known:
        return None
    p50, p95, p99 = np.percentile(known, [50, 95, 99]).tolist()
    return LatencyStats(
        requests=len(known),
        untimed=len(seconds) - len(known),
        mean_s=float(np.mean(known)),
        p50_s=p50,
        p95_s=p95,
        p99_s=p99,
    )


def cost_of(records: Sequence[Record], prices: Prices) -> Cost:
    """Cost of ``records``: tokens of all attempts at their price, time of requests at the price of the machine."""
    usages = [usage for record in records for usage in (*(each.usage for each in record.earlier), record.usage)]
    seconds = [time for record in records for time in (*(each.seconds for each in record.earlier), record.latency_s)]
    tokens = {kind: [getattr(usage, kind) for usage in usages] for kind in TokenUsage.model_fields}
    parts: dict[str, list[float | None]] = {}
    if prices.input_usd_per_million is not None:
        parts["input_usd"] = [usd for usage in usages for usd in _input_usd(usage, prices)]
    if (output := prices.output_usd_per_million) is not None:
        parts["output_usd"] = [_priced(usage.output_tokens, output, _MILLION) for usage in usages]
    if (hour := prices.compute_usd_per_hour) is not None:
        parts["compute_usd"] = [_priced(time, hour, 3600) for time in seconds]
    every = [usd for part in parts.values() for usd in part]
    return Cost(
        prices=prices,
        attempts=len(usages),
        untold=sum(not _tells(usage, prices) for usage in usages),
        **{kind: _sum(counts) for kind, counts in tokens.items()},
        input_usd=_part(parts, "input_usd"),
        output_usd=_part(parts, "output_usd"),
        compute_usd=_part(parts, "compute_usd"),
        total_usd=_sum(every) if parts else None,
        at_least=AtLeast(
            **{kind: sum(_known(counts)) for kind, counts in tokens.items()},
            usd=_sum(_known(every)) if parts else None,
        ),
    )


def _part(parts: Mapping[str, Sequence[float | None]], name: str) -> float | None:
    return _sum(parts[name]) if name in parts else None


def _tells(usage: TokenUsage, prices: Prices) -> bool:
    """Whether ``usage`` holds every count that has a price, and that of its input, and they fit together."""
    return (
        usage.input_tokens is not None
        and (usage.cached_tokens or 0) <= usage.input_tokens
        and (usage.output_tokens is not None or not prices.output_usd_per_million)
        and (usage.cached_tokens is not None or prices.cached_input_usd_per_million is None)
    )


def _input_usd(usage: TokenUsage, prices: Prices) -> tuple[float | None, float | None]:
    """What uncached and cached input cost, each None where a count or a price for it is unknown."""
    price, cached_price = prices.input_usd_per_million, prices.cached_input_usd_per_million
    cached = 0 if usage.cached_tokens is None and cached_price is None else usage.cached_tokens
    if usage.input_tokens is None or cached is None or cached > usage.input_tokens:
        return None, None
    uncached_usd = _priced(usage.input_tokens - cached, price, _MILLION)
    return uncached_usd, _priced(cached, cached_price, _MILLION) if cached else 0.0


def _priced(amount: float | None, price: float | None, unit: float) -> float | None:
    if price == 0:
        return 0.0  # Output that is free need not be counted.
    return None if amount is None or price is None else _finite(amount / unit * price)


def _sum(values: Sequence[_Number | None]) -> _Number | None:
    known = _known(values)
    return _finite(sum(known)) if len(known) == len(values) else None


def _known(values: Sequence[_Number | None]) -> list[_Number]:
    return [value for value in values if value is not None]


def _finite(value: _Number) -> _Number | None:
    # JSON has no infinity, and a report that cannot be written is worse than one figure that is not known.
    return value if math.isfinite(value) else None

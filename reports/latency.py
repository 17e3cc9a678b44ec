"""Latency of requests and what a run cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from decibench.cases.schema import Model
from decibench.reports.record import Record


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
    all attempts of an item together, which is what waiting for its answer took; equal where nothing was asked again.
    """

    overall: LatencyStats | None
    with_retries: LatencyStats | None
    by_trial: dict[str, LatencyStats]
    by_trial_with_retries: dict[str, LatencyStats]
    loads: list[LoadTime]


class Prices(Model):
    """Prices given for the run; null where none was given."""

    input_usd_per_million: float | None = None
    compute_usd_per_hour: float | None = None


class Cost(Model):
    """Tokens and money of the measured requests; a total with an unknown part, or beyond all floats, is unknown."""

    prices: Prices
    input_tokens: int | None
    output_tokens: int | None
    input_usd: float | None
    compute_usd: float | None
    total_usd: float | None


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
    """Cost of ``records``: tokens at their price, time of requests at the price of the machine.

    Of an item that was asked again only the last attempt counts: what the others cost in tokens is not known.
    """
    tokens_in = _sum([record.usage.input_tokens for record in records])
    seconds = _sum([record.latency_s for record in records])
    input_usd = _priced(tokens_in, prices.input_usd_per_million, 1e6)
    compute_usd = _priced(seconds, prices.compute_usd_per_hour, 3600)
    asked = [
        part
        for part, price in ((input_usd, prices.input_usd_per_million), (compute_usd, prices.compute_usd_per_hour))
        if price is not None
    ]
    return Cost(
        prices=prices,
        input_tokens=None if tokens_in is None else int(tokens_in),
        output_tokens=None if (out := _sum([r.usage.output_tokens for r in records])) is None else int(out),
        input_usd=input_usd,
        compute_usd=compute_usd,
        total_usd=_sum(asked) if asked else None,
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _finite(sum(known)) if len(known) == len(values) else None


def _priced(amount: float | None, price: float | None, unit: float) -> float | None:
    return None if amount is None or price is None else _finite(amount / unit * price)


def _finite(value: float) -> float | None:
    # JSON has no infinity, and a report that cannot be written is worse than one figure that is not known.
    return value if math.isfinite(value) else None

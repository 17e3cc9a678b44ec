"""What the requests of a run cost, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from decibench.reports.latency import Cost
from decibench.reports.report import Report


def spending_lines(report: Report) -> Iterator[str]:
    """What the requests cost and by which prices; without a total each part, why it is unknown, and what is known."""
    cost = report.cost
    by = "" if cost.prices.stated is None else f" ({cost.prices.stated})"
    parts = list(_parts(report))
    if cost.total_usd is not None:
        yield f"Cost of the measured requests: {cost.total_usd:.6f} USD{by}."
    elif parts:
        yield f"Cost of the measured requests: {'; '.join(parts)}{'; no total' if len(parts) > 1 else ''}{by}."
        if cost.at_least.usd:
            yield f"At least {cost.at_least.usd:.6f} USD{_untold(cost)}."
    told = cost.at_least.input_tokens or cost.at_least.output_tokens
    if cost.prices.input_usd_per_million is None and (told or report.candidate.remote):
        what = "Cost unknown: no price is known" if cost.total_usd is None and not parts else "Tokens have no price"
        yield f"{what}. {_tokens(cost)}."


def _tokens(cost: Cost) -> str:
    """The tokens that requests told, and how many of the requests did not; what none of them told is not named."""
    least = cost.at_least
    cached = f" ({least.cached_tokens:,} of them cached)" if least.cached_tokens else ""
    told = [f"{least.input_tokens:,} input{cached}"] if least.input_tokens else []
    told += [f"{least.output_tokens:,} output"] if least.output_tokens else []
    silent = f"; {cost.untold:,} of {cost.attempts:,} requests did not tell theirs" if cost.untold else ""
    return f"Tokens told: {', '.join(told) or 'none'}{silent}"


def _parts(report: Report) -> Iterator[str]:
    cost, prices, timed = report.cost, report.cost.prices, report.latency.overall
    if prices.compute_usd_per_hour is not None:
        yield _part("compute", cost.compute_usd, None if timed and not timed.untimed else "times of some requests are")
    if prices.input_usd_per_million is not None:
        uncached = cost.at_least.cached_tokens and prices.cached_input_usd_per_million is None
        reason = "tokens of some requests are" if cost.untold else "the price of cached tokens is" if uncached else None
        yield _part("input", cost.input_usd, reason)
    if prices.output_usd_per_million:
        yield _part("output", cost.output_usd, "tokens of some requests are" if cost.output_tokens is None else None)


def _part(name: str, usd: float | None, unknown: str | None) -> str:
    if usd is not None:
        return f"{name} {usd:.6f} USD"
    return f"{name} unknown, because {'it is beyond all floats' if unknown is None else f'{unknown} unknown'}"


def _untold(cost: Cost) -> str:
    if not cost.untold or cost.prices.input_usd_per_million is None:
        return ""
    return f": {cost.untold:,} of {cost.attempts:,} requests did not tell their tokens"

"""What requests cost: every attempt counts, what is not told is not zero, and what is known is at least known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest

from decibench.candidates.adapter import Usage
from decibench.candidates.remote.prices import Price
from decibench.reports.latency import Cost, Prices, cost_of, latency_of
from decibench.reports.record import EarlierAttempt, Record, TokenUsage
from decibench.reports.report import Report
from decibench.reports.tables.provenance import provenance
from decibench.reports.tables.spending import spending_lines

MakeReport: TypeAlias = Callable[..., Report]
Told: TypeAlias = tuple[int | None, ...]

TOLD = (1_000_000, 500_000, 200_000)
PRICED = Prices(input_usd_per_million=2.0, output_usd_per_million=8.0, cached_input_usd_per_million=0.5)
FREE_OUTPUT = Prices(input_usd_per_million=2.0, output_usd_per_million=0.0)


@pytest.fixture
def cost(make_report: MakeReport) -> Callable[..., Cost]:
    """The cost at ``prices`` of items of which each names what its attempts told, the one that counts last."""
    (record,) = make_report("own", {"demo-0": [True]}).records

    def of(prices: Prices, *items: list[Told]) -> Cost:
        return cost_of(list(_records(record, items)), prices)

    return of


def _records(record: Record, items: tuple[list[Told], ...]) -> Iterator[Record]:
    for told in items:
        *earlier, last = [TokenUsage(**dict(zip(TokenUsage.model_fields, counts, strict=False))) for counts in told]
        attempts = [EarlierAttempt(seconds=0.5, code="server-error", usage=usage) for usage in earlier]
        yield record.model_copy(update={"earlier": attempts, "usage": last, "latency_s": 1.0})


def test_tokens_of_every_attempt_are_counted_and_paid(cost: Callable[..., Cost]) -> None:
    found = cost(PRICED, [TOLD, TOLD], [TOLD])
    assert (found.attempts, found.untold) == (3, 0)
    assert (found.input_tokens, found.output_tokens, found.cached_tokens) == (3_000_000, 1_500_000, 600_000)
    assert found.input_usd == pytest.approx(3 * (0.8 * 2.0 + 0.2 * 0.5))
    assert found.output_usd == pytest.approx(3 * 0.5 * 8.0)
    assert found.total_usd == pytest.approx(3 * 5.7)
    assert found.at_least.usd == pytest.approx(3 * 5.7)


@pytest.mark.parametrize(
    ("prices", "told", "untold", "total", "least"),
    [
        pytest.param(PRICED, (), 1, None, 5.7, id="refused"),
        pytest.param(PRICED, (1_000_000, None, 0), 1, None, 7.7, id="output-not-told"),
        pytest.param(PRICED, (1_000_000, 500_000), 1, None, 9.7, id="cached-not-told"),
        pytest.param(PRICED, (None, 500_000), 1, None, 9.7, id="input-not-told"),
        pytest.param(FREE_OUTPUT, (1_000_000,), 0, 4.0, 4.0, id="free-output-need-not-be-told"),
        pytest.param(FREE_OUTPUT, (1_000_000, 1, 400_000), 0, None, 3.2, id="cached-without-a-price"),
        pytest.param(Prices(), (1_000_000,), 0, None, None, id="no-price"),
        pytest.param(Prices(), (), 1, None, None, id="no-price-and-not-told"),
    ],
)
@pytest.mark.parametrize("earlier", [True, False], ids=["earlier-attempt", "other-item"])
def test_one_request_that_does_not_tell_makes_the_total_unknown_not_smaller(
    cost: Callable[..., Cost],
    prices: Prices,
    told: Told,
    untold: int,
    total: float | None,
    least: float | None,
    earlier: bool,
) -> None:
    known: Told = TOLD if prices is PRICED else (1_000_000, 500_000, 0)
    found = cost(prices, [told, known]) if earlier else cost(prices, [told], [known])
    assert (found.attempts, found.untold) == (2, untold)
    for usd, expected in ((found.total_usd, total), (found.at_least.usd, least)):
        assert usd == (None if expected is None else pytest.approx(expected))
    counted = [counts[0] if counts else None for counts in (told, known)]
    assert found.input_tokens == (None if None in counted else 2_000_000)
    assert found.at_least.input_tokens == sum(count or 0 for count in counted)


def test_the_machine_is_paid_for_every_attempt_and_an_unknown_time_is_not_zero(make_report: MakeReport) -> None:
    (record,) = make_report("own", {"demo-0": [True]}).records
    hour = Prices(compute_usd_per_hour=3600.0)
    attempt = EarlierAttempt(seconds=0.5, waited_s=9.0, code="timeout")
    again = record.model_copy(update={"latency_s": 1.0, "earlier": [attempt]})
    assert cost_of([again], hour).total_usd == pytest.approx(1.5)
    lost = record.model_copy(update={"latency_s": None})
    found = cost_of([again, lost], hour)
    assert (found.compute_usd, found.total_usd) == (None, None)
    assert found.at_least.usd == pytest.approx(1.5)


@pytest.mark.parametrize("counts", [(), (10,), (10, 5), (10, 5, 0), (10, 5, 4), (10, None, 4), (None, 5), (4, 5, 10)])
@pytest.mark.parametrize("price", [(2.0, 8.0, None), (2.0, 8.0, 0.5), (2.0, 0.0, None), (0.0, 0.0, None)])
def test_a_report_and_a_budget_price_a_request_alike(
    cost: Callable[..., Cost], counts: Told, price: tuple[Any, ...]
) -> None:
    read, written, cached = price
    booked = Price(read, written, cached, "a test").of(Usage(*counts))
    names = ("input_usd_per_million", "output_usd_per_million", "cached_input_usd_per_million")
    reported = cost(Prices(**dict(zip(names, price, strict=True))), [counts]).total_usd
    assert reported == (None if booked is None else pytest.approx(booked))


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        (
            PRICED.model_copy(update={"stated": "mine.toml: the contract, 2026-11-30"}),
            "input 2, output 8, cached input 0.5 USD per million tokens (mine.toml: the contract, 2026-11-30)",
        ),
        (
            Prices(input_usd_per_million=0.042, stated="--input-usd-per-million, for input alone"),
            "input 0.042 USD per million tokens (--input-usd-per-million, for input alone)",
        ),
        (Prices(compute_usd_per_hour=1.0), None),
    ],
)
def test_a_report_says_where_its_prices_come_from(make_report: MakeReport, prices: Prices, said: str | None) -> None:
    report = make_report("own", {"demo-0": [True]})
    found = report.model_copy(update={"cost": cost_of(report.records, prices)})
    assert dict(provenance(found)).get("prices") == said


@pytest.mark.parametrize(
    ("prices", "told", "said"),
    [
        pytest.param(PRICED, TOLD, ["11.400000 USD."], id="all-known"),
        pytest.param(
            PRICED,
            (),
            [
                "input unknown, because tokens of some requests are unknown; output unknown, because tokens of some "
                "requests are unknown; no total.",
                "At least 5.700000 USD: 1 of 2 requests did not tell their tokens.",
            ],
            id="refused",
        ),
        pytest.param(
            PRICED,
            (1_000_000, None, 0),
            [
                "input 3.700000 USD; output unknown, because tokens of some requests are unknown; no total.",
                "At least 7.700000 USD: 1 of 2 requests did not tell their tokens.",
            ],
            id="output-not-told",
        ),
        pytest.param(
            FREE_OUTPUT,
            (1_000_000, None, 0),
            ["input unknown, because the price of cached tokens is unknown.", "At least 3.600000 USD."],
            id="cached-without-a-price",
        ),
        pytest.param(
            Prices(),
            TOLD,
            [
                "Cost unknown: no price is known. Tokens told: 2,000,000 input (400,000 of them cached), 1,000,000 "
                "output."
            ],
            id="no-price",
        ),
        pytest.param(
            Prices(),
            (),
            [
                "Cost unknown: no price is known. Tokens told: 1,000,000 input (200,000 of them cached), 500,000 "
                "output; 1 of 2 requests did not tell theirs."
            ],
            id="no-price-and-not-told",
        ),
        pytest.param(
            Prices(compute_usd_per_hour=3600.0),
            TOLD,
            [
                "2.000000 USD.",
                "Tokens have no price. Tokens told: 2,000,000 input (400,000 of them cached), 1,000,000 output.",
            ],
            id="only-the-machine-has-a-price",
        ),
    ],
)
def test_what_is_known_of_a_cost_is_said_and_why_the_rest_is_not(
    make_report: MakeReport, prices: Prices, told: Told, said: list[str]
) -> None:
    report = make_report("own", {"demo-0": [True]})
    records = list(_records(report.records[0], ([told], [TOLD])))
    changes = {"records": records, "cost": cost_of(records, prices), "latency": latency_of(records)}
    found = report.model_copy(update=changes)
    lines = [line.removeprefix("Cost of the measured requests: ") for line in spending_lines(found)]
    assert lines == said


@pytest.mark.parametrize("device", ["remote", "cpu"])
def test_a_remote_candidate_that_tells_no_tokens_has_a_cost_that_is_not_known(
    make_report: MakeReport, device: str
) -> None:
    report = make_report("own", {"demo-0": [True, True]})
    candidate = report.candidate.model_copy(update={"identity": {"model": "own", "device": device}})
    said = "Cost unknown: no price is known. Tokens told: none; 2 of 2 requests did not tell theirs."
    lines = list(spending_lines(report.model_copy(update={"candidate": candidate})))
    assert lines == ([said] if device == "remote" else [])

"""What the tokens of a candidate cost: by the option that says so, else by the tables of prices."""

from __future__ import annotations

from collections.abc import Sequence

from decibench.bench_tests.options import Options
from decibench.candidates.config import CandidateSpec
from decibench.candidates.remote.prices import Price, PriceTable
from decibench.candidates.remote.wire import Wire
from decibench.cases.door import UsageError
from decibench.reports.latency import Prices

_GIVEN = "--input-usd-per-million, for input alone"


def wire_of(spec: CandidateSpec) -> Wire:
    """The wire format of a remote candidate, which needs neither a key nor a connection."""
    assert spec.entry is not None
    return spec.entry.wire(spec.settings)


def prices_of(options: Options, spec: CandidateSpec) -> Prices:
    """The prices that a candidate is reported at; an option for input goes before all tables, and prices no output."""
    given, hour = options.input_usd_per_million, options.compute_usd_per_hour
    if given is not None:
        return Prices(input_usd_per_million=given, compute_usd_per_hour=hour, stated=_GIVEN)
    price = _price(wire_of(spec), options.network.prices) if spec.remote else None
    if price is None:
        return Prices(compute_usd_per_hour=hour)
    return Prices(
        input_usd_per_million=price.input,
        output_usd_per_million=price.output,
        cached_input_usd_per_million=price.cached_input,
        compute_usd_per_hour=hour,
        stated=price.stated,
    )


def token_prices_of(options: Options, spec: CandidateSpec) -> Prices:
    """The prices of tokens alone: requests that are sent at once share the hours of a machine."""
    return prices_of(options, spec).model_copy(update={"compute_usd_per_hour": None})


def unknown_price(wire: Wire) -> str:
    """That no price is known, and what to do."""
    settings = wire.settings
    named = f"{settings.model} at {settings.host} ({wire.api})"
    return f"no price of {named} is known; name a table with it by --prices FILE"


def check_network(options: Options, specs: Sequence[CandidateSpec]) -> None:
    """UsageError where options about remote candidates are for none, or what one of them can cost is not known."""
    network, remote = options.network, [spec for spec in specs if spec.remote]
    if network.given and not remote:
        what = "is about candidates that are asked over HTTP, and none is named"
        raise UsageError(f"{', '.join(network.given)}: {what}; leave it out, or name one by --candidate")
    for spec in remote if network.max_usd is not None else ():
        wire = wire_of(spec)
        price = _price(wire, network.prices)
        if price is None:
            raise UsageError(f"--max-usd: {spec.name}: {unknown_price(wire)}")
        if price.most(0, wire.most_output_tokens) is None:
            raise UsageError(
                f"--max-usd: {spec.name}: output of {wire.settings.model} has a price, and nothing bounds how much of "
                "it a reply holds; leave --max-usd out"
            )


def _price(wire: Wire, prices: PriceTable) -> Price | None:
    return prices.find(wire.settings.host, wire.api, wire.settings.model)

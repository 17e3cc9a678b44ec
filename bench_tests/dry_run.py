"""``--dry-run``: what a run would ask, about how much that is, and one request; nothing is asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from decibench.bench_tests import load_grid
from decibench.bench_tests.plan import Item, Plan
from decibench.bench_tests.pricing import token_prices_of, unknown_price, wire_of
from decibench.bench_tests.recorder import item_id
from decibench.candidates.adapter import CandidateError
from decibench.candidates.config import CandidateSpec
from decibench.candidates.remote.headers import headers_of
from decibench.candidates.remote.wire import Wire
from decibench.cases.door import UsageError
from decibench.cases.jsonio import canonical_json
from decibench.cases.load import QUESTIONS
from decibench.cases.request import request_of
from decibench.cases.schema import Case
from decibench.reports.latency import Prices

CHARACTERS_PER_TOKEN: Final = 4
"""A rule of thumb for English text."""

USUALLY_ADDED_TOKENS: Final = 250
"""Input tokens that a provider of decisions is taken to add to a request: it counts about 300 for one short line."""


class DryRun:
    """Hooks that take the place of a run."""

    def __init__(self, config: pytest.Config, plan: Plan) -> None:
        if config.getoption("tx", default=None) or config.getoption("dist", default="no") != "no":
            raise UsageError("--dry-run asks nothing, so that there is nothing to divide: run without -n")
        self._plan = plan
        self._items: list[Item] = []
        self._loads: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run no item; errors of the collection are left to pytest."""
        if session.testsfailed and not session.config.option.continue_on_collection_errors:
            return None
        found = (self._plan.by_id.get(item_id(item.nodeid)) for item in session.items)
        self._items = [item for item in found if item is not None]
        tests = (item for item in session.items if isinstance(item, pytest.Function))
        self._loads = {str(test.callspec.params["candidate"]) for test in tests if load_grid.is_load(test.path)}
        return True

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print what would have been asked of each candidate."""
        terminalreporter.section("decibench: dry run")
        for spec in self._plan.specs:
            cases = [item.case for item in self._items if item.candidate == spec.name]
            for line in _lines(self._plan, spec, cases, load=spec.name in self._loads):
                terminalreporter.write_line(line)
        terminalreporter.write_line("Nothing was asked, and nothing written.")


@dataclass
class _Volume:
    """Bodies that were counted, their characters, and the cases that the format cannot ask, by the reason."""

    bodies: int = 0
    characters: int = 0
    impossible: dict[str, int] = field(default_factory=dict)
    first: Mapping[str, Any] | None = None

    @property
    def input_tokens(self) -> int:
        """An estimate."""
        return self.characters // CHARACTERS_PER_TOKEN + self.bodies * USUALLY_ADDED_TOKENS


def _lines(plan: Plan, spec: CandidateSpec, cases: Sequence[Case], *, load: bool) -> Iterator[str]:
    if not spec.remote:
        yield f"{spec.name}: {len(cases):,} items, asked in this process: no request is sent"
        return
    wire = wire_of(spec)
    yield f"{spec.name}: {wire.settings.model} at {wire.settings.host} ({wire.api})"
    if spec.lacks is not None:
        yield f"  cannot be run yet: {spec.lacks}"
    decisions = _volume_of(wire, cases)
    if cases or not load:
        yield f"  requests: {decisions.bodies:,} for {len(cases):,} items{_warm_ups(plan)}"
        yield from _estimate(plan, spec, decisions, without="retries and warm-ups")
    loads = _volume_of(wire, load_grid.all_cases() if load else ())
    if load:
        ticks = f"{load_grid.TICKS} ticks and {load_grid.WARM_UPS} warm-ups with each kind of states"
        yield f"  load test: {loads.bodies:,} requests of {QUESTIONS} questions, in {ticks}"
        yield from _estimate(plan, spec, loads, without="retries")
    first = decisions.first or loads.first
    if first is not None:
        yield "  the first request:"
        yield from (f"    {line}" for line in _request(wire, first))


def _estimate(plan: Plan, spec: CandidateSpec, volume: _Volume, *, without: str) -> Iterator[str]:
    """About how much ``volume`` is, and what it costs ``without`` what may come on top."""
    for reason, number in volume.impossible.items():
        yield f"  cannot be asked: {number:,} items: {reason}"
    if retries := plan.options.network.retries:
        yield f"  attempts: at most {volume.bodies * (1 + retries):,}, with --retries {retries}"
    yield (
        f"  input tokens: about {volume.input_tokens:,}, an estimate: characters of the bodies / "
        f"{CHARACTERS_PER_TOKEN}, and {USUALLY_ADDED_TOKENS} per request for text of the provider"
    )
    yield f"  cost: {_cost(volume, token_prices_of(plan.options, spec), wire_of(spec), without)}"


def _warm_ups(plan: Plan) -> str:
    warm_ups = plan.protocol.warm_ups
    return f", and {warm_ups + 1} to warm up in each process, which are in no figure here" if warm_ups else ""


def _volume_of(wire: Wire, cases: Iterable[Case]) -> _Volume:
    volume = _Volume()
    for case in cases:
        try:
            bodies = wire.bodies(request_of(case))
        except CandidateError as error:
            volume.impossible[str(error)] = volume.impossible.get(str(error), 0) + 1
            continue
        volume.bodies += len(bodies)
        volume.characters += sum(len(canonical_json(body)) for body in bodies)
        volume.first = volume.first or bodies[0]
    return volume


def _cost(volume: _Volume, prices: Prices, wire: Wire, without: str) -> str:
    """An estimate in US dollars by the prices of the report; output at the most that a reply may hold."""
    if prices.input_usd_per_million is None:
        return f"unknown: {unknown_price(wire)}"
    usd = volume.input_tokens * prices.input_usd_per_million / 1e6
    output = ", output not counted" if prices.output_usd_per_million is None else ""
    if prices.output_usd_per_million:
        if wire.most_output_tokens is None:
            return "unknown: output has a price, and nothing bounds how much of it a reply holds"
        usd += volume.bodies * wire.most_output_tokens * prices.output_usd_per_million / 1e6
        output = f", were every reply as long as it may be ({wire.most_output_tokens:,} tokens)"
    return f"about {usd:.6f} USD without {without}{output}; {prices.stated}"


def _request(wire: Wire, body: Mapping[str, Any]) -> Iterator[str]:
    yield f"POST {wire.url}"
    yield from (f"{name}: {value}" for name, value in headers_of(wire).items())
    if wire.settings.key_env is not None:
        name, prefix = wire.key_header
        yield f"{name}: {prefix}***"
    yield ""
    yield from json.dumps(body, indent=2, ensure_ascii=False).split("\n")

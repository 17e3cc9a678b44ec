"""The command line of a run, read into one typed object."""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import pytest

from decibench.bench_tests.network import Network
from decibench.candidates.config import DEFAULT_FILE, SHORTHAND
from decibench.candidates.registry import REGISTRY
from decibench.candidates.remote.prices import read_prices
from decibench.cases.loading import DEFAULT_SUITE
from decibench.gates.rules import RULE_OPTIONS, option_of
from decibench.reports.decision_table import TABLE_FORMATS, TableFormat
from decibench.reports.pages.view import View

_Add: TypeAlias = Callable[..., None]

_HIGHEST_PRICE: Final = 1e6
_PRICE: Final = f"use 0 or more, at most {_HIGHEST_PRICE:.0f}"
_CONCURRENCY: Final = 10
_MAX_TICK_MS: Final = 4000.0
_MOST_RETRIES: Final = 10
_LONGEST_DEADLINE_S: Final = 3600
_NAMING: Final = {
    "--candidates": "a file",
    "--device": "a device",
    "--model-label": "a label",
    "--suite": "a suite",
    "--run-dir": "a directory",
    "--resume": "a run",
    "--gate": "a file",
    "--costs": "a file",
    "--against": "a report",
    "--endpoint": "a base URL",
    "--model": "a model",
    "--key-env": "an environment variable",
    "--prices": "a file",
}
"""Options that name something, and what: an empty one, as of a variable that is not set, must not switch it off."""

_REMOTE: Final = ("--retries", "--deadline", "--rate-limit", "--max-usd", "--prices", "--keep-raw")
"""Options that are of no use without a remote candidate."""

_LOAD: Final = {
    "--concurrency": "it says how many requests are sent at a time there",
    "--max-tick-ms": "it bounds what is measured there",
}
"""Options that are of no use without ``--load``, and why."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user asked for, paths resolved against the directory pytest was called from.

    ``shorthand`` are settings of the one candidate. ``rules`` are the rules of the protocol that were chosen, by name.
    """

    candidates: tuple[str, ...]
    candidates_file: Path | None
    device: str | None
    model_label: str | None
    shorthand: Mapping[str, str]
    suite: str
    splits: tuple[str, ...]
    families: tuple[str, ...]
    variants: tuple[str, ...]
    trials: int
    on_miss: Literal["record", "fail"]
    run_dir: Path | None
    resume: Path | None
    retry_failed: bool
    smoke: bool
    smoke_calls: int
    gate: Path | None
    require_gate: bool
    rules: Mapping[str, Any]
    costs: Path | None
    input_usd_per_million: float | None
    compute_usd_per_hour: float | None
    view: View
    report_formats: tuple[TableFormat, ...]
    against: Path | None
    fail_on_regression: bool
    interleave: bool
    latency: bool
    network: Network
    dry_run: bool
    load: bool
    concurrency: int
    max_tick_ms: float
    home: Path


def add_options(parser: pytest.Parser) -> None:
    """Declare the options of the benchmark."""
    group = parser.getgroup("decibench", "decibench: a benchmark for decision models")
    for declare in (_add_candidates, _add_scope, _add_run, _add_gates, _add_files, _add_timing, _add_network):
        declare(group.addoption)


def _add_candidates(add: _Add) -> None:
    add(
        "--candidate",
        action="append",
        default=[],
        metavar="NAME",
        help="name in the candidates file, shipped one, or path/to/file.py; repeatable (default: baseline)",
    )
    add("--candidates", metavar="FILE", help="candidates file (default: decibench.toml where present)")
    add("--device", metavar="DEVICE", help="cpu, cuda, cuda:N or mps (default: cpu)")
    add("--model-label", metavar="NAME", help="name of the one candidate in ids and folders")
    remote = ", ".join(name for name, entry in REGISTRY.items() if entry.remote)
    add("--endpoint", metavar="URL", help=f"base URL of the one candidate, if that is {remote}")
    add("--model", metavar="MODEL", help="model of the one candidate, if that takes --endpoint, or is sparrow")
    help_ = "environment variable with the key of the one candidate, if that takes --endpoint: its NAME, never the key"
    add("--key-env", metavar="NAME", help=help_)


def _add_scope(add: _Add) -> None:
    add("--suite", default=DEFAULT_SUITE, metavar="SUITE", help=f"name or directory (default: {DEFAULT_SUITE})")
    add("--split", action="append", default=[], metavar="SPLIT", help="only this split; repeatable")
    add("--family", action="append", default=[], metavar="FAMILY", help="only this family; repeatable")
    add("--variant", action="append", default=[], metavar="VARIANT", help="only this variant; repeatable")
    add("--trials", type=int, default=1, metavar="N", help="ask every case N times, 1 to 10 (default: 1)")
    add("--smoke", action="store_true", help="a few development cases per family; never gated")
    add("--smoke-calls", type=int, default=5, metavar="N", help="calls per family with --smoke (default: 5)")


def _add_run(add: _Add) -> None:
    add(
        "--on-miss",
        choices=("record", "fail"),
        default="record",
        help="a wrong answer is recorded, or fails its item and is drawn (default: record)",
    )
    add("--run-dir", metavar="DIR", help="write to exactly DIR (default: runs/<time>-<candidates>)")
    add("--resume", metavar="RUN", help="go on with the run in directory RUN; nothing finished is asked again")
    add("--retry-failed", action="store_true", help="with --resume: ask failed records again, and say so")
    add("--interleave", action="store_true", help="ask a case of every candidate before the next case")
    add("--dry-run", action="store_true", help="ask nothing: print how many requests, about how much, and one of them")


def _add_gates(add: _Add) -> None:
    add("--gate", metavar="FILE", help="require this gate on the holdout instead of fitting one")
    add("--require-gate", action="store_true", help="exit 10 where the primary gate is null: nothing may be acted on")
    for rule, settings in RULE_OPTIONS.items():
        add(option_of(rule), **settings)
    add("--costs", metavar="FILE", help="TOML: costs wrong, unsafe, fallback, and [families.NAME] with the same three")
    add("--against", metavar="REPORT", help="compare decision by decision with this report, or run of reports")
    add("--fail-on-regression", action="store_true", help="with --against: exit 10 where a decision got worse or moved")


def _add_files(add: _Add) -> None:
    add("--no-states", action="store_true", help="leave every text of the cases out of the pages")
    add("--aggregate-only", action="store_true", help="leave single decisions out of pages and summaries too")
    add(
        "--report-format",
        action="append",
        default=[],
        choices=TABLE_FORMATS,
        help="also write the decisions as a table; parquet needs decibench[parquet]; repeatable",
    )
    add("--input-usd-per-million", type=float, metavar="X", help="price of a million input tokens")
    add("--compute-usd-per-hour", type=float, metavar="X", help="price of the machine per hour of requests")


def _add_timing(add: _Add) -> None:
    add("--latency", action="store_true", help="also run test_latency.py: requests of many shapes, timed; serial only")
    add("--load", action="store_true", help="also run test_load.py: many questions at once; serial, remote only")
    help_ = f"with --load: requests at a time (default: {_CONCURRENCY})"
    add("--concurrency", type=int, metavar="K", help=help_)
    help_ = f"with --load: exit 10 where 1,000 decisions take longer, or one of them fails (default: {_MAX_TICK_MS:g})"
    add("--max-tick-ms", type=float, metavar="MS", help=help_)


def _add_network(add: _Add) -> None:
    add("--retries", type=int, default=0, metavar="N", help="repeat a request that may be answered later (default: 0)")
    add("--deadline", type=float, metavar="S", help="seconds for each attempt of a remote candidate (default: 30)")
    add("--rate-limit", type=float, metavar="N", help="requests per minute to each remote candidate, over all workers")
    add(
        "--max-usd",
        type=float,
        metavar="X",
        help="stop before remote candidates cost more in this session, all workers together; earlier ones of a resumed "
        "run are not counted",
    )
    add("--prices", metavar="FILE", help="TOML table of prices, which goes before the shipped one")
    add("--keep-raw", action="store_true", help="keep the text of replies, for python -m decibench.reports reparse")


def read_options(config: pytest.Config) -> Options:
    """Read and check what can be checked without a suite; UsageError where it does not fit together.

    One line per option makes it long.
    """
    get = config.getoption
    home = config.invocation_params.dir

    def path(name: str) -> Path | None:
        value = get(name)
        return None if value is None else home / str(value)

    for name, what in _NAMING.items():
        if get(name) == "":
            raise pytest.UsageError(f"{name}: is empty; name {what} or leave it out")
    if not get("--load"):
        _check((get(name) is not None, f"{name} goes with --load: {why}") for name, why in _LOAD.items())
    default_file = home / DEFAULT_FILE
    options = Options(
        candidates=tuple(get("--candidate")),
        candidates_file=path("--candidates") or (default_file if os.path.lexists(default_file) else None),
        device=get("--device"),
        model_label=get("--model-label"),
        shorthand={name: value for name in SHORTHAND if (value := get(option_of(name))) is not None},
        suite=str(get("--suite")),
        splits=tuple(get("--split")),
        families=tuple(get("--family")),
        variants=tuple(get("--variant")),
        trials=cast(int, get("--trials")),
        on_miss=cast(Literal["record", "fail"], get("--on-miss")),
        run_dir=path("--run-dir"),
        resume=path("--resume"),
        retry_failed=bool(get("--retry-failed")),
        smoke=bool(get("--smoke")),
        smoke_calls=cast(int, get("--smoke-calls")),
        gate=path("--gate"),
        require_gate=bool(get("--require-gate")),
        rules={rule: value for rule in RULE_OPTIONS if (value := get(option_of(rule))) is not None},
        costs=path("--costs"),
        input_usd_per_million=get("--input-usd-per-million"),
        compute_usd_per_hour=get("--compute-usd-per-hour"),
        view="aggregate-only" if get("--aggregate-only") else "no-states" if get("--no-states") else "full",
        report_formats=tuple(dict.fromkeys(get("--report-format"))),
        against=path("--against"),
        fail_on_regression=bool(get("--fail-on-regression")),
        interleave=bool(get("--interleave")),
        latency=bool(get("--latency")),
        network=Network(
            retries=cast(int, get("--retries")),
            deadline_s=get("--deadline"),
            rate_limit=get("--rate-limit"),
            max_usd=get("--max-usd"),
            prices=read_prices(path("--prices")),
            keep_raw=bool(get("--keep-raw")),
            given=tuple(name for name in _REMOTE if get(name)),
        ),
        dry_run=bool(get("--dry-run")),
        load=bool(get("--load")),
        concurrency=_CONCURRENCY if get("--concurrency") is None else cast(int, get("--concurrency")),
        max_tick_ms=_MAX_TICK_MS if get("--max-tick-ms") is None else cast(float, get("--max-tick-ms")),
        home=home,
    )
    _check(_together(options))
    _check(_remote(options))
    return options


def _check(rules: Iterable[tuple[bool, str]]) -> None:
    """Raise UsageError for the first rule that is broken."""
    for wrong, message in rules:
        if wrong:
            raise pytest.UsageError(message)


def _together(options: Options) -> Iterable[tuple[bool, str]]:
    """What is wrong by itself, or does not fit together, each with the sentence that says so."""
    return (
        (not 1 <= options.trials <= 10, f"--trials {options.trials}: use 1 to 10"),
        (options.smoke_calls < 1, f"--smoke-calls {options.smoke_calls}: use at least 1"),
        (options.run_dir is not None and options.resume is not None, "--run-dir and --resume exclude each other"),
        (options.retry_failed and options.resume is None, "--retry-failed goes with --resume RUN"),
        (_no_price(options.input_usd_per_million), f"--input-usd-per-million: {_PRICE}"),
        (_no_price(options.compute_usd_per_hour), f"--compute-usd-per-hour: {_PRICE}"),
        (
            options.gate is not None and bool(options.rules or options.costs),
            f"--gate brings its own limits: leave {' and '.join(_chosen(options))} out",
        ),
        (
            options.fail_on_regression and options.against is None,
            "--fail-on-regression goes with --against REPORT: name what to compare with",
        ),
        (
            options.view == "aggregate-only" and bool(options.report_formats),
            "--aggregate-only leaves single decisions out, and --report-format writes a table of them: leave one out",
        ),
        (
            options.view != "full" and options.on_miss == "fail",
            f"--on-miss fail prints the case of every miss, which --{options.view} leaves out: leave one out",
        ),
        (
            "parquet" in options.report_formats and importlib.util.find_spec("pyarrow") is None,
            "--report-format parquet needs pyarrow: pip install 'decibench[parquet]'",
        ),
    )


def _remote(options: Options) -> Iterable[tuple[bool, str]]:
    """The same of options about remote candidates and about what is asked of them."""
    network = options.network
    return (
        (not 0 <= network.retries <= _MOST_RETRIES, f"--retries {network.retries}: use 0 to {_MOST_RETRIES}"),
        (
            network.deadline_s is not None and not 0 < network.deadline_s <= _LONGEST_DEADLINE_S,
            f"--deadline: use seconds above 0, at most {_LONGEST_DEADLINE_S}",
        ),
        (not _is_amount(network.rate_limit), "--rate-limit: use requests per minute above 0"),
        (not _is_amount(network.max_usd), "--max-usd: use US dollars above 0"),
        (
            not _is_amount(options.max_tick_ms),
            f"--max-tick-ms {options.max_tick_ms:g}: use a number of milliseconds above 0",
        ),
        (
            options.dry_run and options.latency,
            "--dry-run counts no requests of test_latency.py: leave --latency out",
        ),
        (
            options.dry_run and options.resume is not None,
            "--dry-run counts the requests of a whole run: leave --resume out",
        ),
        (
            options.dry_run and options.view != "full",
            f"--dry-run prints a request, which holds what --{options.view} leaves out: leave one out",
        ),
    )


def _is_amount(value: float | None) -> bool:
    return value is None or (value > 0 and math.isfinite(value))


def _chosen(options: Options) -> list[str]:
    return [*map(option_of, options.rules), *(["--costs"] if options.costs else [])]


def _no_price(value: float | None) -> bool:
    return value is not None and not 0 <= value <= _HIGHEST_PRICE

"""What a run cannot be combined with on the command line of pytest and of its other plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from decibench.bench_tests.latency_grid import is_grid
from decibench.bench_tests.load_grid import is_load
from decibench.bench_tests.plan import Plan
from decibench.bench_tests.pricing import wire_of
from decibench.candidates.adapter import CandidateError
from decibench.candidates.config import CandidateSpec
from decibench.cases.door import UsageError
from decibench.cases.load import QUESTIONS, REQUESTS, load_case
from decibench.cases.request import request_of


def check_command_line(config: pytest.Config, plan: Plan) -> None:
    """Raise UsageError where ``plan`` cannot be run the way ``config`` asks for."""
    workers = len(config.getoption("tx", default=None) or [])
    parallel = bool(workers) or config.getoption("dist", default="no") != "no"
    devices = [spec.device for spec in plan.specs if spec.device != "cpu"]
    if workers and devices:
        raise UsageError(
            f"--device {devices[0]} with -n {workers} would load {workers} copies of the model there: run without -n"
        )
    if plan.options.interleave and parallel:
        raise UsageError("--interleave asks one candidate after the other, and -n asks side by side: leave one out")
    if plan.options.latency:
        _check_latency(config, parallel)
    elif named := next(_naming(config, "test_latency", is_grid), None):
        raise UsageError(f"{named}: requests are timed only where that is asked for; add --latency")
    if plan.options.load:
        _check_load(plan, parallel)
    elif named := next(_naming(config, "test_load", is_load), None):
        raise UsageError(f"{named}: requests are sent at once only where that is asked for; add --load")


def _check_latency(config: pytest.Config, parallel: bool) -> None:
    if parallel:
        raise UsageError("--latency with -n would time requests that compete for the machine: run without -n")
    disabled = config.getoption("benchmark_disable", default=None)
    if disabled is None:
        raise UsageError("--latency times with pytest-benchmark, which is not loaded: leave -p no:benchmark out")
    if disabled and not config.getoption("benchmark_enable"):
        raise UsageError("--latency times with pytest-benchmark: leave --benchmark-disable out")
    if config.getoption("benchmark_skip") and not config.getoption("benchmark_only"):
        raise UsageError("--latency times with pytest-benchmark: leave --benchmark-skip out")


def _check_load(plan: Plan, parallel: bool) -> None:
    options, local = plan.options, [spec.name for spec in plan.specs if not spec.remote]
    if parallel:
        raise UsageError("--load with -n would send ticks from several processes at once: run without -n")
    if local:
        what = f"{', '.join(local)} answers in this process, one request after the other"
        raise UsageError(f"--load sends requests to a server at once, and {what}: leave it, or --load, out")
    for spec in plan.specs:
        _check_one_body(spec)
    if options.network.rate_limit is not None:
        raise UsageError("--rate-limit holds requests back, and --load would time that: leave one out")
    if not 1 <= options.concurrency <= REQUESTS:
        raise UsageError(f"--concurrency {options.concurrency}: a tick has {REQUESTS} requests; use 1 to {REQUESTS}")


def _check_one_body(spec: CandidateSpec) -> None:
    """A request of the load test is one body: else a tick would be a thousand requests, most one after the other."""
    try:
        bodies = len(wire_of(spec).bodies(request_of(load_case(0))))
    except CandidateError as error:
        raise UsageError(f"--load: {spec.name} cannot ask {QUESTIONS} questions at once: {error.detail}") from error
    if bodies > 1:
        raise UsageError(
            f"--load asks {QUESTIONS} questions at once, and {spec.name} asks each in a request of its own: leave it, "
            "or --load, out"
        )


def _naming(config: pytest.Config, module: str, is_file: Callable[[Path], bool]) -> Iterator[str]:
    """The arguments that name a file of ours or a node in it, as a path or with ``--pyargs`` as a module."""
    for argument in config.args:
        name = argument.partition("::")[0]
        if config.option.pyargs and not name.endswith(".py"):
            # The parent of a module has to be imported to find it; that of ours is this package.
            found = name == f"{__package__}.{module}"
        else:
            found = is_file(config.invocation_params.dir / name)
        if found:
            yield argument

"""What a run cannot be combined with on the command line of pytest and of its other plugins."""

from __future__ import annotations

import pytest

from decibench.bench_tests.latency_grid import is_grid
from decibench.bench_tests.plan import Plan
from decibench.cases.door import UsageError


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
    elif named := next((argument for argument in config.args if _names_grid(config, argument)), None):
        raise UsageError(f"{named}: requests are timed only where that is asked for; add --latency")


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


def _names_grid(config: pytest.Config, argument: str) -> bool:
    """Whether ``argument`` is the file of the grid or a node in it, as a path or with ``--pyargs`` as a module."""
    name = argument.partition("::")[0]
    if config.option.pyargs and not name.endswith(".py"):
        # The parent of a module has to be imported to find it; that of the grid is this package.
        return name == f"{__package__}.test_latency"
    return is_grid(config.invocation_params.dir / name)

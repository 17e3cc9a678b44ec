"""The pytest plugin: thin hooks over the plan, the pool, the recorder and the reports.

Loaded by the root conftest in a checkout and by ``-p decibench.bench_tests.plugin`` elsewhere. It is no pytest11
entry point, because option names like ``--device`` would get in the way of other people's sessions.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from decibench.bench_tests import latency_grid, load_grid
from decibench.bench_tests.blessed import read_blessed
from decibench.bench_tests.dry_run import DryRun
from decibench.bench_tests.load_report import LOAD_PLUGIN, LoadReports
from decibench.bench_tests.options import add_options, read_options
from decibench.bench_tests.plan import Plan, make_plan
from decibench.bench_tests.pool import Pool
from decibench.bench_tests.recorder import ATTRIBUTE, Recorder, choose_run_dir
from decibench.bench_tests.refusals import check_command_line
from decibench.bench_tests.session import Controller
from decibench.cases.door import UsageError
from decibench.cases.errors import SuiteError
from decibench.reports.record import check_exact

PLAN: Final = pytest.StashKey[Plan]()
COLLECTS: Final = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Check everything that can be wrong before collection: the one place where that is exit 4 everywhere."""
    # What is built until the collection is done lives to the end: a collector would only walk over it, again and
    # again, which costs as much as reading the cases does.
    config.stash[COLLECTS] = gc.isenabled()
    gc.disable()
    try:
        plan = config.stash[PLAN] = make_plan(read_options(config))
        if not hasattr(config, "workerinput"):
            check_command_line(config, plan)
            _control(config, plan)
    except (SuiteError, UsageError, pytest.UsageError) as error:
        _collect_again(config)
        raise pytest.UsageError(str(error)) from error


def _control(config: pytest.Config, plan: Plan) -> None:
    """Register what the one process does that writes, or that only tells what a run would ask."""
    register = config.pluginmanager.register
    run_dir, blessed = choose_run_dir(plan), read_blessed(plan)
    if plan.options.dry_run:
        register(DryRun(config, plan), "decibench-dry-run")
        return
    recorder = Recorder(plan, run_dir)
    if plan.options.load:
        # Before the controller: it sets the exit status of the session, and a load test that failed adds to that.
        register(LoadReports(config, recorder), LOAD_PLUGIN)
    register(Controller(config, recorder, blessed), "decibench-controller")
    if plan.options.network.max_usd is not None and hasattr(config.option, "maxworkerrestart"):
        # What a worker that died had spent is not known, and its successor would have a share of the money anew.
        config.option.maxworkerrestart = "0"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the latency grid out without ``--latency``, and the load test without ``--load``."""
    options = config.stash[PLAN].options
    left_out = (latency_grid.is_grid(collection_path) and not options.latency) or (
        load_grid.is_load(collection_path) and not options.load
    )
    return True if left_out else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item per candidate, case and trial; per candidate and shape in the latency grid; per candidate under load."""
    plan = metafunc.config.stash[PLAN]
    if "decision" in metafunc.fixturenames:
        metafunc.parametrize("decision", [pytest.param(item, id=item.id) for item in plan.items])
        return
    for grid, is_file in ((latency_grid, latency_grid.is_grid), (load_grid, load_grid.is_load)):
        if is_file(metafunc.definition.path):
            metafunc.parametrize(grid.NAMES, [pytest.param(*cell, id=id_) for id_, cell in grid.cells(plan)])


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Let the collector work again, on what comes from now on."""
    if any("decision" in getattr(item, "fixturenames", ()) for item in session.items):
        gc.freeze()
    _collect_again(session.config)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Leave the collector as it was, also where nothing was collected."""
    gc.unfreeze()
    _collect_again(session.config)


def _collect_again(config: pytest.Config) -> None:
    if config.stash[COLLECTS]:
        gc.enable()


@pytest.fixture(scope="session")
def candidates(request: pytest.FixtureRequest) -> Iterator[Pool]:
    """The candidates of the run, each built once per session (per worker under xdist)."""
    config = request.config
    worker = getattr(config, "workerinput", {"workerid": "main", "workercount": 1})
    plan = config.stash[PLAN]
    pool = Pool(plan, worker["workerid"], worker["workercount"], plan.options.resume)
    yield pool
    if failures := pool.close():
        pytest.fail("; ".join(failures), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Put what an item measured on its call report, as exact JSON types: that reaches the controller once."""
    report = yield
    if call.when != "call":
        return report
    # A fixture that hands an item its own node would cost as much as the whole measurement.
    pool = getattr(item, "funcargs", {}).get("candidates")
    if isinstance(pool, Pool) and (outcome := pool.take_outcome()) is not None:
        record = outcome.record
        content: dict[str, Any] = {
            "record": record.model_dump_json(),
            "raw": list(outcome.raw),
            "load": None if outcome.load is None else dict(outcome.load),
            "outcome": "unasked" if outcome.unasked else record.outcome,
            "resumed": outcome.resumed,
            "unasked": outcome.unasked,
            "fatal": record.fatal.detail if record.fatal and not outcome.resumed else None,
        }
        check_exact(content)
        setattr(report, ATTRIBUTE, content)
    return report

"""Many questions at once, asked of every remote candidate and timed; collected only with ``--load``."""

from __future__ import annotations

import pytest

from decibench.bench_tests.latency_grid import CannotGoOn
from decibench.bench_tests.load_cache import CacheReader
from decibench.bench_tests.load_grid import Load, failed_sentence
from decibench.bench_tests.load_report import LOAD_PLUGIN, LoadReports, load_report
from decibench.bench_tests.pool import Pool
from decibench.bench_tests.pricing import token_prices_of
from decibench.candidates.remote.settings import RemoteSettings
from decibench.reports.record import Failure


def test_load(candidate: str, candidates: Pool, request: pytest.FixtureRequest) -> None:
    """Time ticks of 1,000 decisions. Failed ones count like any other, and fail the item when all is measured."""
    snapshot = candidates.load(candidate)
    if isinstance(snapshot, Failure):
        pytest.fail(f"{candidate} could not be built: {snapshot.code}: {snapshot.detail}", pytrace=False)
    plan = candidates.plan
    spec = plan.spec(candidate)
    assert isinstance(spec.settings, RemoteSettings)
    prices = token_prices_of(plan.options, spec)
    load = Load(candidates, candidate, plan.options.concurrency, CacheReader(spec.settings), prices)
    try:
        arms = load.run()
    except CannotGoOn as error:
        request.session.shouldstop = f"{candidate} cannot go on: {error.failure.detail}"
        pytest.fail(f"{error.failure.code}: {error.failure.detail}", pytrace=False)
    report = load_report(candidate, spec.settings, snapshot, plan.options, arms)
    reports = request.config.pluginmanager.get_plugin(LOAD_PLUGIN)
    assert isinstance(reports, LoadReports)
    try:
        reports.keep(report)
    except OSError as error:
        pytest.fail(f"{error.filename}: cannot be written ({error.strerror}); remedy it, and run again", pytrace=False)
    if report.failed_decisions:
        pytest.fail(failed_sentence(report), pytrace=False)
